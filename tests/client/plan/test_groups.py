"""Two groups of unequal sizes: what is planned is what the results page prints, by every pair of counts that may come."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from deniable.errors import EstimateError
from deniable.estimate import Share, difference
from deniable.estimate import share as estimate_share
from deniable.mechanism import Channel, Window
from deniable.plan import Mechanism, curator, power, private, smallest_effect, std_error
from deniable.plan.half_widths import difference_half_width
from deniable.plan.precision import normal_half_width


def printed(design: Mechanism, n: int, share: float, seed: int, draws: int) -> list[Share]:
    counts = np.random.default_rng(seed).binomial(n, design.rate(share), draws)
    shares = {count: estimate_share(count, n, q0=design.q0, q1=design.q1) for count in set(counts.tolist())}
    return [shares[count] for count in counts.tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(1_000, 50), (60, 300)])
@pytest.mark.parametrize(("epsilon", "shares"), [(1.0, (0.5, 0.2)), (2.0, (0.02, 0.2)), (4.0, (0.3, 0.02))])
def test_widths_and_power_are_those_of_the_intervals_that_are_printed(
    epsilon: float, shares: tuple[float, float], sizes: tuple[int, int]
) -> None:
    """Within 5% of the median of simulated widths, and within 4.5 standard errors of the part that lies beside 0."""
    design, draws = private(Channel.for_epsilon(epsilon, 2)), 2_000
    first, second = (printed(design, n, share, seed, draws) for n, share, seed in zip(sizes, shares, (1, 2), strict=True))
    apart = [difference(a, b) if shares[0] > shares[1] else difference(b, a) for a, b in zip(first, second, strict=True)]
    found, planned = np.mean([one.low > 0 for one in apart]), power(design, sizes, shares)
    assert abs(found - planned) < 4.5 * np.sqrt(planned * (1 - planned) / draws)
    same = zip(first, printed(design, sizes[1], shares[0], 3, draws), strict=True)
    widths = [(one.high - one.low) / 2 for one in (difference(a, b) for a, b in same)]
    assert difference_half_width(design, sizes, share=shares[0]) / np.median(widths) == pytest.approx(1, abs=0.05)


def test_the_power_of_few_is_the_sum_over_every_pair_of_counts() -> None:
    design, sizes, shares = private(Channel.for_epsilon(4.0, 2)), (40, 15), (0.1, 0.5)
    every = [[estimate_share(count, n, q0=design.q0, q1=design.q1) for count in range(n + 1)] for n in sizes]
    first, second = (binom.pmf(np.arange(n + 1), n, design.rate(share)) for n, share in zip(sizes, shares, strict=True))
    beside = np.array([[difference(b, a).low > 0 for b in every[1]] for a in every[0]])
    assert power(design, sizes, shares) == pytest.approx(first @ beside @ second, abs=1e-6)
    assert power(design, sizes[::-1], shares[::-1]) == power(design, sizes, shares)


@pytest.mark.parametrize("n", [12, 300])
def test_one_number_is_the_size_of_each_of_two_groups(n: int) -> None:
    design = private(Channel.for_epsilon(2.0, 2))
    assert difference_half_width(design, n, share=0.1) == difference_half_width(design, (n, n), share=0.1)
    assert power(design, n, (0.1, 0.4)) == power(design, (n, n), (0.1, 0.4))


def test_of_large_groups_width_and_power_are_those_of_the_normal_distribution() -> None:
    design, n = private(Channel.for_epsilon(1.0, 2)), 4_000
    error = np.sqrt(2) * std_error(design, n, 0.5)
    assert difference_half_width(design, n, share=0.5) == pytest.approx(1.959964 * error)
    assert power(design, n, (0.45, 0.55)) == pytest.approx(norm.cdf(0.1 / error - 1.959964), abs=0.01)
    assert smallest_effect(design, (n, n)) == pytest.approx((1.959964 + 0.841621) * error, rel=0.02)


def test_the_larger_group_adds_little_to_what_the_smaller_one_leaves_open() -> None:
    design = private(Channel.for_epsilon(4.0, 2))
    alone = normal_half_width(design, 50, share=0.5)
    assert alone < difference_half_width(design, (1_000_000, 50), share=0.5) < 1.001 * alone
    apart = smallest_effect(design, (1_000, 50))
    assert apart is not None
    assert power(design, (1_000, 50), (0.5 - apart / 2, 0.5 + apart / 2)) == pytest.approx(0.8, abs=1e-6)
    assert smallest_effect(private(Channel.for_epsilon(1.0, 2)), (1_000, 3)) is None


def test_a_number_is_compared_by_its_means() -> None:
    number = private(Window.over_levels(1.0, 7, 6))
    width = difference_half_width(number, (400, 100), share=0.5)
    assert width == pytest.approx(np.hypot(normal_half_width(number, 400, share=0.5), normal_half_width(number, 100, share=0.5)))
    assert power(number, (400, 100), (0.5, 0.5 + width)) == pytest.approx(0.5, abs=0.02)  # a share beside 1/2 has a smaller error


@pytest.mark.parametrize(
    ("sizes", "message"),
    [((10, 0), "the second group must be a whole number of at least 1, got 0"), ((5, 5, 5), "groups must be two sizes, got 3")],
)
def test_sizes_that_make_no_sense_are_refused_by_name(sizes: tuple[int, int], message: str) -> None:
    design = private(Channel.for_epsilon(1.0, 2))
    with pytest.raises(EstimateError, match=message):
        difference_half_width(design, sizes)
    with pytest.raises(EstimateError, match=message):
        power(design, sizes, (0.1, 0.2))


def test_a_curators_noise_widens_both_sides_and_has_no_printed_interval() -> None:
    trusted = curator(1.0)
    assert difference_half_width(trusted, (100, 100)) == pytest.approx(difference_half_width(trusted, 100))
    with pytest.raises(EstimateError, match="noise must be 0 for the intervals of reports"):
        power(trusted, (100, 50), (0.1, 0.2))
