"""People who come by clinics: the planned width is that of the interval which results print for such a sample."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit

from deniable.errors import EstimateError
from deniable.estimate import Sample
from deniable.estimate.limits.interval import Interval
from deniable.estimate.samples.sampled_reports import SampledReports
from deniable.estimate.tables import sampled
from deniable.mechanism import Channel, Window
from deniable.plan import Clusters, Mechanism, curator, half_width, private
from deniable.plan.clusters import cluster_half_width, clusters_needed, effective_people, people_in_each, rho_of_log_odds
from deniable.plan.precision import normal_half_width, share_half_width
from deniable.survey import Survey
from deniable.wire.tally import Tally

COINS = private(Channel.for_epsilon(2.0, 2))
SD = 0.7  # of the clinics' log odds


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "middle"), [(1.0, 0.0), (2.0, -2.0), (4.0, 0.0)])
def test_twenty_clinics_have_the_width_and_the_error_that_were_planned(epsilon: float, middle: float) -> None:
    """Of 3,000 surveys: the estimates' spread within 4.5 of its errors, and the width that is printed of those in the middle within 5%.

    In the middle is a survey whose clinics differ as much as at the median, which is what its width depends on.
    """
    rng, clinics, people, surveys = np.random.default_rng(17), 20, 100, 3_000
    survey = yes_no_survey([f"Clinic {i}" for i in range(clinics)], epsilon)
    design = private(survey.items[0].channel)
    shares = expit(middle + SD * rng.normal(size=(surveys, clinics)))
    share, counts = float(expit(middle + SD * rng.normal(size=10**6)).mean()), rng.binomial(people, design.rate(shares))
    rho, n = rho_of_log_odds(SD, share), clinics * people
    variance = (design.rate(share) * (1 - design.rate(share)) / design.gap**2 + (people - 1) * rho * share * (1 - share)) / n
    assert np.std(counts.sum(axis=1) / n / design.gap) / np.sqrt(variance) == pytest.approx(1, abs=4.5 / np.sqrt(2 * surveys))
    middling = np.argsort(counts.std(axis=1))[surveys // 2 - 5 : surveys // 2 + 6]
    planned = cluster_half_width(design, n, Clusters(clinics, rho), share=share)
    assert planned / np.median([printed(survey, people, row) for row in counts[middling].tolist()]) == pytest.approx(1, abs=0.05)
    assert planned > 1.2 * normal_half_width(design, n, share=share)  # the control: clinics are felt


def printed(survey: Survey, people: int, counts: list[int]) -> float:
    tallies = {name: Tally(people, np.array([[count]])) for name, count in zip(survey.groups, counts, strict=True)}
    found = sampled.shares(SampledReports(survey, tallies, Sample(clusters="group")), survey.items[0], Interval())[0]
    return (found.high - found.low) / 2


def yes_no_survey(groups: list[str], epsilon: float) -> Survey:
    asked = {"id": "a", "text": "Q", "type": "yes_no", "epsilon": epsilon}
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "groups": groups, "questions": [asked]})


def test_the_correlation_is_that_of_drawn_clinics() -> None:
    drawn = expit(-1.5 + SD * np.random.default_rng(3).normal(size=10**6))
    share = float(drawn.mean())
    assert rho_of_log_odds(SD, share) == pytest.approx(drawn.var() / (share * (1 - share)), rel=0.01)
    assert rho_of_log_odds(0, 0.3) == pytest.approx(0, abs=1e-12)


def test_many_clusters_of_people_who_are_not_alike_cost_nothing() -> None:
    assert cluster_half_width(COINS, 5_000, Clusters(5_000, 0.3)) == pytest.approx(share_half_width(COINS, 5_000), rel=0.002)
    assert effective_people(COINS, 5_000, Clusters(1_000, 0.0)) == pytest.approx(5_000, rel=0.005)


def test_noise_makes_clusters_cost_less() -> None:
    """Without noise the design effect is Kish's; the coins of two people of one clinic are their own."""
    n, m, rho = 100_000, 20, 0.1
    exact = Mechanism(0.0, 1.0)
    assert n / effective_people(exact, n, Clusters(n // m, rho)) == pytest.approx(1 + (m - 1) * rho, rel=0.002)
    noisy = private(Channel.for_epsilon(0.5, 2))
    assert 1 < n / effective_people(noisy, n, Clusters(n // m, rho)) < 1.15


@pytest.mark.parametrize("design", [COINS, private(Channel.for_epsilon(1.0, 7))])
def test_the_hardest_share_is_the_one_with_the_fewest_effective_people(design: Mechanism) -> None:
    shares = np.linspace(0, 1, 101)
    widths = [
        normal_half_width(design, 1, share=p) / np.sqrt(effective_people(design, 20_000, Clusters(200, 0.1), share=p)) for p in shares
    ]
    hardest = cluster_half_width(design, 20_000, Clusters(200, 0.1))
    assert half_width(design, 20_000, clusters=Clusters(200, 0.1)) == hardest
    assert hardest == pytest.approx(max(widths), rel=0.01)


def test_so_many_clusters_or_people_in_each_are_enough_and_one_less_is_not() -> None:
    clusters = clusters_needed(COINS, 0.05, 50, 0.05)
    assert cluster_half_width(COINS, 50 * clusters, Clusters(clusters, 0.05)) <= 0.05
    assert cluster_half_width(COINS, 50 * (clusters - 1), Clusters(clusters - 1, 0.05)) > 0.05
    people = people_in_each(COINS, 0.06, 40, 0.05)
    assert (
        cluster_half_width(COINS, 40 * people, Clusters(40, 0.05))
        <= 0.06
        < cluster_half_width(COINS, 40 * (people - 1), Clusters(40, 0.05))
    )


def test_a_number_has_the_largest_width_of_its_mean() -> None:
    number = private(Window.over_levels(1.0, 7, 6))
    alone = share_half_width(number, 2_000)
    assert alone < cluster_half_width(number, 2_000, Clusters(20, 0.05)) < 3 * alone


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: half_width(COINS, (50, 50), clusters=Clusters(10, 0.1)), "clusters must be left out for the difference of two groups"),
        (lambda: cluster_half_width(COINS, 100, Clusters(1, 0.1)), "clusters must be at least 2 and at most the 100 people, got 1"),
        (lambda: cluster_half_width(COINS, 100, Clusters(10, 1.5)), "rho must be from 0 to 1, got 1.5"),
        (lambda: cluster_half_width(COINS, 100, Clusters(10, 0.1), share=2), "share must be from 0 to 1"),
        (lambda: cluster_half_width(COINS, 100, Clusters(10, 0.1), confidence=95), "confidence must be above 0 and below 1"),
        (lambda: cluster_half_width(curator(1.0), 100, Clusters(10, 0.1)), "noise must be 0 for the intervals of reports"),
        (lambda: clusters_needed(COINS, 3, 10, 0.1), "half_width must be above 0 and below 1, got 3"),
        (lambda: people_in_each(COINS, 0.01, 5, 0.1), "no number of people in each of 5 clusters gives a half-width of 0.01"),
        (lambda: rho_of_log_odds(-1, 0.5), "sd must be from 0 to 10, got -1"),
        (lambda: rho_of_log_odds(1, 0.0), "share must be above 0 and below 1"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call: Callable[[], float], message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        call()
