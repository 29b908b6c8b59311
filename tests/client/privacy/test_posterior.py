"""How sure a guess about one person can become: one figure, never rounded in the flattering direction, the same wherever it stands."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deniable.mechanism import WORD, Channel
from deniable.privacy.posterior import least_protected, odds_of_sum, people, posterior_bound
from deniable.survey import Survey


def survey_of(*questions: dict[str, Any], **keys: Any) -> Survey:
    asked = [{"id": f"q{i}", "text": f"Q{i}", "type": "yes_no", **question} for i, question in enumerate(questions)]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "accept_high_epsilon": True, **keys, "questions": asked})


@pytest.mark.parametrize(
    ("odds", "percent"),
    [
        (1, "50"),
        (3, "75"),
        (9, "90"),
        (27, "97"),
        (81, "99"),
        (3**5, "99.6"),
        (3**10, "99.999"),
        (3**18, "99.9999998"),
        (3**20, "99.99999998"),
        (3**24, "100"),
    ],
)
def test_how_sure_a_guess_can_become_has_as_few_digits_as_do_not_say_certain(odds: int, percent: str) -> None:
    assert str(posterior_bound(Fraction(odds))) == percent


@pytest.mark.slow
@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.fractions(min_value=1, max_value=10**12))
@example(Fraction(99))
@example(Fraction(99 * 10**9 + 1, 10**9))
def test_a_bound_is_never_below_what_a_guess_can_reach_and_hardly_above(odds: Fraction) -> None:
    bound, reached = posterior_bound(odds), 100 * odds / (1 + odds)
    assert reached <= Fraction(bound) <= 100
    doubt = 100 - reached
    if doubt >= Fraction(1, 10**9):
        assert bound < 100
        assert Fraction(bound) - reached < min(Fraction(1), doubt)
    assert -bound.as_tuple().exponent <= 9  # type: ignore[operator]


@pytest.mark.slow
@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.fractions(min_value=1, max_value=10**9), st.fractions(min_value=1, max_value=10**9))
def test_larger_odds_never_have_a_smaller_bound(first: Fraction, second: Fraction) -> None:
    assert posterior_bound(min(first, second)) <= posterior_bound(max(first, second))


def test_a_bound_rounded_to_the_nearest_would_flatter() -> None:
    """The control: at epsilon 2 the nearest whole percentage is below what a guess can reach."""
    reached = 100 * Fraction(math.exp(2)) / (1 + Fraction(math.exp(2)))
    assert round(reached) < reached <= posterior_bound(Fraction(math.exp(2)))


def test_odds_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="odds must be at least 1, got 1/2"):
        posterior_bound(Fraction(1, 2))


@pytest.mark.parametrize("questions", [1, 2, 3, 5, 8, 16])
def test_a_sum_of_epsilons_has_the_bound_of_the_survey_that_it_is_the_sum_of(questions: int) -> None:
    survey = survey_of(*[{}] * questions, epsilon=f"ln {3**questions}") if questions < 10 else survey_of(*[{"epsilon": "ln 3"}] * questions)
    assert survey.odds == 3**questions
    assert posterior_bound(odds_of_sum(survey.epsilon)) == posterior_bound(survey.odds)
    assert posterior_bound(odds_of_sum(math.fsum([math.log(3)] * questions))) == posterior_bound(survey.odds)


@pytest.mark.parametrize(("epsilon", "percent"), [(0, "50"), (1e-15, "50"), (30, "100"), (19_999.99, "100")])
def test_a_sum_may_be_anything_from_nothing_up(epsilon: float, percent: str) -> None:
    assert posterior_bound(odds_of_sum(epsilon)) == Decimal(percent)


def test_the_odds_of_a_survey_are_those_of_the_blocks_that_give_away_most() -> None:
    questions = [{"epsilon": "ln 2"}, {"epsilon": "ln 3"}, {"epsilon": "ln 5", "show_if": {"question": "q0", "is": ["yes"]}}]
    everybody, sample = survey_of(*questions), survey_of(*questions, ask=1)
    assert float(everybody.odds) == pytest.approx(30, rel=1e-8)
    assert float(sample.odds) == pytest.approx(10, rel=1e-8)
    assert math.log(sample.odds) == pytest.approx(sample.epsilon, rel=1e-12)


# ---- people of 100 -------------------------------------------------------------------------------


def test_people_are_of_a_hundred_or_of_as_many_as_it_takes_to_show_a_difference() -> None:
    assert people(Channel.for_epsilon(math.log(3), 2)) == (100, 75, 25)
    assert people(Channel.for_epsilon(0.2, 2)) == (100, 55, 45)
    assert people(Channel.for_epsilon(10, 2)) == (100_000, 99_995, 5)
    assert people(Channel.for_epsilon(0.001, 2)) == (10_000, 5_002, 4_998)
    assert people(Channel(2, 1, WORD // 2)) == (1_000_000, 500_000, 500_000)


def test_the_least_protected_question_is_the_one_whose_coins_hide_least_wherever_it_stands() -> None:
    tea, hiv = {"id": "tea", "epsilon": 0.2}, {"id": "hiv", "epsilon": 5}
    for questions in ([tea, hiv], [hiv, tea]):
        assert least_protected(survey_of(*questions).items).id == "hiv"


def test_of_questions_that_are_hidden_alike_the_one_with_the_fewest_answers_is_shown() -> None:
    choice = {"type": "choice", "options": ["a", "b", "c", "d", "e"]}
    assert least_protected(survey_of(choice, {}, {}, epsilon=3).items).id == "q1"
    assert least_protected(survey_of(choice, {}, {**choice, "weight": 1.01}, epsilon=3).items).id == "q2"


def test_the_options_of_a_multiple_choice_are_hidden_each_by_itself() -> None:
    several = {"type": "multi_choice", "options": ["a", "b", "c"], "epsilon": 3}
    survey = survey_of(several, {"epsilon": 2})
    assert least_protected(survey.items).id == "q1"
    assert float(survey.questions[0].odds) == pytest.approx(math.exp(3), rel=1e-8)  # and what it tells in all is more
