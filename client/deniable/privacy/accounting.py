"""Privacy loss under composition: epsilons of one submission, of several waves, of a household.

Every epsilon here compares two answers of the same person (one is replaced by the other). Under the convention that adds or removes a
person the same coins count as half of it. docs/reference/privacy.md explains each figure; `shuffling.py` bounds the loss of published
tables of many people.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from deniable.survey import Survey

_Floats = NDArray[np.float64]

MAX_EPSILON = 1e6
"""Largest epsilon: far beyond any protection, and its sums are still finite."""
MAX_COUNT = 10**12

_MAX_ADVANCED = 700.0  # its exponential is still finite
_MAX_ATOMS = 2_000_000  # values of the privacy loss that `heterogeneous_composition` enumerates


def submission_epsilon(survey: Survey) -> float:
    """Returns the privacy loss of one whole submission: the epsilons of its questions add (sequential composition)."""
    return survey.epsilon


def sequential_composition(epsilons: Iterable[float]) -> float:
    """Returns the privacy loss of asking the same people again: their epsilons add, without any slack."""
    return math.fsum(check_epsilon("epsilon", epsilon) for epsilon in epsilons)


def parallel_composition(epsilons: Iterable[float]) -> float:
    """Returns the privacy loss of disjoint groups of people: the largest epsilon (parallel composition). 0 for no group."""
    return max((check_epsilon("epsilon", epsilon) for epsilon in epsilons), default=0.0)


def group_privacy(epsilon: float, people: int) -> float:
    """Returns the privacy loss of `people` whose answers are associated, such as one secret that all of them report."""
    return check_epsilon("epsilon", epsilon) * check_count("people", people)


def posterior_range(prior: float, epsilon: float) -> tuple[float, float]:
    """Returns the least and the greatest posterior of a belief after seeing everything that one person sent.

    Bayes' rule with a likelihood ratio between e^-epsilon and e^epsilon.

    Args:
        prior: The probability, from 0 to 1, of a statement about the answers before.
        epsilon: The privacy loss.

    Raises:
        ValueError: An argument is out of range.
    """
    if _number(prior) is None or not 0 <= prior <= 1:
        raise ValueError(f"prior must be a probability from 0 to 1, got {prior!r}")
    shrink = math.exp(-check_epsilon("epsilon", epsilon))
    return prior * shrink / (prior * shrink + 1 - prior), prior / (prior + (1 - prior) * shrink)


def advanced_composition(epsilon: float, k: int, delta: float) -> float:
    """Returns a simple bound for k uses of epsilon each, with a slack delta: sqrt(2 k ln(1/delta)) epsilon + k epsilon (e^epsilon - 1)."""
    epsilon, k, delta = check_epsilon("epsilon", epsilon), check_count("k", k), check_delta(delta)
    if delta == 0:
        raise ValueError("delta must be above 0 and below 1, got 0: without slack use `sequential_composition`")
    if epsilon > _MAX_ADVANCED:
        raise ValueError(f"epsilon must be at most {_MAX_ADVANCED:g} for this bound, got {epsilon!r}: `sequential_composition` is far less")
    return math.sqrt(2 * k * -math.log(delta)) * epsilon + k * epsilon * math.expm1(epsilon)


def optimal_composition(epsilon: float, k: int, delta: float = 0.0) -> float:
    """Returns the least epsilon that k uses of epsilon each guarantee with a slack delta; k epsilon if delta is 0.

    Exact for k-fold randomized response, and no set of k mechanisms of epsilon each is worse, even if each is chosen after seeing the
    earlier outputs. Source: P. Kairouz, S. Oh and P. Viswanath, "The composition theorem for differential privacy", ICML 2015, theorem
    3.3, here solved for every delta and not only for its steps. Relative error below 1e-9.

    Raises:
        ValueError: An argument is out of range.
    """
    return heterogeneous_composition([(epsilon, k)], delta)


def heterogeneous_composition(uses: Iterable[tuple[float, int]], delta: float = 0.0) -> float:
    """Returns the least epsilon as `optimal_composition` does, for different epsilons: pairs of an epsilon and how often it was used.

    Enumerates the values of the privacy loss, the product of all (times + 1).

    Raises:
        ValueError: They are more than two million; round the epsilons up to fewer different ones.
    """
    times: dict[float, int] = {}
    for epsilon, k in uses:
        checked = check_epsilon("epsilon", epsilon)
        times[checked] = times.get(checked, 0) + check_count("times", k)
    if (atoms := math.prod(k + 1 for k in times.values())) > _MAX_ATOMS:
        raise ValueError(f"uses must have at most {_MAX_ATOMS:,} values of the privacy loss, got {atoms:,}: round to fewer epsilons")
    delta = check_delta(delta)
    if delta == 0:
        return math.fsum(epsilon * k for epsilon, k in times.items())
    log_p, loss = np.zeros(1), np.zeros(1)
    for epsilon, k in times.items():
        more_p, more_loss = _losses(epsilon, k)
        log_p, loss = np.add.outer(log_p, more_p).ravel(), np.add.outer(loss, more_loss).ravel()
    return _least_epsilon(log_p, loss, delta)


def _losses(epsilon: float, k: int) -> tuple[_Floats, _Floats]:
    """Returns log P(j of k answers come out true) for j = 0 .. k, and the privacy loss (2j - k) epsilon of each outcome."""
    j = np.arange(1, k + 1)
    log_choices = np.concatenate([[0.0], np.cumsum(np.log((k + 1 - j) / j))])
    j = np.arange(k + 1)
    log_p: _Floats = log_choices - (k - j) * epsilon - k * math.log1p(math.exp(-epsilon))
    return log_p, np.asarray((2 * j - k) * epsilon, dtype=np.float64)


def _least_epsilon(log_p: _Floats, loss: _Floats, delta: float) -> float:
    """Returns the least e >= 0 with delta(e), the sum of p (1 - exp(e - loss)) over outcomes with loss > e, at most delta.

    Between two adjacent losses delta(e) is P - exp(e) Q, where P and Q add up p and p exp(-loss) over the larger ones: all terms have
    one sign, so the sums are kept as logarithms and nothing cancels.
    """
    order = np.argsort(loss)[::-1]
    log_p, loss = log_p[order], loss[order]
    log_sum_p, log_sum_q = np.logaddexp.accumulate(log_p), np.logaddexp.accumulate(log_p - loss)
    at_next = -np.expm1(log_sum_q[:-1] + loss[1:] - log_sum_p[:-1]) * np.exp(log_sum_p[:-1])
    last = int(np.searchsorted(np.maximum.accumulate(at_next), delta))
    slack = delta * math.exp(-log_sum_p[last])
    if slack >= 1:
        return 0.0
    return max(0.0, float(log_sum_p[last] - log_sum_q[last]) + math.log1p(-slack))


def check_epsilon(name: str, value: Any) -> float:
    """Returns a finite number from 0 to MAX_EPSILON. Raises ValueError otherwise."""
    number = _number(value)
    if number is None or not (number >= 0 and math.isfinite(number)):
        raise ValueError(f"{name} must be a finite number of at least 0, got {_quoted(value)}")
    if number > MAX_EPSILON:
        raise ValueError(f"{name} must be at most {MAX_EPSILON:,.0f}, got {_quoted(value)}")
    return number


def check_count(name: str, value: Any, most: int = MAX_COUNT) -> int:
    """Returns a whole number from 1 to `most`. Raises ValueError otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {_quoted(value)}")
    if value > most:
        raise ValueError(f"{name} must be at most {most:,}, got {_quoted(value)}")
    return int(value)


def check_delta(value: Any, least: float = 0.0) -> float:
    """Returns a number of at least `least` and below 1. Raises ValueError otherwise."""
    number = _number(value)
    if number is None or not least <= number < 1:
        raise ValueError(f"delta must be at least {least:g} and below 1, got {_quoted(value)}")
    return number


def _number(value: Any) -> float | None:
    """Returns a number as a double; None for anything else, booleans included."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _quoted(value: Any) -> str:
    """Returns a value for a message; Python refuses to print integers of thousands of digits."""
    return f"a number of {value.bit_length():,} bits" if isinstance(value, int) and value.bit_length() > 200 else repr(value)
