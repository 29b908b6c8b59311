"""Moments of pseudo-answers, against the sum over all possible reports."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import comb
from typing import Any

import numpy as np
import pytest

from deniable.estimate.moments import pseudo_answers
from deniable.mechanism import WORD, Channel

Floats = np.ndarray[Any, np.dtype[np.float64]]

CHANNELS = [Channel.for_epsilon(epsilon, k) for epsilon, k in ((0.5, 2), (1.0, 3), (1.0986, 5), (1.0, 8), (0.3, 7), (4.0, 4))]
CHANNELS += [Channel(6, 4, WORD // 10 * 9), Channel(3, 2, WORD // 5 * 4)]
PAIRS = list(pairwise(CHANNELS))


def reports(channel: Channel) -> tuple[Floats, Floats]:
    """The pseudo-answer of every possible report, shape (reports, k), and P(report | category), shape (k, reports)."""
    k, d, theta, phi = channel.k, channel.d, float(channel.theta), float(channel.phi)
    bits = np.array([[i in chosen for i in range(k)] for chosen in combinations(range(k), d)])
    chances = np.where(bits.T, theta / comb(k - 1, d - 1), (1 - theta) / comb(k - 1, d))
    return (bits - phi) / (theta - phi), chances


def shares(*sizes: int, seed: int = 1) -> Floats:
    return np.random.default_rng(seed).dirichlet(np.ones(int(np.prod(sizes)))).reshape(sizes)


def by_hand(truth: Floats, a: Channel, b: Channel) -> tuple[Floats, Floats]:
    """Mean and second moments of the products u_i v_j, over all pairs of reports."""
    (u, chance_u), (v, chance_v) = reports(a), reports(b)
    chance = chance_u.T @ truth @ chance_v
    products = np.einsum("ri,sj->rsij", u, v).reshape(len(u), len(v), -1)
    mean = np.einsum("rs,rsi->i", chance, products)
    return mean, np.einsum("rs,rsi,rsj->ij", chance, products, products)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_products_of_pseudo_answers_are_right_on_average(a: Channel, b: Channel) -> None:
    truth = shares(a.k, b.k)
    mean, _ = by_hand(truth, a, b)
    assert mean == pytest.approx(truth.ravel(), abs=1e-12)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_second_moments_are_those_of_all_reports(a: Channel, b: Channel) -> None:
    truth = shares(a.k, b.k)
    _, second = by_hand(truth, a, b)
    assert pseudo_answers.products(truth, [a, b]).reshape(truth.size, -1) == pytest.approx(second, rel=1e-10)
    assert pseudo_answers.squares(truth, [a, b]).ravel() == pytest.approx(np.diagonal(second), rel=1e-10)


def test_moments_that_forget_how_two_bits_go_together_would_be_noticed() -> None:
    """Control: bits taken as independent given the answer."""
    channel = Channel.for_epsilon(1.0, 8)
    truth, wrong = shares(8, 2), Channel(2, 1, channel.keep_threshold)
    _, second = by_hand(truth, channel, wrong)
    theta, phi = float(channel.theta), float(channel.phi)
    bits = np.where(np.eye(8), theta, phi)
    u = (bits - phi) / (theta - phi)
    independent = np.einsum("x,xi,xj->ij", truth.sum(axis=1), u, u)
    off = ~np.eye(8, dtype=bool)
    assert not np.allclose(independent[off], pseudo_answers.products(truth.sum(axis=1), [channel])[off], rtol=0.01)
    assert second.shape == (16, 16)


@pytest.mark.parametrize("sampling", [1.0, 0.3, 0.0])
def test_covariance_and_variances_agree(sampling: float) -> None:
    a, b = PAIRS[2]
    truth = shares(a.k, b.k)
    covariance = pseudo_answers.covariance(truth, [a, b], sampling)
    assert pseudo_answers.variances(truth, [a, b], sampling).ravel() == pytest.approx(np.diagonal(covariance), rel=1e-9)
    weights = np.random.default_rng(2).normal(size=truth.shape)
    assert pseudo_answers.variance_of(weights, truth, [a, b], sampling) == pytest.approx(weights.ravel() @ covariance @ weights.ravel())


def test_the_population_adds_the_variance_of_the_answers_to_that_of_the_coins() -> None:
    a, b = PAIRS[1]
    truth = shares(a.k, b.k)
    more = pseudo_answers.covariance(truth, [a, b], 1.0) - pseudo_answers.covariance(truth, [a, b], 0.0)
    assert more == pytest.approx(np.diag(truth.ravel()) - np.outer(truth, truth), abs=1e-12)


@pytest.mark.parametrize("sampling", [1.0, 0.3, 0.0])
def test_impossible_estimates_still_have_the_variance_of_the_coins(sampling: float) -> None:
    channel = Channel.for_epsilon(0.5, 3)
    estimated = np.array([1.9, -0.7, -0.2])
    coins = pseudo_answers.variances(np.array([1.0, 0.0, 0.0]), [channel], 0.0)
    assert (pseudo_answers.variances(estimated, [channel], sampling) >= coins * (1 - 1e-12)).all()
    assert pseudo_answers.variance_of(np.array([1.0, 2.0, 4.0]), estimated, [channel], sampling) > 0


def test_inverting_the_rates_that_the_coins_give_returns_the_shares() -> None:
    channels = [CHANNELS[0], CHANNELS[2], CHANNELS[3]]
    truth = shares(*(channel.k for channel in channels))
    rates = truth
    for axis, channel in enumerate(channels):
        kernel = np.where(np.eye(channel.k), float(channel.theta), float(channel.phi))
        # rates of bits for each category; independent questions, so axis by axis
        rates = np.moveaxis(np.tensordot(kernel, rates, axes=(1, axis)), 0, axis)
    assert pseudo_answers.invert(rates, channels) == pytest.approx(truth, abs=1e-12)
    assert not np.allclose(rates / rates.sum(), truth, atol=0.01), "control: the perturbed rates are not the shares"
