"""Two waves of a survey: what is shared, how it has changed, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.client.estimate.tables.test_differences import tallies

from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate import Analysis, analyse, difference
from deniable.estimate.tables import Change
from deniable.survey import Survey
from deniable.wire.record import pack

SMOKES = {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}
MOOD = {"id": "mood", "text": "Mood?", "type": "scale", "options": ["bad", "so so", "good"]}
TOOK = {"id": "took", "text": "Took?", "type": "multi_choice", "options": ["tea", "coffee"]}


def survey_of(name: str, *questions: dict[str, Any], epsilon: float = 8) -> Survey:
    return Survey.from_dict({"deniable": 1, "id": name, "title": name, "about": "A.", "epsilon": epsilon, "questions": list(questions)})


def asked(survey: Survey, n: int, share: float, seed: int, **options: Any) -> Analysis:
    """n people of whom this share gives the first answer to everything, and the others the second."""
    rng = np.random.default_rng(seed)

    def words(count: int) -> Any:
        return rng.integers(0, 2**32, count, dtype=np.uint32)

    answers = (np.arange(n) >= round(share * n)).astype(int)
    return analyse(survey, pack(survey, [randomize(item.channel, answers, words) for item in survey.items]), **options)


FIRST = survey_of("w26", SMOKES, MOOD, TOOK, {"id": "gone", "text": "?", "type": "yes_no"})
SECOND = survey_of("w27", TOOK | {"text": "In other words?"}, SMOKES, {**MOOD, "options": ["bad", "good"]}, epsilon=5)


def test_shared_are_questions_with_the_same_id_type_and_options_and_the_others_are_told() -> None:
    found = asked(FIRST, 2000, 0.5, 1).compare_waves(asked(SECOND, 1500, 0.3, 2))
    assert [(change.question, change.option) for change in found.changes] == [
        (name, option) for name in ("smokes", "took[tea]", "took[coffee]") for option in ("yes", "no")
    ]
    assert dict(found.left_out) == {"mood": "its options are not the same", "gone": "only the first survey has it"}
    assert "mood is left out: its options are not the same" in found.to_table()


def test_each_change_is_the_difference_of_the_two_surveys_own_rows_whose_epsilons_may_differ() -> None:
    first, second = asked(FIRST, 2000, 0.5, 1), asked(SECOND, 1500, 0.3, 2)
    found = first.compare_waves(second)
    for change in found.changes:
        before, after = first.results[change.question, change.option], second.results[change.question, change.option]
        assert (change.first, change.second) == (before, after)
        assert before.epsilon != after.epsilon
        expected = difference(after, before)
        assert change.difference is not None
        assert (change.difference.low, change.difference.high) == (expected.low, expected.high)
    frame = found.to_frame()
    assert frame["estimate"].to_list() == pytest.approx((frame["second"] - frame["first"]).to_list())
    assert set(frame["p_value"] < 0.05) == {True}, "from 50% to 30%"


def test_a_scale_has_the_change_of_its_mean_first() -> None:
    survey = survey_of("w28", MOOD)
    first, second = asked(survey, 3000, 0.2, 3), asked(replace_id(survey, "w29"), 3000, 0.6, 4)
    mean, *shares = first.compare_waves(second).changes
    assert (mean.question, mean.option, mean.words) == ("mood", "", "")
    assert mean.difference is not None
    assert mean.difference.estimate == pytest.approx((second.results.means[0].mean or 0) - (first.results.means[0].mean or 0))
    assert [change.option for change in shares] == ["bad", "so so", "good"]


def replace_id(survey: Survey, name: str) -> Survey:
    return survey_of(name, *({"id": q.id, "text": q.text, "type": q.type, "options": list(q.categories)} for q in survey.questions))


@pytest.mark.parametrize(
    ("low", "estimate", "high", "said"),
    [
        (-0.0851, -0.05, -0.0149, "from 23 to 18 of 100: a fall of 5, between 1 and 9"),
        (-0.0851, -0.0549, -0.0149, "from 23 to 18 of 100: a fall of 5, between 1 and 9"),
        (0.1, 0.1415, 0.18, "from 23 to 37 of 100: a rise of 14, between 10 and 18"),
        (0.1, 0.1465, 0.18, "from 23 to 38 of 100: a rise of 15, between 10 and 18"),
        (0.011, 0.04, 0.07, "from 23 to 27 of 100: a rise of 4, between 1 and 7"),
        (-0.021, 0.01, 0.041, "from 23 to 24 of 100: no change is shown; from a fall of 3 to a rise of 5 is possible"),
        (-0.09, -0.05, 0.0, "from 23 to 18 of 100: no change is shown; from a fall of 9 to no change is possible"),
        (0.0, 0.05, 0.09, "from 23 to 28 of 100: no change is shown; from no change to a rise of 9 is possible"),
        (-0.094, -0.05, 0.003, "from 23 to 18 of 100: no change is shown; from a fall of 10 to a rise of 1 is possible"),
        (-0.094, -0.05, -0.003, "from 23 to 18 of 100: a fall of 5, between 0.3 and 9.4"),
        (-0.0941, -0.05, -0.005, "from 23 to 18 of 100: a fall of 5, between 0.5 and 9.5"),
        (0.0005, 0.05, 0.096, "from 23 to 28 of 100: a rise of 5, between 0.05 and 9.60"),
        (0.0099, 0.0501, 0.0901, "from 23 to 28 of 100: a rise of 5, between 0.9 and 9.1"),
        (0.01, 0.05, 0.096, "from 23 to 28 of 100: a rise of 5, between 1 and 10"),
        (0.094, 0.095, 0.096, "from 23 to 32 of 100: a rise between 9 and 10"),
        (0.003, 0.0061, 0.009, "from 23 to 24 of 100: a rise between 0.3 and 0.9"),
        (-0.005, -0.004, -0.003, "from 23.0 to 22.6 of 100: a fall between 0.3 and 0.5"),
        (-0.3, -0.25, -0.2, "from 23 to −2 of 100: a fall of 25, between 20 and 30"),
    ],
)
def test_the_words_are_no_surer_than_the_interval(low: float, estimate: float, high: float, said: str) -> None:
    before = replace(asked(FIRST, 200, 0.5, 5).results["smokes", "yes"], estimate=0.23)
    found = difference(before, replace(before, origin=None))
    change = Change(
        "smokes", "yes", before, replace(before, estimate=0.23 + estimate), replace(found, low=low, estimate=estimate, high=high)
    )
    assert change.words == said


def test_waves_without_a_shared_question_or_with_another_target_are_refused() -> None:
    first = asked(FIRST, 100, 0.5, 6)
    with pytest.raises(EstimateError, match="surveys w26 and w30 share no question"):
        first.compare_waves(asked(survey_of("w30", {"id": "other", "text": "?", "type": "yes_no"}), 100, 0.5, 7))
    for options in ({"target": "respondents"}, {"confidence": 0.9}):
        with pytest.raises(EstimateError, match="must have one"):
            first.compare_waves(asked(SECOND, 100, 0.5, 8, **options))
    with pytest.raises(EstimateError, match="simultaneous"):
        first.compare_waves(asked(SECOND, 100, 0.5, 8, simultaneous=True))


def test_a_wave_of_nobody_has_no_change_to_tell() -> None:
    found = asked(FIRST, 100, 0.5, 9).compare_waves(analyse(SECOND, b""))
    assert {change.difference for change in found.changes} == {None}
    assert {change.words for change in found.changes} == {""}
    assert found.to_frame()["low"].isna().all()


@pytest.mark.slow
def test_the_interval_of_a_change_covers_it_as_often_as_it_says() -> None:
    """600 pairs of waves of other sizes, from 30% to 22%; the control, one wave's interval about the change, covers it less often."""
    survey = survey_of("w31", SMOKES, epsilon=2)
    pairs = zip(*(tallies(survey, np.array([p, 1 - p]), n, 600, seed) for p, n, seed in ((0.3, 700, 1), (0.22, 400, 2))), strict=True)
    covered = control = 0
    for tally, other in pairs:
        change = analyse(survey, tally).compare_waves(analyse(survey, other)).changes[0]
        assert change.difference is not None
        covered += change.difference.low <= -0.08 <= change.difference.high
        half = ((change.first.high or 0) - (change.first.low or 0)) / 2
        control += abs(change.difference.estimate + 0.08) <= half
    assert covered / 600 > 0.93
    assert control / 600 < 0.85
