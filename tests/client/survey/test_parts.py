"""Each question takes its part of the survey's epsilon: equal for equal weights, and never more than all of it in any record."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import SurveyError
from deniable.mechanism import Channel, exp_below
from deniable.survey import Survey
from deniable.survey.question import Question, blocks_of

Parts = Callable[[Sequence[int], int | None, float], list[float]]
SCALE = 192


def survey_of(*questions: dict[str, Any], **keys: Any) -> Survey:
    asked = [{"id": f"q{i}", "text": "Q", "type": "yes_no", **question} for i, question in enumerate(questions)]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 6, **keys, "questions": asked})


def after(earlier: int) -> dict[str, Any]:
    return {"show_if": {"question": f"q{earlier}", "is": ["yes"]}}


def records(questions: Sequence[Question], ask: int | None) -> list[list[Question]]:
    """What each record that a respondent can send holds: hidden questions too, which are sent as a randomized "no answer"."""
    if ask is None:
        return [list(questions)]
    return [[questions[i] for block in drawn for i in block] for drawn in itertools.combinations(blocks_of(questions), ask)]


def odds(questions: Sequence[Question]) -> Fraction:
    """The largest ratio of the chances of a record under two answers."""
    return math.prod((item.channel.odds for question in questions for item in question.items), start=Fraction(1))


def keeps(questions: Sequence[Question], ask: int | None, epsilon: float) -> bool:
    """Whether no record gives away more than a survey's epsilon, in whole numbers."""
    most = Fraction(exp_below(epsilon), 1 << SCALE)
    return all(odds(asked) <= most for asked in records(questions, ask))


@st.composite
def written(draw: st.DrawFn, weighted: bool = True) -> dict[str, Any]:
    """A survey of up to seven questions, some of them follow-ups, some with weights, some of a sample."""
    made: list[dict[str, Any]] = []
    for index in range(draw(st.integers(1, 7))):
        kind: dict[str, Any] = draw(st.sampled_from([{}, {"type": "choice", "options": ["yes", "no", "perhaps"]}]))
        if index and draw(st.booleans()):
            kind = {**kind, **after(draw(st.integers(0, index - 1)))}
        if weighted and draw(st.booleans()):
            kind = {**kind, "weight": draw(st.floats(0.01, 100))}
        made.append({"id": f"q{index}", "text": "Q", "type": "yes_no", **kind})
    source = {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": draw(st.floats(0.01, 8)), "questions": made}
    roots = sum("show_if" not in question for question in made)
    return source | ({"ask": draw(st.integers(1, roots - 1))} if roots > 1 and draw(st.booleans()) else {})


@settings(max_examples=200, deadline=None, derandomize=True)
@given(written())
@pytest.mark.slow
def test_no_record_gives_away_more_than_the_surveys_epsilon(source: dict[str, Any]) -> None:
    survey = Survey.from_dict(source)
    assert keeps(survey.questions, survey.ask, source["epsilon"])
    assert max(sum(Fraction(q.declared_epsilon) for q in asked) for asked in records(survey.questions, survey.ask)) <= Fraction(
        source["epsilon"]
    )


@settings(max_examples=200, deadline=None, derandomize=True)
@given(written(weighted=False))
@pytest.mark.slow
def test_questions_of_equal_weight_take_equal_parts_and_together_all_of_it(source: dict[str, Any]) -> None:
    survey = Survey.from_dict(source)
    assert len({question.declared_epsilon for question in survey.questions}) == 1
    most = max(sum(q.declared_epsilon for q in asked) for asked in records(survey.questions, survey.ask))
    assert most == pytest.approx(source["epsilon"], rel=1e-12)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, derandomize=True)
@given(written())
def test_parts_are_as_the_weights_are(source: dict[str, Any]) -> None:
    survey = Survey.from_dict(source)
    per_weight = [q.declared_epsilon / s.get("weight", 1) for q, s in zip(survey.questions, source["questions"], strict=True)]
    assert per_weight == pytest.approx([per_weight[0]] * len(per_weight), rel=1e-12)


@given(st.integers(2, 10**4), st.integers(1, 9))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_parts_of_a_logarithm_are_at_most_it_in_whole_numbers(power: int, questions: int) -> None:
    survey = survey_of(*[{}] * questions, epsilon=f"ln {power}", accept_high_epsilon=True)
    assert odds(survey.questions) <= power
    assert float(odds(survey.questions)) == pytest.approx(power, rel=1e-5)


