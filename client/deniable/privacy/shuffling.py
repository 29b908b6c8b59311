"""Privacy amplification by shuffling: bounds on one person's privacy loss if no report can be linked to a person.

Source: V. Feldman, A. McMillan and K. Talwar, "Hiding among the clones", FOCS 2021, theorem 3.1. Whatever the coins,
each other person's report is, with chance e^-epsilon0, a clone: as likely to come from one as from the other of the two
answers that are compared. A person's own report hides among C clones, C binomial (n - 1, e^-epsilon0). Of these C + 1
reports A + 1 or A look like the first answer, A binomial (C, 1/2). Their theorem bounds the divergence of that pair in
closed form; here it is summed exactly, which is several times smaller.

Their later bound with chance 2 / (e^epsilon0 + 1) ("Stronger privacy amplification by shuffling", SODA 2023) is smaller
still, but an erratum restricts it to some kinds of coins; for submissions of many questions it is unproven, so not used.

For one question its coins are known (B. Balle, J. Bell, A. Gascon and K. Nissim, "The privacy blanket of the shuffle model",
CRYPTO 2019, lemma 5.3). Whatever the answer, a report is with chance gamma = sum_y min_x P(y | x) drawn from the blanket, P's least row.
Even if an adversary knows all other reports, and all answers, a person hides among M reports, M binomial (n, gamma), and

    delta(epsilon) <= (1 / n) E[ max(0, sum over M blanket reports y of (P(y | a) - e^epsilon P(y | b)) / min_x P(y | x)) ].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.extras import missing
from deniable.mechanism import Channel, Window
from deniable.privacy.accounting import check_count, check_delta, check_epsilon

_Floats = NDArray[np.float64]

_TAIL = 1e-15  # chance of a count outside the range that is summed; it is added to delta
_LEAST_DELTA = 1e-12  # below, _TAIL and rounding would show
_CLOSE = 1e-10  # the relative width at which the bisection stops
_MOST_CLONES = 10**7  # people that hide one person: more hide each person better, and take minutes to sum over
_MOST_EPSILON = 500.0  # above, no report is a clone for any n, and the odds soon overflow
_CLASSES = 40  # of counts that are rounded down together


def shuffling_bound(epsilon0: float, n: int, delta: float = 1e-6) -> float:
    """Returns an upper bound on the epsilon, at `delta`, of the shuffled reports of n people.

    It holds for every way of randomizing, submissions of many questions included, and for everything computed from the shuffled reports:
    tables, shares, intervals. Never more than epsilon0. For anyone who can link reports to people, the loss stays epsilon0.

    Args:
        epsilon0: The privacy loss of one whole submission.
        n: Number of people.
        delta: The slack, 1e-12 or more.

    Raises:
        MissingExtraError: The extra `deniable[estimate]` is not installed.
        ValueError: An argument is out of range.
    """
    epsilon0, n, delta = _check(epsilon0, n, delta)
    if epsilon0 > _MOST_EPSILON:
        return epsilon0
    people = min(n, _MOST_CLONES)
    return _crossing(lambda epsilon: _among_clones(epsilon, epsilon0, people), epsilon0, delta)[1]


_MOST = 10_000
"""The most people that the coins' own decomposition is computed for. More people hide each person better: their reports only add noise."""


@lru_cache(maxsize=256)  # a survey has few kinds of coins
def question_shuffling_bound(channel: Channel, n: int, delta: float = 1e-6) -> float:
    """Returns an upper bound on the epsilon, at `delta`, of the shuffled reports of n people to one question with these coins."""
    general, odds, people = shuffling_bound(channel.epsilon, n, delta), float(channel.odds), min(n, _MOST)
    own = 0.0
    for kind in _kinds(channel):

        def at(epsilon: float, kind: _Kind = kind) -> float:
            return _in_blanket(epsilon, odds, people, kind)

        if at(general) > delta:
            return general
        if not own or at(own) > delta:
            own = _crossing(at, general, delta, 1e-6)[1]
    return own


