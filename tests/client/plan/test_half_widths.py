"""The planned widths of means, differences and cells are the largest that any true answers can give."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from deniable.errors import EstimateError
from deniable.estimate import mean
from deniable.estimate.moments import pseudo_answers
from deniable.mechanism import Channel
from deniable.plan import Mechanism, cell_half_width, mean_half_width, private, std_error
from deniable.plan.half_widths import difference_half_width
from deniable.survey import Survey
from deniable.wire.tally import Tally

Z = 1.959963984540054
CHANNELS = [Channel.for_epsilon(epsilon, k) for epsilon, k in ((1.0, 2), (1.0, 3), (2.0, 7), (4.0, 5))]
N = 10**9  # where no width is cut


def distributions(k: int, seed: int) -> list[np.ndarray]:
    """Many: even ones, lopsided ones, and those with one or two of the categories only."""
    rng = np.random.default_rng(seed)
    mixed = [rng.dirichlet(np.full(k, alpha)) for alpha in (0.05, 0.3, 1.0) for _ in range(300)]
    return [*mixed, *np.eye(k), *((np.eye(k)[i] + np.eye(k)[j]) / 2 for i in range(k) for j in range(i))]


@pytest.mark.parametrize("channel", CHANNELS)
def test_no_true_answers_make_a_mean_less_precise_than_planned(channel: Channel) -> None:
    scores = np.array([-1.0, 0.5, 1.0, 4.0, 9.0, 11.0, 12.0])[: channel.k]
    planned = mean_half_width(channel, scores.tolist(), N) / Z * math.sqrt(N)
    errors = [math.sqrt(pseudo_answers.variance_of(scores, p, [channel], 1.0)) for p in distributions(channel.k, 1)]
    assert max(errors) <= planned * 1.001
    assert max(errors) == pytest.approx(planned, rel=0.02)


@pytest.mark.parametrize("channel", CHANNELS[1:])
def test_those_who_may_skip_a_question_have_a_mean_of_their_own_by_the_ratio(channel: Channel) -> None:
    scores = np.arange(channel.k - 1.0)
    planned = mean_half_width(channel, scores.tolist(), N) / Z * math.sqrt(N)
    errors = []
    for p in distributions(channel.k - 1, 2):
        weights = np.append(scores - p @ scores, 0.0)  # the delta method's, where all answer
        errors.append(math.sqrt(pseudo_answers.variance_of(weights, np.append(p, 0.0), [channel], 1.0)))
    assert max(errors) <= planned * 1.001
    assert max(errors) == pytest.approx(planned, rel=0.02)


@pytest.mark.parametrize(("first", "second"), [(a, b) for a in CHANNELS[:3] for b in CHANNELS[:3]])
def test_no_true_answers_make_a_cell_less_precise_than_planned(first: Channel, second: Channel) -> None:
    planned = cell_half_width(first, second, N) / Z * math.sqrt(N)
    shares = [p.reshape(first.k, second.k) for p in distributions(first.k * second.k, 3)]
    cell = np.zeros((first.k, second.k))
    cell[0, 0] = 1.0
    mixed = [q * cell + (1 - q) * p for p in shares[-40:] for q in np.linspace(0, 1, 21)]
    found = [(pseudo_answers.squares(p, [first, second]) - p**2)[0, 0] for p in [*shares, *mixed]]
    assert math.sqrt(max(found)) <= planned * 1.001
    assert math.sqrt(max(found)) == pytest.approx(planned, rel=0.02)


@pytest.mark.parametrize("n", [12, 20])
def test_a_mean_of_few_is_printed_no_wider_than_planned_and_lies_within_it_as_often_as_is_said(n: int) -> None:
    survey = yes_no_survey(4)
    planned = mean_half_width(survey.items[0].channel, [1.0, 0.0], n)
    found = [mean(survey, Tally(n, np.array([[count]])), "a", [1.0, 0.0]) for count in range(n + 1)]
    chances = binom.pmf(range(n + 1), n, 0.5)  # of all counts, where half of the people say yes
    assert planned * 0.9 < chances @ [(one.high - one.low) / 2 for one in found] <= planned
    assert chances @ [abs(one.estimate - 0.5) <= planned for one in found] > 0.95


def test_a_mean_of_few_who_may_skip_it_is_printed_about_as_wide_as_planned() -> None:
    survey, n = yes_no_survey(2, required=False), 30
    planned = mean_half_width(survey.items[0].channel, [1.0, 0.0], n)
    rate = float(survey.items[0].channel.theta + survey.items[0].channel.phi) / 2  # where half say yes, and nobody skips it
    outcomes = [(yes, no) for yes in range(n + 1) for no in range(n + 1 - yes)]
    chances = multinomial.pmf([(yes, no, n - yes - no) for yes, no in outcomes], n, [rate, rate, 1 - 2 * rate])
    likely = [(chance, Tally(n, np.diag(outcome))) for chance, outcome in zip(chances, outcomes, strict=True) if chance > 1e-4]
    found = [(mean(survey, tally, "a", [1.0, 0.0, None]), chance) for chance, tally in likely]
    widths = sorted(((one.high - one.low) / 2, chance) for one, chance in found)
    median = next(width for place, (width, _) in enumerate(widths) if sum(chance for _, chance in widths[: place + 1]) >= 0.5)
    assert median == pytest.approx(planned, rel=0.03)


def yes_no_survey(epsilon: float, **keys: object) -> Survey:
    asked = {"id": "a", "text": "Q", "type": "yes_no", "epsilon": epsilon, **keys}
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "questions": [asked]})


def test_a_difference_has_the_errors_of_both_groups() -> None:
    coins = private(CHANNELS[0])
    assert difference_half_width(coins, 5_000, share=0.3) == pytest.approx(Z * math.sqrt(2) * std_error(coins, 5_000, 0.3))
    assert difference_half_width(coins, 5_000) > difference_half_width(coins, 5_000, share=0.1)


def test_no_width_is_more_than_half_of_what_is_possible() -> None:
    weak = Channel.for_epsilon(0.1, 5)
    assert mean_half_width(weak, [0.0, 10.0, 20.0, 30.0, 40.0], 3) == 20
    assert difference_half_width(Mechanism(0.49, 0.51), 3) == 1
    assert cell_half_width(weak, weak, 3) == 0.5


@pytest.mark.parametrize(("n", "confidence", "message"), [(0, 0.95, "n must be a whole number"), (9, 95, "confidence must be above 0")])
def test_what_makes_no_sense_is_refused_by_name(n: int, confidence: float, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        mean_half_width(CHANNELS[0], [0.0, 1.0], n, confidence=confidence)
    with pytest.raises(EstimateError, match=message):
        cell_half_width(CHANNELS[0], CHANNELS[0], n, confidence=confidence)
    with pytest.raises(EstimateError, match=message):
        difference_half_width(private(CHANNELS[0]), n, confidence=confidence)
