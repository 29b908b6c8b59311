"""Use of the privacy budget: all questions asked of everybody, or a few drawn for each respondent."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from deniable.errors import EstimateError
from deniable.mechanism import Channel
from deniable.plan.checked import check_count, check_number, check_probability, shown
from deniable.plan.precision import Mechanism, private, std_error

_MOST_QUESTIONS = 10_000
_MOST_CATEGORIES = 1_025  # the options of a question, and "no answer"
_MOST_EPSILON = 1_000.0  # coins of more toss nothing


@dataclass(frozen=True)
class QuestionSampling:
    """One way to spend the budget: every respondent's device draws `ask` of the questions at random and asks only those.

    epsilon: of each question asked. reports: how many a question gets, on average. coin_error: the standard error of a
    share that the coins alone cause, for the people who were asked. std_error: the whole of it, for the population.
    """

    ask: int
    epsilon: float
    reports: int
    coin_error: float
    std_error: float


def split_or_sample(
    questions: int, epsilon: float, n: int, *, k: int = 2, share: float | None = None, ask: Iterable[int] | None = None
) -> tuple[QuestionSampling, ...]:
    """Compares asking r of the questions, for every r in `ask` (default: 1 up to all), in a budget of epsilon together.

    questions: how many there are, with k categories each. n: respondents. share: the true one, or None for the
    hardest. r = questions is the plain split. The draw is made without looking at any answer, so it costs nothing.
    Raises EstimateError.
    """
    questions, n, k = check_count("questions", questions, _MOST_QUESTIONS), check_count("n", n), _categories(k)
    epsilon = check_number("epsilon", epsilon, 0, _MOST_EPSILON)
    numbers = range(1, questions + 1) if ask is None else [_ask(r, questions) for r in ask]
    return tuple(_asked(r, epsilon / r, n * r // questions, k, share) for r in numbers)


def best(ways: Iterable[QuestionSampling]) -> QuestionSampling:
    """Returns the way with the smallest standard error; on a tie the one that asks fewer questions."""
    return min(ways, key=lambda way: (way.std_error, way.ask))


def _categories(k: int) -> int:
    if check_count("k", k, _MOST_CATEGORIES) < 2:
        raise EstimateError(f"k must be at least 2 categories, got {k}")
    return int(k)


def _ask(r: int, questions: int) -> int:
    if isinstance(r, bool) or not isinstance(r, int | np.integer) or not 1 <= r <= questions:
        raise EstimateError(f"ask must be from 1 to {questions}, the number of questions, got {shown(r)}")
    return int(r)


def _asked(ask: int, epsilon: float, reports: int, k: int, share: float | None) -> QuestionSampling:
    if reports < 1:
        raise EstimateError(f"n must give every question a report on average, got too few for ask = {ask}")
    design = private(Channel.for_epsilon(epsilon, k))
    return QuestionSampling(ask, epsilon, reports, _coin_error(design, reports, share), std_error(design, reports, share))


def _coin_error(design: Mechanism, n: int, share: float | None) -> float:
    """Returns sqrt((p theta (1 - theta) + (1 - p) phi (1 - phi)) / n) / (theta - phi)."""
    p = design.hardest_share if share is None else check_probability("share", share)
    variance = p * design.q1 * (1 - design.q1) + (1 - p) * design.q0 * (1 - design.q0)
    return math.sqrt(variance / n) / design.gap
