"""The share among those who answered: the exact limits beside their definition, and what large n makes of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from deniable.estimate import share
from deniable.estimate.limits import closed_form, finite_population
from deniable.estimate.limits.finite_population import constrained_score, exact

Z2 = 1.959963984540054**2
DESIGNS = [(0.25, 0.75), (0.1, 0.3), (0.018, 0.982), (0.6, 0.2), (0.0, 0.5), (0.5, 1.0)]


def limits_by_definition(ones: int, n: int, q0: float, q1: float, alpha: float) -> tuple[float, float]:
    """Tries every whole number of holders, its distribution by adding two binomials, count by count."""

    def mean(m: float) -> float:
        return n * q0 + m * (q1 - q0)

    def score(y: int, m: float) -> float:
        if abs(y - mean(m)) < 1e-9:
            return 0.0
        variance = m * q1 * (1 - q1) + (n - m) * q0 * (1 - q0)
        return (y - mean(m)) ** 2 / variance if variance > 1e-15 else math.inf

    def surprise(y: int, m: int) -> float:
        best = min(max((y - n * q0) / (q1 - q0), 0), n)
        return score(y, m) - score(y, best) if score(y, best) < math.inf else math.inf

    accepted = []
    for m in range(n + 1):
        chances = np.convolve(stats.binom.pmf(np.arange(m + 1), m, q1), stats.binom.pmf(np.arange(n - m + 1), n - m, q0))
        limit = surprise(ones, m) * (1 - 1e-9) - 1e-9
        if sum(p for y, p in enumerate(chances) if p > 0 and surprise(y, m) >= limit) > alpha:
            accepted.append(m / n)
    return min(accepted), max(accepted)


@pytest.mark.parametrize(("q0", "q1"), DESIGNS)
@pytest.mark.parametrize(("n", "alpha"), [(1, 0.05), (2, 0.1), (7, 0.05), (20, 0.01), (33, 0.05)])
def test_the_exact_limits_are_those_of_the_definition(n: int, alpha: float, q0: float, q1: float) -> None:
    for ones in range(n + 1):
        if not min(n * q0, n * q1) <= ones <= max(n * q0, n * q1) and {q0, q1} & {0.0, 1.0}:
            continue  # some counts are impossible there, and how surprising they are has no meaning
        found, expected = exact((ones, n), q0, q1, alpha, n), limits_by_definition(ones, n, q0, q1, alpha)
        if expected[0] == expected[1]:  # half a respondent is added
            assert found[0] <= expected[0] <= found[1]
            assert 0 < found[1] - found[0] <= 1 / n + 1e-12
        else:
            assert found == pytest.approx(expected, abs=1e-12)


def exact_coverage(n: int, q0: float, q1: float, method: str) -> float:
    """The least chance, over all numbers of holders, that the interval holds the share, summed over all counts."""
    found = [share(y, n, q0=q0, q1=q1, target="respondents", method=method) for y in range(n + 1)]
    low, high = (np.array([getattr(one, side) for one in found]) for side in ("low", "high"))

    def coverage(m: int) -> float:
        chances = np.convolve(stats.binom.pmf(np.arange(m + 1), m, q1), stats.binom.pmf(np.arange(n - m + 1), n - m, q0))
        return float(chances[(low <= m / n + 1e-12) & (m / n <= high + 1e-12)].sum())

    return min(coverage(m) for m in range(n + 1))


@pytest.mark.parametrize(("q0", "q1"), DESIGNS)
@pytest.mark.parametrize("n", [1, 5, 20, 50, 101])
def test_they_cover_every_number_of_holders_as_often_as_they_say(n: int, q0: float, q1: float) -> None:
    assert exact_coverage(n, q0, q1, "feldman-cousins") >= 0.95 - 1e-9


def test_the_score_interval_would_fail_that_test() -> None:
    assert exact_coverage(50, 0.018, 0.982, "score") < 0.91


def test_no_interval_is_of_zero_width_but_clipped_score_limits_are() -> None:
    def widths(n: int, method: str) -> list[float]:
        found = [share(y, n, q0=0.25, q1=0.75, target="respondents", method=method) for y in range(n + 1)]
        return [one.high - one.low for one in found]

    for n in (1, 20, 101):
        assert min(widths(n, "feldman-cousins")) > 0.4 / n
        assert min(widths(n, "constrained-score")) > 0.4 / n
    assert min(widths(20, "score")) == 0


def test_even_a_survey_of_two_with_hardly_any_noise_keeps_a_width() -> None:
    for ones in range(3):
        one = share(ones, 2, q0=1e-6, q1=1 - 1e-6, target="respondents")
        assert one.high - one.low >= 0.25
        assert one.low <= ones / 2 <= one.high


@pytest.mark.parametrize("holders", [10, 30])  # the estimates are a little below and a little above
def test_with_hardly_any_noise_one_number_of_holders_is_left_with_half_a_respondent_on_both_sides(holders: int) -> None:
    one = share(holders, 50, q0=0.0005, q1=0.9995, target="respondents")
    assert (one.low, one.high) == pytest.approx(((holders - 0.5) / 50, (holders + 0.5) / 50), abs=1e-12)


@pytest.mark.parametrize(("q0", "q1"), [(0.25, 0.75), (0.1, 0.3), (0.7, 0.2)])
def test_inside_the_range_the_constrained_score_limits_are_the_score_limits(q0: float, q1: float) -> None:
    for p in (0.0, 0.02, 0.5, 1.0):
        ones = round(1000 * (q0 + p * (q1 - q0)))
        low, high = closed_form.score((ones, 1000), q0, q1, Z2, 0.0)
        assert constrained_score((ones, 1000), q0, q1, 0.05, 0.0) == pytest.approx((max(low, 0), min(high, 1)), abs=1e-12)


def test_outside_the_range_they_are_wider_than_the_clipped_score_limits() -> None:
    for ones in (150, 200, 240):
        score, constrained = (
            closed_form.score((ones, 1000), 0.25, 0.75, Z2, 0.0),
            constrained_score((ones, 1000), 0.25, 0.75, 0.05, 0.0),
        )
        assert constrained[0] == 0
        assert constrained[1] > max(score[1], 0)


@pytest.mark.parametrize("ones", [2300, 2500, 2600, 5000, 7450, 7600])
def test_for_many_reports_exact_and_constrained_score_limits_meet(ones: int) -> None:
    precise = exact((ones, 10_000), 0.25, 0.75, 0.05, 10_000)
    approximate = constrained_score((ones, 10_000), 0.25, 0.75, 0.05, 0.0)
    if 0.05 < (ones / 10_000 - 0.25) / 0.5 < 0.95:
        assert precise == pytest.approx(approximate, abs=3e-4)
    else:  # near an end the exact ones also use that the other tail is cut off
        assert precise == pytest.approx(approximate, abs=5e-3)


def test_swapping_the_meaning_of_the_bit_or_of_the_category_mirrors_the_limits() -> None:
    for ones in range(31):
        low, high = exact((ones, 30), 0.1, 0.6, 0.05, 30)
        assert exact((30 - ones, 30), 0.9, 0.4, 0.05, 30) == (low, high)
        other: Any = exact((ones, 30), 0.6, 0.1, 0.05, 30)
        assert (1 - other[1], 1 - other[0]) == pytest.approx((low, high), abs=1e-12)


def random_counts(number: int) -> tuple[tuple[int, int], float, float, float, int]:
    """A survey of up to 3,000 reports, also with bits that are nearly the answer or nearly noise, and of drawn people."""
    rng = np.random.default_rng(number)
    n = int(np.exp(rng.uniform(np.log(30), np.log(3000))))
    q0, q1 = sorted(rng.random(2)) if number % 2 else (0.5 - rng.uniform(0.002, 0.2), 0.5 + rng.uniform(0.002, 0.2))
    q0, q1 = (0.0, q1) if number % 10 == 3 else (q0, 1.0) if number % 10 == 6 else (q0, q1)
    ones = int(np.clip(rng.binomial(n, q0 + (q1 - q0) * rng.random()) + rng.normal() * math.sqrt(n) / 2, 0, n))
    everybody = n + int(rng.integers(1, 3 * n)) if number % 5 == 0 and n < 300 else n
    return (ones, n), float(q0), float(q1), float(rng.choice([0.2, 0.1, 0.05, 0.01])), everybody


def test_rejecting_whole_parts_gives_the_limits_of_trying_every_number(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [random_counts(number) for number in range(150)]
    quick = [exact.__wrapped__(*one) for one in given]
    monkeypatch.setattr(finite_population, "_CHUNK", 1 << 20)
    assert quick == [exact.__wrapped__(*one) for one in given]


def test_the_control_a_bound_without_its_upper_tail_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [random_counts(number) for number in range(150)]
    every = [exact.__wrapped__(*one) for one in given]
    real = finite_population._bounds
    monkeypatch.setattr(finite_population, "_bounds", lambda *arguments: real(*arguments) / 2)
    assert every != [exact.__wrapped__(*one) for one in given]


@pytest.mark.parametrize(("n", "epsilon"), [(5_000, 0.02), (10_000, 0.02), (10_000, 1.0)])
def test_few_of_the_numbers_of_holders_are_tried(n: int, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of a wide survey has hundreds of such limits: trying one after the other from the top took ten seconds."""
    tried = list[int]()
    real = finite_population._distributions

    def counting(ones: int, coins: Any, m: Any) -> Any:
        tried.append(len(m))
        return real(ones, coins, m)

    q1 = math.exp(epsilon) / (1 + math.exp(epsilon))
    monkeypatch.setattr(finite_population, "_distributions", counting)
    exact.__wrapped__((n // 2, n), 1 - q1, q1, 0.05, n)
    quick = sum(tried)
    tried.clear()
    monkeypatch.setattr(finite_population, "_CHUNK", 1 << 20)
    exact.__wrapped__((n // 2, n), 1 - q1, q1, 0.05, n)
    assert quick < 200 < sum(tried)
