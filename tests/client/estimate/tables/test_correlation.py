"""Correlations of perturbed scores: those of the true answers, and how often their intervals hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate import analyse
from deniable.estimate.limits.interval import Interval
from deniable.estimate.tables import correlation, phi_coefficient
from deniable.estimate.tables.correlation import correlation_with
from deniable.estimate.tables.crosstab import Axis, _table
from deniable.survey import Survey

SCALE = {"type": "scale", "options": ["1", "2", "3", "4", "5"]}


def survey_of(epsilon: float, **extra: Any) -> Survey:
    questions = [
        {"id": "mood", "text": "?", **SCALE, "epsilon": epsilon},
        {"id": "sleep", "text": "?", **SCALE, "epsilon": epsilon, **extra},
        {"id": "smokes", "text": "?", "type": "yes_no", "epsilon": epsilon},
        {"id": "party", "text": "?", "type": "choice", "options": ["a", "b", "c"], "epsilon": epsilon},
        {"id": "hours", "text": "?", "type": "number", "low": 0, "high": 10, "levels": 3, "epsilon": epsilon},
        {"id": "income", "text": "?", "type": "number", "low": 0, "high": 10, "epsilon": epsilon},
    ]
    head = {"deniable": 1, "id": "s", "title": "T", "about": "A test.", "accept_high_epsilon": True}
    return Survey.from_dict({**head, "questions": questions})


def answers_of(n: int, rng: np.random.Generator) -> dict[str, Any]:
    common = rng.normal(size=n)
    mood, sleep = (np.clip(np.rint(2 + 0.8 * common + rng.normal(size=n)), 0, 4).astype(int) for _ in range(2))
    return {"mood": mood, "sleep": sleep, "smokes": (common + rng.normal(size=n) > 0.5).astype(int), "age": 40 + 12 * common.round(2)}


def bits_of(survey: Survey, answers: dict[str, Any], rng: np.random.Generator) -> Any:
    n = len(answers["mood"])
    parts = [
        randomize(q.channel, answers.get(q.id, np.zeros(n, dtype=np.int64)), lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32))
        for q in survey.questions
    ]
    return np.hstack([part[:, :-1] for part in parts])


PLAIN = survey_of(2.0)


SHARES = np.array(
    [
        [0.08, 0.05, 0.03, 0.01, 0.0],
        [0.05, 0.1, 0.06, 0.03, 0.01],
        [0.03, 0.07, 0.1, 0.06, 0.02],
        [0.01, 0.03, 0.06, 0.06, 0.03],
        [0.0, 0.01, 0.02, 0.04, 0.04],
    ]
)
LEVELS = np.arange(1.0, 6.0)


def pearson(shares: Any) -> float:
    x, y = (shares.sum(axis=axis) for axis in (1, 0))
    deviations = [LEVELS - LEVELS @ part for part in (x, y)]
    return float(deviations[0] @ shares @ deviations[1] / np.sqrt((deviations[0] ** 2 @ x) * (deviations[1] ** 2 @ y)))


def test_it_covers_the_correlation_of_the_true_answers_and_that_of_the_reports_does_not() -> None:
    """150 surveys of 3,000: 95% is known to 1.8%. The control, the correlation of the scores that reports name, is far too small."""
    rng, channel = np.random.default_rng(1), PLAIN.questions[0].channel
    assert channel.d == 1
    flip = float(channel.phi) + np.eye(5) * float(channel.theta - channel.phi)
    shares, found, naive = SHARES / SHARES.sum(), [], []
    for told in rng.multinomial(3000, (flip @ shares @ flip.T).ravel(), 150).reshape(-1, 5, 5):
        axes = [Axis(name, tuple("12345"), channel, False) for name in ("mood", "sleep")]
        found.append(correlation(_table(axes, 3000, told, Interval()), LEVELS, LEVELS))
        naive.append(pearson(told / 3000))
    truth, values = pearson(shares), np.array([one.estimate for one in found])
    assert abs(values.mean() - truth) < 4 * values.std() / np.sqrt(150)
    assert 0.89 <= np.mean([one.low <= truth <= one.high for one in found]) <= 0.995
    assert np.mean([one.std_error for one in found]) == pytest.approx(values.std(), rel=0.2)
    assert np.mean(naive) < 0.6 * truth


def test_with_a_public_number_it_covers_the_truth() -> None:
    """100 surveys of 800: 95% is known to 2.2%."""
    rng, survey = np.random.default_rng(2), Survey.from_dict({**PLAIN.to_dict(), "questions": [PLAIN.to_dict()["questions"][0]]})
    held = []
    for _ in range(100):
        age = rng.normal(size=800)
        mood = rng.binomial(4, 1 / (1 + np.exp(-age)))
        one = correlation_with(survey, bits_of(survey, {"mood": mood}, rng), "mood", LEVELS, age)
        held.append(one.low <= 0.6704 <= one.high)  # of four million
    assert np.mean(held) >= 0.88


def test_with_coins_that_hardly_ever_lie_it_is_that_of_the_answers() -> None:
    rng, survey = np.random.default_rng(2), survey_of(10.0)
    answers = answers_of(4000, rng)
    analysis = analyse(survey, bits_of(survey, answers, rng))
    pearson = np.corrcoef([answers["mood"], answers["sleep"], answers["smokes"], answers["age"]])[0]
    assert analysis.correlation("mood", "sleep").estimate == pytest.approx(pearson[1], abs=0.01)
    assert analysis.correlation("smokes", "mood").estimate == pytest.approx(-pearson[2], abs=0.01)  # yes, the first option, counts as 1
    one = analysis.correlation("mood", "age", pd.DataFrame({"age": answers["age"]}))
    assert one.estimate == pytest.approx(pearson[3], abs=0.01)
    assert one.std_error == pytest.approx((1 - pearson[3] ** 2) / np.sqrt(4000), rel=0.1)


def test_of_two_options_each_it_is_phi() -> None:
    rng = np.random.default_rng(3)
    survey = Survey.from_dict(
        {
            "deniable": 1, "id": "s", "title": "T", "about": "A test.", "epsilon": 4,
            "questions": [{"id": name, "text": "?", "type": "yes_no"} for name in ("a", "b")],
        }
    )  # fmt: skip
    a = rng.random(2000) < 0.4
    parts = [
        randomize(q.channel, np.where(holds, 0, 1), lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32))
        for q, holds in zip(survey.questions, (a, a ^ (rng.random(2000) < 0.3)), strict=True)
    ]
    table = analyse(survey, np.hstack([part[:, :-1] for part in parts])).crosstab("a", "b")
    ours, phi = correlation(table, [1, 0], [1, 0]), phi_coefficient(table)
    assert (ours.estimate, ours.std_error, ours.low, ours.high) == pytest.approx((phi.estimate, phi.std_error, phi.low, phi.high), rel=1e-9)


def test_who_gave_no_answer_is_left_out() -> None:
    rng, survey = np.random.default_rng(4), survey_of(10.0, required=False)
    answers = answers_of(6000, rng)
    silent = rng.random(6000) < np.where(answers["mood"] > 2, 0.6, 0.1)
    answers["sleep"] = np.where(silent, 5, answers["sleep"])
    found = analyse(survey, bits_of(survey, answers, rng)).correlation("mood", "sleep")
    expected = np.corrcoef(answers["mood"][~silent], answers["sleep"][~silent])[0, 1]
    assert found.estimate == pytest.approx(expected, abs=0.015)
    assert abs(np.corrcoef(answers["mood"], answers["sleep"])[0, 1] - expected) > 0.05, "the control: no answer is no score"


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ("mood", "hours", "correlation: not for hours, whose answers are rounded at random"),
        ("income", "mood", "correlation: not for income"),
        ("mood", "party", "question party is a choice and has no scores, which a correlation needs"),
        ("mood", "sleep", "both variances must be clearly above 0"),
    ],
)
def test_what_has_no_correlation_is_refused_with_the_reason(a: str, b: str, message: str) -> None:
    rng = np.random.default_rng(5)
    analysis = analyse(PLAIN, bits_of(PLAIN, {"mood": np.full(200, 2), "sleep": np.full(200, 3)}, rng))
    with pytest.raises(EstimateError, match=message):
        analysis.correlation(a, b)


def test_public_numbers_that_are_none_are_refused() -> None:
    rng = np.random.default_rng(6)
    bits = bits_of(PLAIN, answers_of(50, rng), rng)
    for numbers in ([1.0] * 49, [np.nan] * 50):
        with pytest.raises(EstimateError, match="the public numbers must be 50 finite ones"):
            correlation_with(PLAIN, bits, "mood", (1, 2, 3, 4, 5), numbers)
    with pytest.raises(EstimateError, match="scores must be 5 finite numbers"):
        correlation_with(PLAIN, bits, "mood", (1, 2, 3, 4), [1.0] * 50)
    with pytest.raises(EstimateError, match="both variances must be clearly above 0"):
        correlation_with(PLAIN, bits, "mood", (1, 2, 3, 4, 5), [7.0] * 50)


def test_a_correlation_warns_where_all_but_few_say_the_same_and_not_where_everybody_answered() -> None:
    survey = survey_of(8.0)

    def warning(elsewhere: int | None) -> str:
        rng = np.random.default_rng(4)
        answers = answers_of(2_000, rng)
        if elsewhere is not None:
            answers["mood"] = np.where(np.arange(2_000) < elsewhere, 4, 0)
        table = analyse(survey, bits_of(survey, answers, rng)).crosstab("mood", "sleep")
        return correlation(table, LEVELS, LEVELS).warning

    assert (warning(None), warning(60)) == ("", "")
    assert warning(6).startswith("only 5 of the 2,000 reports name it")