def shuffling_lower_bound(epsilon0: float, n: int, delta: float = 1e-6) -> float:
    """Returns a lower bound on the epsilon, at `delta`, of shuffled reports to one yes/no question if all others answer alike.

    No rule for every way of randomizing and every set of answers can promise less.

    Raises:
        MissingExtraError: The extra `deniable[estimate]` is not installed.
        ValueError: An argument is out of range.
    """
    epsilon0, n, delta = _check(epsilon0, n, delta)
    check_count("n", n, _MOST_CLONES)  # a bound for fewer people would be larger, and so not a lower bound
    if epsilon0 > _MOST_EPSILON:
        raise ValueError(f"epsilon0 must be at most {_MOST_EPSILON:g} for this bound, got {epsilon0!r}")
    return _crossing(lambda epsilon: _among_equals(epsilon, epsilon0, n), epsilon0, delta)[0]


def _check(epsilon0: float, n: int, delta: float) -> tuple[float, int, float]:
    if error := missing("deniable.privacy.shuffling", "estimate"):
        raise error
    return check_epsilon("epsilon0", epsilon0), check_count("n", n), check_delta(delta, _LEAST_DELTA)


def _crossing(delta_at: Callable[[float], float], highest: float, delta: float, close: float = _CLOSE) -> tuple[float, float]:
    """Returns two neighbouring epsilons in [0, highest]; the falling delta_at is above delta at the first, not at the second."""
    if delta_at(0.0) <= delta:
        return 0.0, 0.0
    low, high = 0.0, highest
    while high - low > close * high:
        middle = (low + high) / 2
        low, high = (low, middle) if delta_at(middle) <= delta else (middle, high)
    return low, high


def _among_clones(epsilon: float, epsilon0: float, n: int) -> float:
    """Returns the hockey-stick divergence at epsilon of the pair above, which is symmetric.

    Given C = c, the chances of a reports that look like the first answer are as theta a + (1 - theta) (c + 1 - a) to its mirror image, so
    one exceeds e^epsilon times the other for all a from some count on.
    """
    theta, grow = _theta(epsilon0), math.exp(epsilon)
    more, less = theta - grow * (1 - theta), grow * theta - (1 - theta)
    if more <= 0:
        return 0.0
    c, weight = _binomial(n - 1, math.exp(-epsilon0))
    first = np.floor((c + 1) * (less / (more + less))) + 1
    if_one, if_other = _fair_tail(first - 1, c), _fair_tail(first, c)
    gain = theta * if_one + (1 - theta) * if_other - grow * ((1 - theta) * if_one + theta * if_other)
    return float(weight @ np.maximum(gain, 0.0)) + _TAIL


class _Kind(NamedTuple):
    """Chances of a report, in units of the blanket: it indicates one of two answers (equally likely the other), neither, or both."""

    one: float
    neither: float
    both: float


def _kinds(channel: Channel) -> set[_Kind]:
    """Returns the chances for each distinct pair of answers; they add to gamma, the first one counted twice."""
    odds, theta = float(channel.odds), float(channel.theta)
    if isinstance(channel, Window):
        least = (1 - theta) / channel.outside  # the chance of a place outside an answer's window
        starts = [channel.first_place(category) for category in range(channel.k)]
        always = sum(all(start <= place < start + channel.width for start in starts) for place in range(channel.places))
        kinds = set()
        for apart in {min(channel.width, b - a) for a in starts for b in starts if b > a}:
            both, neither = channel.width - apart, channel.places - channel.width - apart
            # a place in every window is in the blanket with all its chance, which is `odds` times as much
            kinds.add(_Kind(apart * least, (neither + always * odds) * least, (both - always) * least))
        return kinds
    k, d = channel.k, channel.d
    gamma = k * (1 - theta) / (k - d)
    one, two = d * (k - d) / (k * (k - 1)), d * (d - 1) / (k * (k - 1))
    return {_Kind(gamma * one, gamma * (1 - 2 * one - two), gamma * two)}


