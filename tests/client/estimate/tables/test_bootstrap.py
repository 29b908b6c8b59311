"""Surveys drawn as a hypothesis says: by how many reports there are of each kind, or report after report, they are the same ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.estimate import crosstab
from deniable.estimate.limits.interval import Interval
from deniable.estimate.tables import bootstrap
from deniable.estimate.tables.association import _statistic
from deniable.estimate.tables.homogeneity import GroupCounts, _distance
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.wire.tally import Tally

MARGINS = [np.array([0.4, 0.3, 0.15, 0.1, 0.05]), np.array([0.7, 0.2, 0.1])]
N = 30


def channels(epsilon: float) -> list[Channel]:
    return [Channel.for_epsilon(epsilon, len(margin)) for margin in MARGINS]


def drawn(by_kinds: bool, monkeypatch: pytest.MonkeyPatch) -> list[NDArray[np.float64]]:
    """Counts of two groups and of a table, survey by survey, shape (DRAWS, bits)."""
    monkeypatch.setattr(bootstrap, "few_kinds", lambda _: by_kinds)
    monkeypatch.setattr(bootstrap, "_AT_A_TIME", 2_500)
    wide, rng = channels(0.5), np.random.default_rng(5)
    assert [channel.d for channel in wide] == [2, 1]
    pairs = list(bootstrap.groups(MARGINS[0], wide[0], [N, 2 * N], rng))
    tables = list(bootstrap.tables(MARGINS, wide, N, rng))
    assert len(pairs) > 2 < len(tables)
    found = [*(np.concatenate(group) for group in zip(*pairs, strict=True)), np.concatenate(tables).reshape(bootstrap.DRAWS, -1)]
    return [one.astype(np.float64) for one in found]


def test_surveys_by_kinds_of_reports_and_report_by_report_have_the_same_means_and_covariances(monkeypatch: pytest.MonkeyPatch) -> None:
    for one, other in zip(drawn(True, monkeypatch), drawn(False, monkeypatch), strict=True):
        errors = np.sqrt(2 * one.var(axis=0) / len(one))
        assert np.abs(one.mean(axis=0) - other.mean(axis=0)).max() < 4.5 * errors.max()
        scale = np.sqrt(np.outer(one.var(axis=0), one.var(axis=0)))
        assert (np.abs(np.cov(one.T) - np.cov(other.T)) / scale).max() < 4.5 * np.sqrt(2 / len(one)) * np.sqrt(2)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_kinds_of_reports_name_each_category_as_often_as_its_channel_does(epsilon: float) -> None:
    """Exactly: by theta where it is the answer, and by ((d - 1) theta + d (1 - theta)) / (k - 1) where it is not."""
    for shares, channel in zip(MARGINS, channels(epsilon), strict=True):
        theta = float(channel.theta)
        other = ((channel.d - 1) * theta + channel.d * (1 - theta)) / (channel.k - 1)
        bits, chances = bootstrap._kinds(shares, channel)
        assert chances @ bits == pytest.approx(shares * theta + (1 - shares) * other, rel=1e-12)


def test_each_survey_has_so_many_reports_and_all_draws_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    for by_kinds in (True, False):
        one, other, table = drawn(by_kinds, monkeypatch)
        assert {len(one), len(other), len(table)} == {bootstrap.DRAWS}
        assert ({*one.sum(axis=1)}, {*other.sum(axis=1)}, {*table.sum(axis=1)}) == ({2 * N}, {4 * N}, {2 * N})


def test_statistics_of_many_surveys_at_once_are_those_of_each_alone() -> None:
    survey = Survey.from_dict(
        {"deniable": 1, "id": "s", "title": "T", "about": "A", "questions": [
            {"id": name, "type": "choice", "text": "?", "epsilon": 0.5, "options": [f"o{i}" for i in range(len(margin))]}
            for name, margin in zip("ab", MARGINS, strict=True)
        ]}
    )  # fmt: skip
    few, rng = channels(0.5), bootstrap.generator()
    tables = next(bootstrap.tables(MARGINS, few, N, rng))[:40]
    tables[0, :, 0] = 0  # an option that nobody names
    bits = tables[1]
    alone = [bits.sum(axis=axis) // channel.d for axis, channel in zip((1, 0), reversed(few), strict=True)]
    within = [np.minimum.outer(ones, ones) for ones in alone]
    pairs = np.block([[within[0], bits], [bits.T, within[1]]])
    stored = np.array([0, 1, 2, 3, 5, 6])  # all bits of a question but the last
    table = crosstab(survey, Tally(N, pairs[np.ix_(stored, stored)]), "a", "b")
    at_once = _statistic(tables, table)
    assert at_once == pytest.approx([float(_statistic(one, table)) for one in tables])
    groups = [
        GroupCounts(n, np.zeros(5, dtype=np.int64), Interval(target=target)) for n, target in ((N, "population"), (2 * N, "respondents"))
    ]
    both = next(bootstrap.groups(MARGINS[0], few[0], [group.n for group in groups], rng))
    apart = [float(_distance(pair, groups, few[0])) for pair in zip(*both, strict=True)]
    assert _distance(both, groups, few[0]) == pytest.approx(apart)
    assert len({*apart}) > 500
