"""The default interval: reference figures, a second implementation, and exact coverage."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from deniable.estimate import Share, share
from deniable.estimate.limits import feldman_cousins, likelihood_ratio

REFERENCE = json.loads((Path(__file__).parents[3] / "vectors" / "feldman_cousins.json").read_text())
DESIGNS = [(0.25, 0.75), (1 / 6, 5 / 6), (0.125, 0.625), (0.75, 0.25), (0.2689414213699951, 0.5), (0.0, 1.0), (0.6, 0.02)]


def case_name(case: dict[str, Any]) -> str:
    return f"{case['ones']}/{case['n']}-{case['q0']:.3g}-{case['q1']:.3g}"


@pytest.mark.parametrize("case", REFERENCE, ids=case_name)
def test_the_limits_equal_the_reference_figures(case: dict[str, Any]) -> None:
    one = share(case["ones"], case["n"], q0=case["q0"], q1=case["q1"], confidence=case["confidence"])
    assert [one.low, one.high] == pytest.approx(case["limits"], abs=1e-9)  # the figures themselves promise 3e-4


def p_value(p: float, ones: int, n: int, q0: float, q1: float) -> float:
    """The definition, count by count: the chance of a count whose likelihood ratio is not above this one's."""

    def log_likelihood(y: int, f: float) -> float:
        return (y * math.log(f) if y else 0.0) + ((n - y) * math.log1p(-f) if y < n else 0.0)

    def log_ratio(y: int) -> float:
        return log_likelihood(y, f) - log_likelihood(y, min(max(y / n, min(q0, q1)), max(q0, q1)))

    f = q0 + (q1 - q0) * p
    limit = log_ratio(ones) + 1e-10
    return sum(math.comb(n, y) * f**y * (1 - f) ** (n - y) for y in range(n + 1) if log_ratio(y) <= limit)


@pytest.mark.parametrize(("q0", "q1"), [design for design in DESIGNS if 0 not in design])
@pytest.mark.parametrize(("n", "confidence"), [(1, 0.95), (2, 0.9), (7, 0.95), (12, 0.99), (12, 0.76)])
def test_the_interval_is_the_smallest_with_every_share_that_the_definition_accepts(n: int, confidence: float, q0: float, q1: float) -> None:
    alpha, step = 1 - confidence, 1e-7
    for ones in range(n + 1):
        one = share(ones, n, q0=q0, q1=q1, confidence=confidence)
        accepted = [p for p in np.linspace(0, 1, 201) if p_value(p, ones, n, q0, q1) > alpha]
        assert one.low <= min(accepted)
        assert max(accepted) <= one.high
        assert p_value(one.low + step, ones, n, q0, q1) > alpha
        assert p_value(one.high - step, ones, n, q0, q1) > alpha
        if one.low > step:
            assert p_value(one.low - step, ones, n, q0, q1) <= alpha
        if one.high < 1 - step:
            assert p_value(one.high + step, ones, n, q0, q1) <= alpha


def intervals(q0: float, q1: float, n: int, **options: Any) -> list[Share]:
    return [share(ones, n, q0=q0, q1=q1, **options) for ones in range(n + 1)]


@cache
def lowest_coverage(q0: float, q1: float, n: int, method: str, confidence: float = 0.95) -> float:
    """The least chance that the interval holds p, summed exactly over the counts, over p on a grid and at the limits.

    Coverage falls only where p passes a limit, so just beside the limits is where it is least.
    """
    found = intervals(q0, q1, n, method=method, confidence=confidence)
    low, high = (np.array([getattr(one, side) for one in found]) for side in ("low", "high"))
    edges = np.concatenate([low, high])
    shares = np.unique(np.clip(np.concatenate([np.linspace(0, 1, 41), edges, edges - 1e-8, edges + 1e-8]), 0, 1))
    return float(min(coverage(low, high, n, p, q0 + (q1 - q0) * p) for p in shares))


def coverage(low: NDArray[np.float64], high: NDArray[np.float64], n: int, p: float, rate: float) -> float:
    return float(stats.binom.pmf(np.arange(n + 1), n, rate)[(low <= p) & (p <= high)].sum())


@pytest.mark.parametrize(("q0", "q1"), DESIGNS)
@pytest.mark.parametrize("n", [20, 50, 101, 200])
def test_it_covers_every_share_at_least_as_often_as_it_says(n: int, q0: float, q1: float) -> None:
    assert lowest_coverage(q0, q1, n, "feldman-cousins") >= 0.95 - 1e-9


@pytest.mark.parametrize("confidence", [0.6, 0.9, 0.999])
def test_it_covers_at_other_confidences_too(confidence: float) -> None:
    assert lowest_coverage(0.25, 0.75, 50, "feldman-cousins", confidence) >= confidence - 1e-9


@pytest.mark.parametrize(("method", "below"), [("wald", 0.9), ("wilson", 0.95), ("likelihood-ratio", 0.95)])
def test_the_coverage_test_fails_for_intervals_that_are_not_exact(method: str, below: float) -> None:
    assert min(lowest_coverage(0.25, 0.75, n, method) for n in (20, 50, 101)) < below


@pytest.mark.parametrize(("q0", "q1"), DESIGNS)
@pytest.mark.parametrize("n", [1, 2, 20, 101])
@pytest.mark.parametrize("confidence", [0.3, 0.7, 0.95])
def test_no_interval_is_of_zero_width(n: int, q0: float, q1: float, confidence: float) -> None:
    assert all(one.high - one.low > 1e-6 for one in intervals(q0, q1, n, confidence=confidence))


def test_the_width_test_fails_for_a_clipped_wilson_interval() -> None:
    assert any(one.low == one.high for one in intervals(0.25, 0.75, 50, method="wilson"))


def test_it_is_no_wider_than_clopper_pearson_where_the_truth_may_lie() -> None:
    """Expected widths, not those of single counts: for counts no share explains, a clipped interval shrinks to nothing."""

    def widths(method: str) -> NDArray[np.float64]:
        per_count = np.array([one.high - one.low for one in intervals(0.25, 0.75, 50, method=method)])
        rates = 0.25 + 0.5 * np.linspace(0.1, 0.9, 9)
        return np.array([stats.binom.pmf(np.arange(51), 50, rate) @ per_count for rate in rates])

    assert (widths("feldman-cousins") < widths("clopper-pearson")).all()


@pytest.mark.parametrize("limits", [feldman_cousins.limits, likelihood_ratio.limits])
def test_an_end_of_the_range_is_met_exactly(limits: Callable[..., tuple[float, float]]) -> None:
    for lowest, highest in ((0.1, 0.9), (1 / 3, 2 / 3), (0.07, 0.93)):
        assert limits(0, 10, lowest, highest, 0.05)[0] == lowest
        assert limits(10, 10, lowest, highest, 0.05)[1] == highest


@pytest.mark.slow
def test_for_many_reports_the_exact_and_the_likelihood_ratio_limits_meet() -> None:
    for ones in (240_000, 250_000, 300_000, 500_000, 749_000):
        exact = feldman_cousins.limits(ones, 1_000_000, 0.25, 0.75, 0.05)
        approximate = likelihood_ratio.limits(ones, 1_000_000, 0.25, 0.75, 0.05)
        assert exact == pytest.approx(approximate, abs=3e-4)