def _in_blanket(epsilon: float, odds: float, n: int, kind: _Kind) -> float:
    """Returns the bound at epsilon. A report for one answer adds odds - e^epsilon, one for the other takes odds e^epsilon - 1.

    One for neither takes e^epsilon - 1, one for both odds times that. Counts of these are rounded down in classes.
    """
    grow, least = math.exp(epsilon), 1e-5 * _LEAST_DELTA / odds
    c, weight = _binomial(n, 2 * kind.one)
    common, chances = _at_least(n - c, min(1.0, (kind.neither + kind.both) / (1 - 2 * kind.one)) if kind.one < 0.5 else 0.0)
    drift = (grow - 1) * (common + (odds - 1) * _surely(n * kind.both, least))
    step, needed = (odds - 1) * (grow + 1), c[:, None] * (odds * grow - 1) + drift
    first = np.floor(needed / step) + 1
    count = np.broadcast_to(c[:, None], first.shape)
    reached = np.where(count > 0, _fair_tail(first - 1, np.maximum(count - 1, 0)), 0.0)  # E[a; a >= first] is c / 2 times this
    gain = np.maximum(step * count / 2 * reached - needed * _fair_tail(first, count), 0.0)
    return float(weight @ (gain * chances).sum(axis=1)) / n + odds * (_TAIL + least)


def _at_least(n: NDArray[np.int64], rate: float) -> tuple[_Floats, _Floats]:
    """Returns binomial counts (n, rate) in a few classes, shape (n, classes): the least count of each, and its chance."""
    from scipy.special import bdtr

    centre = (n * rate)[:, None]
    edges = np.maximum(np.floor(centre + np.sqrt(centre * (1 - rate) + 1) * np.linspace(-8, 4, _CLASSES)), 0.0)
    edges[:, 0] = 0.0
    below = np.where(edges > 0, bdtr(np.minimum(edges - 1, n[:, None]), n[:, None], rate), 0.0)
    return edges, np.diff(np.append(below, np.ones((len(n), 1)), axis=1), axis=1)


def _surely(mean: float, chance: float) -> float:
    """Returns a value that a binomial count with this mean is below with at most this chance (Chernoff)."""
    return max(0.0, mean - math.sqrt(2 * mean * math.log(1 / chance)))


def _among_equals(epsilon: float, epsilon0: float, n: int) -> float:
    """Returns the larger hockey-stick divergence of the number of yes bits: n - 1 people are no, the last one is yes or no."""
    theta, grow = _theta(epsilon0), math.exp(epsilon)
    chances = _binomial(n - 1, 1 - theta)[1]
    without, with_it = np.append(chances, 0.0), np.insert(chances, 0, 0.0)
    if_yes, if_no = theta * with_it + (1 - theta) * without, (1 - theta) * with_it + theta * without
    return float(max(np.maximum(if_yes - grow * if_no, 0).sum(), np.maximum(if_no - grow * if_yes, 0).sum()))


def _theta(epsilon: float) -> float:
    """Returns the chance that yes/no coins at epsilon keep the answer."""
    return 1 / (1 + math.exp(-epsilon))


def _binomial(n: int, rate: float) -> tuple[NDArray[np.int64], _Floats]:
    """Returns the likely counts of a binomial (n, rate) and their chances, scaled to add to 1; Bernstein's bound leaves out _TAIL."""
    room = math.log(2 / _TAIL)
    reach = room / 3 + math.sqrt((room / 3) ** 2 + 2 * room * n * rate * (1 - rate))
    counts = np.arange(max(0, math.floor(n * rate - reach)), min(n, math.ceil(n * rate + reach)) + 1)
    if rate >= 1:
        return np.array([n]), np.ones(1)
    later = counts[1:]
    logs = np.concatenate([[0.0], np.cumsum(np.log((n + 1 - later) / later) + math.log(rate / (1 - rate)))])
    chances = np.exp(logs - logs.max())
    return counts, chances / chances.sum()


def _fair_tail(least: _Floats, n: NDArray[np.int64]) -> _Floats:
    """Returns P(Y >= least) for Y binomial (n, 1/2)."""
    from scipy.special import bdtrc

    return np.asarray(bdtrc(np.minimum(least - 1, n), n, 0.5))