def halved(block: Sequence[int], ask: int | None, epsilon: float) -> list[float]:
    """The rule that this one replaces: blocks share epsilon, and the questions of each share what it takes."""
    blocks = ask or len(set(block))
    return [epsilon / (blocks * block.count(number)) for number in block]


def by_number(block: Sequence[int], ask: int | None, epsilon: float) -> list[float]:
    """A rule that forgets that the questions of a block are drawn together."""
    return [epsilon / (ask or len(block))] * len(block)


def of_shown(block: Sequence[int], ask: int | None, epsilon: float) -> list[float]:
    """A rule that takes hidden questions to cost nothing."""
    return [epsilon / (ask or len(set(block)))] * len(block)


@pytest.mark.parametrize(("rule", "equal", "kept"), [(halved, False, True), (by_number, True, False), (of_shown, True, False)])
def test_other_rules_fail(rule: Parts, equal: bool, kept: bool) -> None:
    """The controls: a question and two follow-ups, beside two others, of which two blocks are asked or all."""
    own = survey_of({}, after(0), after(0), {}, {})
    found_equal, found_kept = set(), set()
    for ask in (None, 2):
        epsilons = rule([0, 0, 0, 1, 2], ask, 6.0)
        questions = [
            Question(q.id, q.text, q.kind, e, Channel.for_epsilon(e, q.k), q.required, q.show_if)
            for q, e in zip(own.questions, epsilons, strict=True)
        ]
        found_equal.add(len(set(epsilons)) == 1)
        found_kept.add(keeps(questions, ask, 6.0))
        assert keeps(survey_of({}, after(0), after(0), {}, {}, **({"ask": ask} if ask else {})).questions, ask, 6.0)
    assert (all(found_equal), all(found_kept)) == (equal, kept)


def epsilons(survey: Survey) -> list[float]:
    return [question.declared_epsilon for question in survey.questions]


def test_a_follow_up_takes_as_much_as_its_question_and_as_every_other() -> None:
    assert epsilons(survey_of({}, after(0), {})) == [2, 2, 2]
    assert epsilons(survey_of({}, after(0), {}, ask=1)) == [3, 3, 3]  # one record can hold two questions at most
    assert epsilons(survey_of({}, {}, {}, ask=2)) == [3, 3, 3]


def test_a_question_of_three_times_the_weight_takes_three_times_as_much() -> None:
    assert epsilons(survey_of({"weight": 3}, {}, {"weight": 2})) == [3, 1, 2]
    assert epsilons(survey_of({"weight": "3"}, {}, {"weight": 2.0})) == [3, 1, 2]
    assert epsilons(survey_of({"weight": 3}, {}, {"weight": 2}, ask=1)) == [6, 2, 4]


def test_weights_that_are_all_alike_change_nothing() -> None:
    plain = survey_of({}, {}, {}, epsilon="ln 27")
    assert survey_of({"weight": 0.1}, {"weight": 0.1}, {"weight": "0.1"}, epsilon="ln 27") == plain
    assert {question.keep_threshold for question in plain.questions} == {3 << 30}


def test_a_survey_says_its_parts_as_numbers_so_that_a_definition_means_what_it_meant() -> None:
    survey = survey_of({"weight": 3}, {})
    assert "weight" not in survey.to_dict()["questions"][0]
    assert Survey.from_dict(survey.to_dict()) == survey == Survey.from_definition(survey.definition)


@pytest.mark.parametrize("weight", [0, -1, 0.0099, 100.1, "much", True, None, [1], math.nan, math.inf, "ln 3"])
def test_a_weight_out_of_its_range_is_told(weight: Any) -> None:
    with pytest.raises(SurveyError, match=r"questions\[0\]\.weight: must be a number from 0\.01 to 100, got") as caught:
        survey_of({"weight": weight}, {})
    assert len(caught.value.problems) == 1


def test_a_weight_of_nothing_is_told() -> None:
    survey = {"deniable": 1, "id": "s", "title": "T", "about": "A"}
    question = {"id": "q", "text": "Q", "type": "yes_no", "weight": 2, "epsilon": 1}
    with pytest.raises(SurveyError) as caught:
        Survey.from_dict({**survey, "questions": [question]})
    assert [str(problem) for problem in caught.value.problems] == [
        "questions[0].weight: must be left out if the survey has no epsilon: a weight divides the survey's epsilon"
    ]


@pytest.mark.parametrize("weight", [0.01, 100, "1e0"])
def test_the_ends_of_the_range_are_in_it(weight: Any) -> None:
    survey_of({"weight": weight}, {})
