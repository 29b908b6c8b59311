"""A question that only some are shown, among those who were: surer than from the table alone, and as sure as it says."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.benchmarks import benchmark

from deniable.errors import EstimateError
from deniable.estimate import Sample, analyse, crosstab
from deniable.estimate.moments import pseudo_answers, structural_zeros
from deniable.estimate.tables import conditional_share, cramers_v, independence
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.tally import Tally

BENCH = benchmark("shown")
SURVEY = Survey.from_text("""
deniable: 1
id: s
title: T
about: A
epsilon: ln 9
questions:
  - {id: used, text: Q, type: yes_no}
  - {id: often, text: Q, type: choice, options: [daily, rarely], show_if: {question: used, is: [yes]}}
""")


def expected(cells: object, n: int = 200_000) -> Tally:
    """The reports that people with these joint shares give on average."""
    table = np.array(cells, dtype=np.float64)
    for axis, item in enumerate(SURVEY.items):
        phi, theta = float(item.channel.phi), float(item.channel.theta)
        chances = np.full((item.k, item.k), phi) + np.eye(item.k) * (theta - phi)
        table = np.moveaxis(np.tensordot(chances, table, axes=(1, axis)), 0, axis)
    counted = np.rint(n * table).astype(np.int64)
    yes, daily, rarely = counted[0].sum(), counted[:, 0].sum(), counted[:, 1].sum()
    pairs = [[yes, counted[0, 0], counted[0, 1]], [counted[0, 0], daily, 0], [counted[0, 1], 0, rarely]]
    return Tally(int(counted.sum()), np.array(pairs))


SKIP = [[0.09, 0.135, 0.025], [0.0, 0.0, 0.75]]
ALL_ANSWER = [[0.1, 0.15, 0.0], [0.0, 0.0, 0.75]]


def test_figures_are_those_of_the_people_who_were_shown_it() -> None:
    found = analyse(SURVEY, expected(SKIP)).among_shown("often")
    assert (found.options, found.after.options) == (("daily", "rarely", "no answer"), ("yes",))
    assert found.part.estimate == pytest.approx(0.25, abs=1e-4)
    assert [one.estimate for one in found.shares if one] == pytest.approx([0.36, 0.54, 0.1], abs=1e-3)
    assert [one and one.estimate for one in found.answered] == [pytest.approx(0.4, abs=1e-3), pytest.approx(0.6, abs=1e-3), None]
    assert found.to_table().splitlines()[0].startswith("often, shown to 25.0% (24.")
    assert found.to_frame()["among"].tolist() == ["shown"] * 3 + ["answered"] * 2


def test_that_all_answered_is_taken_only_where_it_may_be_so() -> None:
    found = analyse(SURVEY, expected(ALL_ANSWER)).among_shown("often", complete=True)
    assert found.part.estimate == pytest.approx(0.25, abs=1e-4)
    assert found.part.std_error < 0.85 * analyse(SURVEY, expected(ALL_ANSWER)).among_shown("often").part.std_error
    with pytest.raises(EstimateError, match="not everybody answered often who was shown it"):
        analyse(SURVEY, expected(SKIP)).among_shown("often", complete=True)


def test_in_the_table_what_cannot_be_is_0_and_the_cells_add_to_1() -> None:
    table = crosstab(SURVEY, expected(SKIP, 2000), "used", "often")
    assert table.shares[1, :2].tolist() == table.std_error[1, :2].tolist() == table.high[1, :2].tolist() == [0.0, 0.0]
    assert table.shares.sum() == pytest.approx(1)
    assert crosstab(SURVEY, expected(SKIP, 2000), "often", "used").shares == pytest.approx(table.shares.T)
    respondents = crosstab(SURVEY, expected(SKIP, 2000), "used", "often", target="respondents")
    assert respondents.std_error[1, 0] > 0  # of the respondents alone nothing is taken off


def test_what_is_known_by_design_is_no_estimate() -> None:
    table = crosstab(SURVEY, expected(SKIP), "used", "often")
    for ask in (
        lambda: table.share({"used": "no", "often": "daily"}),
        lambda: conditional_share(table, {"often": "no answer"}, {"used": "no"}),
        lambda: conditional_share(table, {"used": "yes"}, {"often": "daily"}),
    ):
        with pytest.raises(EstimateError, match="cannot be estimated"):
            ask()
    for figure in (independence, cramers_v):
        with pytest.raises(EstimateError, match="go together by design"):
            figure(table)


@pytest.mark.parametrize("question", ["used", "nothing"])
def test_a_question_that_everybody_is_shown_is_refused(question: str) -> None:
    with pytest.raises(EstimateError, match=question):
        analyse(SURVEY, expected(SKIP)).among_shown(question)


@pytest.mark.slow
def test_it_is_worth_more_people_and_covers_as_it_says() -> None:
    """A slice of benchmarks/shown.py; fixed seed. 150 surveys: 95% is known to 1.8%, a standard deviation to 7%."""
    said_yes, of_shown, of_answered = BENCH.measured(BENCH.Case(BENCH.LN3, 2000, complete=True), 150, seed=2)
    for plain, found, bias, covers in (said_yes, of_shown, of_answered):
        assert found < plain
        assert abs(bias) < 0.25 * found
        assert 0.91 <= covers <= 0.99
    assert said_yes[1] == pytest.approx(0.0178, rel=0.2)
    assert of_shown[1] == pytest.approx(0.068, rel=0.25)


def test_zeros_without_taking_off_their_noise_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: impossible cells are blanked, and nothing else changes; the rest no longer adds to 1, and is no surer."""
    channels, zeros = [item.channel for item in SURVEY.items], structural_zeros.impossible(SURVEY, "used", "often")
    noisy = np.array(SKIP) + np.array([[0.02, -0.01, 0.0], [-0.03, 0.01, 0.01]])
    right, blanked = structural_zeros.removal(noisy, channels, zeros), np.diag(np.where(zeros.ravel(), 0.0, 1.0))
    plain = pseudo_answers.covariance(np.array(SKIP), channels, 1.0)
    assert (right @ noisy.ravel()).sum() == pytest.approx(1)
    assert (blanked @ noisy.ravel()).sum() != pytest.approx(1, abs=1e-3)
    assert (right @ plain @ right.T)[0, 0] < 0.9 * (blanked @ plain @ blanked.T)[0, 0]


