"""Use of the privacy budget: all questions asked of everybody, or a few drawn for each respondent."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from deniable.errors import EstimateError
from deniable.mechanism import Channel
from deniable.plan.arguments import check_count, check_number, check_probability, quoted
from deniable.plan.precision import Mechanism, private, std_error

_MOST_QUESTIONS = 10_000
_MOST_CATEGORIES = 1_025  # the options of a question, and "no answer"
_MOST_EPSILON = 1_000.0  # coins of more toss nothing


@dataclass(frozen=True)
class QuestionSampling:
    """One way to spend the budget: every respondent's device draws `ask` of the questions at random and asks only those.

    Attributes:
        ask: Questions that each device draws.
        epsilon: The privacy loss of each question that is drawn.
        reports: The average number of reports about a question.
        coin_error: The part of a share's standard error that the coins cause, among the people who answer.
        std_error: The whole standard error, for the population.
    """

    ask: int
    epsilon: float
    reports: int
    coin_error: float
    std_error: float


def split_or_sample(
    questions: int, epsilon: float, n: int, *, k: int = 2, share: float | None = None, ask: Iterable[int] | None = None
) -> tuple[QuestionSampling, ...]:
    """Compares the precision of a share by the number of questions that each respondent is asked, with one budget for all.

    The draw looks at no answer, so it costs no privacy. To ask all questions is the plain split of the budget.

    Args:
        questions: The number of questions.
        epsilon: The budget of a respondent's questions together.
        n: Respondents.
        k: The number of categories of each question.
        share: The true share, or None for the hardest.
        ask: The numbers of questions to compare, by default 1 up to all.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    questions, n, k = check_count("questions", questions, _MOST_QUESTIONS), check_count("n", n), _categories(k)
    epsilon = check_number("epsilon", epsilon, 0, _MOST_EPSILON)
    numbers = range(1, questions + 1) if ask is None else [_checked_ask(r, questions) for r in ask]
    return tuple(_question_sampling(r, epsilon / r, n * r // questions, k, share) for r in numbers)


def _categories(k: int) -> int:
    if check_count("k", k, _MOST_CATEGORIES) < 2:
        raise EstimateError(f"k must be at least 2 categories, got {k}")
    return int(k)


def _checked_ask(r: int, questions: int) -> int:
    if isinstance(r, bool) or not isinstance(r, int | np.integer) or not 1 <= r <= questions:
        raise EstimateError(f"ask must be from 1 to {questions}, the number of questions, got {quoted(r)}")
    return int(r)


def _question_sampling(ask: int, epsilon: float, reports: int, k: int, share: float | None) -> QuestionSampling:
    if reports < 1:
        raise EstimateError(f"n is too small for ask = {ask}: on average each question needs a report")
    design = private(Channel.for_epsilon(epsilon, k))
    return QuestionSampling(ask, epsilon, reports, _coin_error(design, reports, share), std_error(design, reports, share))


def _coin_error(design: Mechanism, n: int, share: float | None) -> float:
    """Returns sqrt((p theta (1 - theta) + (1 - p) phi (1 - phi)) / n) / (theta - phi)."""
    p = design.hardest_share if share is None else check_probability("share", share)
    variance = p * design.q1 * (1 - design.q1) + (1 - p) * design.q0 * (1 - design.q0)
    return math.sqrt(variance / n) / design.gap
