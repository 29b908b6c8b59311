"""The planned error of a logit slope is the one that a regression of such reports prints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.special import logit

from deniable.errors import EstimateError
from deniable.estimate import PerturbedVariable, Regression, regress
from deniable.mechanism import Channel
from deniable.plan import logit_slope
from deniable.plan.slopes import Slope

SHARES, HAVING = (0.3, 0.45), 0.4
WHICH = pytest.mark.parametrize("coins", ["outcome", "predictor", "outcome predictor"])
Answers = NDArray[np.bool_]


def planned(coins: str, epsilon: float, n: int = 2_000) -> Slope:
    return logit_slope(n, SHARES, HAVING, **dict.fromkeys(coins.split(), Channel.for_epsilon(epsilon, 2)))


def fitted(coins: str, channel: Channel, outcome: Answers, predictor: Answers) -> Regression:
    """Of answers, or of the bits of what has coins."""
    perturbed, public = {}, {}
    for name, bits in (("outcome", outcome), ("predictor", predictor)):
        if name in coins:
            perturbed[name] = PerturbedVariable(np.stack([bits, ~bits], axis=1), channel, ("yes", "no"))
        else:
            public[name] = bits.astype(int)
    return regress("outcome ~ predictor", pd.DataFrame(public) if public else None, perturbed)


def error_of(regression: Regression) -> float:
    return float(np.sqrt(regression.covariance.to_numpy()[1, 1]))


@pytest.mark.slow
@WHICH
@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0])
def test_reports_as_many_as_expected_have_the_planned_slope_and_error(coins: str, epsilon: float) -> None:
    n, channel = 2_000, Channel.for_epsilon(epsilon, 2)
    theta, phi = float(channel.theta), float(channel.phi)
    flips, none = np.array([[1 - phi, 1 - theta], [phi, theta]]), np.eye(2)
    answers = np.array([[1 - HAVING], [HAVING]]) * np.array([[1 - share, share] for share in SHARES])
    a, b = (flips if name in coins.split() else none for name in ("predictor", "outcome"))
    count = (n * a @ answers @ b.T).round().astype(int).ravel()
    found = fitted(coins, channel, np.repeat([False, True, False, True], count), np.repeat([False, False, True, True], count))
    expected = planned(coins, epsilon, int(count.sum()))
    assert expected.std_error == pytest.approx(error_of(found), rel=0.01)
    assert expected.slope == pytest.approx(logit(0.45) - logit(0.3))
    assert float(found.params.iloc[1]) == pytest.approx(expected.slope, abs=0.15 * expected.std_error)


@pytest.mark.slow
@pytest.mark.parametrize(("coins", "epsilon"), [("outcome", 1.0), ("predictor", 1.0), ("outcome predictor", 2.0)])
def test_half_of_all_surveys_print_more_than_that_error_and_half_less(coins: str, epsilon: float) -> None:
    rng, channel = np.random.default_rng(8), Channel.for_epsilon(epsilon, 2)
    theta, phi = float(channel.theta), float(channel.phi)
    errors = []
    for _ in range(9):
        predictor = rng.random(2_000) < HAVING
        outcome = rng.random(2_000) < np.where(predictor, SHARES[1], SHARES[0])
        truth = {"outcome": outcome, "predictor": predictor}
        bits = {k: rng.random(2_000) < np.where(v, theta, phi) if k in coins.split() else v for k, v in truth.items()}
        errors.append(error_of(fitted(coins, channel, bits["outcome"], bits["predictor"])))
    assert planned(coins, epsilon).std_error / np.median(errors) == pytest.approx(1, abs=0.05)


def test_without_coins_it_is_the_textbooks_error_of_an_odds_ratio() -> None:
    """Woolf's: the root of the sum of one over each of the four expected counts."""
    cells = [2_000 * of * part for of, share in zip((0.6, 0.4), SHARES, strict=True) for part in (share, 1 - share)]
    assert logit_slope(2_000, SHARES, HAVING).std_error == pytest.approx(np.sqrt(sum(1 / cell for cell in cells)))


def test_noise_on_both_sides_costs_more_and_the_power_is_that_of_the_interval() -> None:
    outcome, predictor, both = (planned(coins, 1.0) for coins in ("outcome", "predictor", "outcome predictor"))
    assert both.half_width > 2 * max(outcome.half_width, predictor.half_width)
    assert both.power < 0.4 < 0.8 < min(outcome.power, predictor.power)
    none = logit_slope(2_000, (0.3, 0.3), HAVING, outcome=Channel.for_epsilon(1.0, 2))
    assert none.power == pytest.approx(0.05)


def test_too_few_are_refused_as_often_as_said() -> None:
    """Of public groups: in which an unbiased share is below 0 or above 1."""
    channel, n, draws = Channel.for_epsilon(2.0, 2), 180, 100_000
    theta, phi, rng = float(channel.theta), float(channel.phi), np.random.default_rng(4)
    found = logit_slope(n, (0.2, 0.5), 0.5, outcome=channel).refused
    rates = [rng.binomial(n // 2, phi + (theta - phi) * share, draws) / (n // 2) for share in (0.2, 0.5)]
    outside = np.any([(rate <= phi) | (rate >= theta) for rate in rates], axis=0).mean()
    assert 0.0005 < found < 0.02
    assert found == pytest.approx(outside, rel=0.5, abs=0.002)


def test_what_a_regression_would_refuse_is_no_plan() -> None:
    channel = Channel.for_epsilon(1.0, 2)
    with pytest.raises(EstimateError, match=r"n must be larger, got 60: of so few people's reports \d+% of such fits would be refused"):
        planned("outcome predictor", 1.0, n=60)
    predictor, outcome = np.repeat([True, False], 30), np.tile([True, False, False, False, False, False], 10)
    with pytest.raises(EstimateError, match="separation"):
        fitted("outcome", channel, outcome, predictor)  # a sixth of the bits is set, and chance alone sets more


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: logit_slope(0, SHARES, HAVING), "n must be a whole number of at least 1"),
        (lambda: logit_slope(100, (0.0, 0.5), HAVING), "shares must be above 0 and below 1, got 0.0"),
        (lambda: logit_slope(100, SHARES, 1.0), "predictor_share must be above 0 and below 1"),
        (lambda: logit_slope(100, SHARES, HAVING, confidence=95), "confidence must be above 0 and below 1"),
        (lambda: logit_slope(100, SHARES, HAVING, outcome=Channel.for_epsilon(1.0, 3)), "must have 2 categories, got 3"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call: Callable[[], Slope], message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        call()
