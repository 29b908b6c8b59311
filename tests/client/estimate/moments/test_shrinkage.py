"""The adjusted shares: always possible ones, and nearer to the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate.moments import shrinkage
from deniable.mechanism import Channel


def perturbed_counts(channel: Channel, shares: NDArray[np.float64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    categories = rng.choice(channel.k, n, p=shares)
    return randomize(channel, categories, lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32)).sum(axis=0)


def adjusted(ones: NDArray[np.int64], n: int, channel: Channel) -> NDArray[np.float64]:
    return shrinkage.adjusted(ones, n, float(channel.phi), float(channel.theta))


def unbiased(ones: NDArray[np.int64], n: int, channel: Channel) -> NDArray[np.float64]:
    return (ones / n - float(channel.phi)) / float(channel.theta - channel.phi)


@pytest.mark.slow
@given(
    k=st.sampled_from([2, 3, 4, 5, 8, 40]),
    epsilon=st.sampled_from([0.01, 0.5, 1.0, 2.0, 5.0, 10.0]),
    n=st.sampled_from([1, 3, 50, 10**4, 10**9]),
    seed=st.integers(0, 10**6),
)
def test_adjusted_shares_are_not_negative_and_add_to_1_whatever_the_counts(k: int, epsilon: float, n: int, seed: int) -> None:
    channel, rng = Channel.for_epsilon(epsilon, k), np.random.default_rng(seed)
    # any counts that reports with d of k bits can add up to, honest or not
    popularity = rng.dirichlet(np.full(k, 0.3))
    rates = np.clip(popularity * channel.d, 0, 1)
    ones = rng.binomial(n, rates)
    shares = adjusted(ones, n, channel)
    assert shares.shape == (k,)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1, abs=1e-12)
    assert (shares == adjusted(ones, n, channel)).all()


@pytest.mark.parametrize(("ones", "expected"), [((10, 40), (0, 1)), ((30, 20), (0.7, 0.3)), ((45, 5), (1, 0))])
def test_for_two_categories_it_is_the_estimate_moved_to_the_nearest_possible_share(
    ones: tuple[int, int], expected: tuple[float, float]
) -> None:
    assert adjusted(np.array(ones), 50, Channel(2, 1, 3 << 30)) == pytest.approx(expected, abs=1e-12)


def test_for_many_reports_it_meets_the_estimate() -> None:
    channel, shares = Channel.for_epsilon(1.0, 6), np.array([0.4, 0.25, 0.15, 0.1, 0.07, 0.03])
    n = 10**10
    rates = float(channel.phi) + float(channel.theta - channel.phi) * shares
    assert adjusted(np.round(n * rates).astype(np.int64), n, channel) == pytest.approx(shares, abs=1e-5)


def test_shuffling_the_options_shuffles_the_shares() -> None:
    channel, rng = Channel.for_epsilon(1.0, 12), np.random.default_rng(5)
    ones = perturbed_counts(channel, rng.dirichlet(np.ones(12)), 1000, rng)
    order = rng.permutation(12)
    assert adjusted(ones[order], 1000, channel) == pytest.approx(adjusted(ones, 1000, channel)[order], abs=1e-9)


@pytest.mark.slow
def test_it_is_nearer_to_the_truth_than_the_estimate_and_than_the_nearest_point_of_the_simplex() -> None:
    channel, rng = Channel.for_epsilon(np.log(3), 64), np.random.default_rng(6)
    zipf = 1 / np.arange(1, 65)
    zipf /= zipf.sum()
    errors = []
    for _ in range(30):
        ones = perturbed_counts(channel, zipf, 10_000, rng)
        raw = unbiased(ones, 10_000, channel)
        candidates = (raw, shrinkage._nearest_on_simplex(raw), adjusted(ones, 10_000, channel))
        errors.append([1e4 * float(((candidate - zipf) ** 2).sum()) for candidate in candidates])
    raw_error, simplex_error, ours = np.mean(errors, axis=0)
    assert ours < 0.8 * simplex_error < 0.8 * raw_error
    assert ours < 70


def test_the_variances_are_those_of_independent_counts_given_their_sum() -> None:
    rates = np.array([0.5, 0.3, 0.15, 0.05])
    assert shrinkage._variances(rates) == pytest.approx(rates, abs=1e-9)  # d = 1: Poisson counts
    v = shrinkage._variances(np.full(8, 3 / 8))
    assert v - v**2 / v.sum() == pytest.approx(3 / 8 * 5 / 8)


def test_the_integrals_equal_sums_over_a_fine_grid() -> None:
    estimate, variance = np.array([-0.05, 0.0, 0.02, 0.3, 0.75]), np.array([1e-3, 2e-3, 1e-3, 5e-3, 9e-3])
    for a in (1.0, 0.5, 1 / 64):
        log_mass, mean, spread = shrinkage._tilted(estimate, variance, a, tilt=4.0)
        edges = np.concatenate([[0.0], np.geomspace(1e-60, 3, 400_001)])
        p, prior = (edges[1:] + edges[:-1]) / 2, np.diff(edges**a) / a
        for i in range(5):
            density = prior * np.exp(-((p - estimate[i]) ** 2) / (2 * variance[i]) - 4 * p)
            assert log_mass[i] == pytest.approx(np.log(density.sum()), abs=1e-4)
            assert mean[i] == pytest.approx((density * p).sum() / density.sum(), rel=1e-4)
            assert spread[i] == pytest.approx((density * p**2).sum() / density.sum() - mean[i] ** 2, rel=1e-3)


@pytest.mark.parametrize("a", [1.0, 0.5, 0.25])
def test_the_saddlepoint_agrees_with_draws_from_the_prior(a: float) -> None:
    """Points of the simplex drawn from the prior, weighted by their likelihood, give the exact mean and evidence."""
    estimate, variance = np.array([0.6, 0.35, 0.15, -0.1]), np.full(4, 0.02)
    points = np.random.default_rng(7).dirichlet(np.full(4, a), 400_000)
    likelihood = np.exp(-(((points - estimate) ** 2) / (2 * variance)).sum(axis=1))
    evidence, mean = shrinkage._given_concentration(estimate, variance, a)
    assert mean == pytest.approx(likelihood @ points / likelihood.sum(), abs=0.02)
    assert evidence - np.log(likelihood.mean()) == pytest.approx(np.log(2 * np.pi) / 2, abs=0.03)


def test_every_concentration_weighs_as_much_as_it_makes_the_estimates_likely() -> None:
    estimate, variance = np.array([0.6, 0.35, 0.15, -0.1]), np.full(4, 0.02)
    evidence, means = zip(*(shrinkage._given_concentration(estimate, variance, a) for a in (1.0, 0.5, 0.25)), strict=True)  # down to 1/k
    expected = np.average(means, axis=0, weights=np.exp(evidence))
    assert shrinkage._posterior_mean(estimate, variance) == pytest.approx(expected, abs=1e-12)


def test_a_solver_that_does_not_converge_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrinkage, "_STEPS", 1)
    with pytest.raises(EstimateError, match="did not converge in 1 steps"):
        adjusted(np.array([90, 5, 5, 10]), 100, Channel.for_epsilon(1.0, 4))


@pytest.mark.parametrize(("epsilon", "d"), [(1.0986, 2), (2.0, 1), (4.0, 1)])
def test_where_all_shares_are_clearly_above_0_nothing_is_shrunk(epsilon: float, d: int) -> None:
    """There the unbiased estimate is the most likely one, and was 0.1% nearer to the truth than a shrunk one in 60 surveys each."""
    channel, rng = Channel.for_epsilon(epsilon, 8), np.random.default_rng(11)
    assert channel.d == d
    ones = perturbed_counts(channel, np.full(8, 1 / 8), 10_000, rng)
    assert adjusted(ones, 10_000, channel) == pytest.approx(unbiased(ones, 10_000, channel), abs=1e-12)


def test_where_one_share_is_not_all_are_shrunk() -> None:
    channel, rng = Channel.for_epsilon(2.0, 8), np.random.default_rng(12)
    ones = perturbed_counts(channel, np.array([0.3, 0.2, 0.2, 0.1, 0.1, 0.07, 0.02, 0.01]), 10_000, rng)
    assert np.abs(adjusted(ones, 10_000, channel) - unbiased(ones, 10_000, channel)).min() > 1e-7
