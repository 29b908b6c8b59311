"""A slice of benchmarks/coverage.py: how often intervals hold the truth, by simulation and by summing over all counts."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from deniable.device.randomize import randomize
from deniable.estimate import share
from deniable.mechanism import Channel

SIZES, SIMULATIONS = (20, 50, 100), 20_000


@cache
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("deniable_coverage", Path(__file__).parents[4] / "benchmarks" / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look for their module
    spec.loader.exec_module(module)
    return module


@cache
def cells(n: int, target: str, method: str) -> list[Any]:
    """The coverage of every epsilon, k and p at one n."""
    rng = np.random.default_rng(20250903)
    found = []
    for _, _, _, channel in benchmark().designs((n,)):
        intervals = benchmark().Intervals(n, channel, target, method)
        found += [intervals.coverage(p, SIMULATIONS, rng) for p in benchmark().SHARES]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("target", ["population", "respondents"])
def test_the_default_interval_holds_the_truth_as_often_as_it_says(target: str, n: int) -> None:
    found = cells(n, target, "feldman-cousins")
    assert len(found) == 4 * 3 * 6
    assert min(cell.exact for cell in found) >= 0.95 - 1e-9
    assert min(cell.simulated for cell in found) >= 0.945


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("target", ["population", "respondents"])
def test_none_of_them_is_of_zero_width(target: str, n: int) -> None:
    assert min(cell.narrowest for cell in cells(n, target, "feldman-cousins")) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("target", "method"), [("population", "wald"), ("population", "wilson"), ("respondents", "score")])
def test_intervals_that_are_not_exact_would_be_noticed(target: str, method: str) -> None:
    found = [cell for n in (20, 50) for cell in cells(n, target, method)]
    assert min(cell.simulated for cell in found) < 0.93
    if method != "wald":
        assert min(cell.narrowest for cell in found) == 0


@pytest.mark.parametrize("target", ["population", "respondents"])
@pytest.mark.parametrize("k", [2, 5, 16])
def test_the_real_coins_give_the_coverage_that_the_distribution_of_counts_says(target: str, k: int) -> None:
    """Whole reports, every bit of them, through `randomize`; the benchmark draws the counts of one bit."""
    n, runs, channel, rng = 50, 2_000, Channel.for_epsilon(2.0, k), np.random.default_rng(20250904)
    holders = 5
    categories = np.zeros(n * runs, dtype=np.int64)
    others = rng.integers(1, k, n * runs)
    if target == "population":
        categories = np.where(rng.random(n * runs) < holders / n, 0, others)
    else:
        categories = np.where(np.arange(n * runs) % n < holders, 0, others)
    bits = randomize(channel, categories, lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32))
    counts = bits[:, 0].reshape(runs, n).sum(axis=1)
    known = {y: share(y, n, q0=channel.phi, q1=channel.theta, target=target) for y in set(counts.tolist())}
    held = np.mean([known[y].low - 1e-12 <= holders / n <= known[y].high + 1e-12 for y in counts.tolist()])
    expected = benchmark().Intervals(n, channel, target, "feldman-cousins").coverage(holders / n, 10, rng).exact
    assert held == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / runs))