def test_in_a_sample_impossible_pairs_are_0_too_and_take_noise_off() -> None:
    survey = Survey.from_dict({**SURVEY.to_dict(), "groups": ["North", "South", "West"]})
    tallies = {group: expected(cells, 2000) for group, cells in zip(survey.groups, (SKIP, ALL_ANSWER, SKIP), strict=True)}
    alone, drawn = analyse(survey, tallies), analyse(survey, tallies, sample=Sample())
    assert drawn.crosstab("used", "often").shares == pytest.approx(alone.crosstab("used", "often").shares, abs=1e-6)
    one, other = (analysis.among_shown("often").shares[0] for analysis in (alone, drawn))
    assert one is not None
    assert other is not None
    assert (other.estimate, other.std_error) == (pytest.approx(one.estimate, abs=1e-6), pytest.approx(one.std_error, rel=1e-3))
    clusters = analyse(survey, tallies, sample=Sample(clusters="group")).among_shown("often")
    assert clusters.part.estimate == pytest.approx(0.25, abs=1e-3)


def test_after_a_sum_it_is_refused() -> None:
    scale = {"text": "?", "type": "scale", "options": ["no", "some", "much"], "scores": [0, 1, 2]}
    asked = [
        {**scale, "id": "p1"},
        {**scale, "id": "p2"},
        {"id": "why", "text": "?", "type": "yes_no", "show_if": {"score": ["p1"], "at_least": 2}},
    ]
    survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 6, "questions": asked})
    truth = {"p1": [0.5, 0.2, 0.3], "p2": [0.5, 0.2, 0.3], "why": [0.5, 0.5, 0.0]}
    simulated = simulate(survey, truth, 2000)
    hidden = simulated.answers["p1"] != "much"
    assert simulated.truth.query("question == 'why' and option == 'no answer'")["share"].item() == pytest.approx(hidden.mean())
    with pytest.raises(EstimateError, match="question why must be one that is shown only after answers to one other question"):
        analyse(survey, simulated.reports).among_shown("why")
