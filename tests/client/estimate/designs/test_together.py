"""Two questions at once, means and weights, of reports collected by hand."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from deniable.errors import EstimateError
from deniable.estimate import collected, designs, share

WARNER = designs.warner(0.75)
FORCED = designs.forced_categories("abc", [0.1, 0.1, 0.2])


def tossed(truth: Any, design: Any, rng: np.random.Generator) -> Any:
    """Codes of reports from codes of answers."""
    return (rng.random(len(truth)) > design.matrix.cumsum(axis=0)[:, truth]).sum(axis=0)


def words(codes: Any, labels: Any) -> list[str]:
    return [labels[code] for code in codes]


def test_a_cross_table_of_two_yes_no_questions_comes_out_as_worked() -> None:
    """Counts 771, 433, 433, 363 of no & no, no & yes, yes & no, yes & yes: .588, .116, .116, .18."""
    first = ["no"] * 771 + ["no"] * 433 + ["yes"] * 433 + [True] * 363
    second = ["no"] * 771 + ["yes"] * 433 + ["No"] * 433 + [1] * 363
    found = designs.collected_pair((first, WARNER), (second, WARNER))
    assert [row.category for row in found.rows] == ["yes & yes", "yes & no", "no & yes", "no & no"]
    assert [row.estimate for row in found.rows] == pytest.approx([0.18, 0.116, 0.116, 0.588])
    assert found.epsilon == pytest.approx(2 * WARNER.epsilon)
    assert all(0 <= row.low < row.estimate < row.high <= 1 for row in found.rows)
    margin = collected(first, WARNER).rows[0]
    assert found.rows[0].estimate + found.rows[1].estimate == pytest.approx(margin.estimate)


def test_cross_tables_may_have_different_designs_and_groups() -> None:
    found = designs.collected_pair((["yes", "no"] * 20, designs.mangat(0.7)), (list("abca") * 10, FORCED), by=["x", "y"] * 20)
    assert len(found.rows) == 2 * 6
    assert found.rows[0].category == "yes & a"
    assert sum(row.estimate for row in found.rows[:6]) == pytest.approx(1)
    assert found.epsilon is None


def test_the_test_of_independence_is_pearsons_of_the_reports() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2, 400), rng.integers(0, 3, 400)
    found = designs.independent_answers((words(a, ["yes", "no"]), WARNER), (words(b, "abc"), FORCED))
    counts = np.bincount(a * 3 + b, minlength=6).reshape(2, 3)
    assert (found.statistic, found.p_value, found.df) == pytest.approx(chi2_contingency(counts, correction=False)[:3])


@pytest.mark.slow
def test_independent_answers_are_rarely_called_dependent_and_dependent_ones_are_found() -> None:
    rng, alarms, caught = np.random.default_rng(6), 0, 0
    for _ in range(150):
        a, b = rng.integers(0, 2, 300), rng.integers(0, 3, 300)
        alone = tossed(b, FORCED, rng)
        bound = tossed(np.where(rng.random(300) < 0.8, a, b), FORCED, rng)
        reports = words(tossed(a, WARNER, rng), ["yes", "no"]), WARNER
        alarms += designs.independent_answers(reports, (words(alone, "abc"), FORCED)).p_value < 0.05
        caught += designs.independent_answers(reports, (words(bound, "abc"), FORCED)).p_value < 0.05
    assert alarms <= 17  # 7.5 on average; more with a chance of 0.1%
    assert caught > 100


def test_a_mean_is_unbiased_over_all_outcomes() -> None:
    """Three people: answers a, b and c, with scores 1, 2 and 5."""
    mean = 0.0
    for reports in product(range(3), repeat=3):
        chance = np.prod([FORCED.matrix[report, answer] for answer, report in enumerate(reports)])
        mean += chance * designs.collected_mean(words(reports, "abc"), FORCED, [1, 2, 5]).estimate
    assert mean == pytest.approx(8 / 3)


def test_without_weights_the_mean_of_yes_and_no_is_the_share() -> None:
    for ones, n in ((30, 100), (0, 20), (20, 20), (3, 7)):
        mean, one = designs.collected_mean([1] * ones + [0] * (n - ones), WARNER), share(ones, n, q0=0.25, q1=0.75)
        assert (mean.estimate, mean.low, mean.high) == pytest.approx((one.estimate, one.low, one.high), abs=1e-6)
        assert mean.std_error > 0
        mirrored = designs.collected_mean([1] * ones + [0] * (n - ones), WARNER, [0, 10])
        assert (mirrored.low, mirrored.high) == pytest.approx((10 - 10 * one.high, 10 - 10 * one.low), abs=1e-5)


def test_only_ratios_of_weights_matter_and_a_weight_of_2_is_more_than_one_report_and_less_than_two() -> None:
    reports, weights = [1, 0, 0, 1, 1, 0] * 10, [2.0, 1, 1, 1, 1, 2] * 10
    weighted = designs.collected_mean(reports, WARNER, weights=weights)
    scaled = designs.collected_mean([*reports, 1], WARNER, weights=[*(7 * np.array(weights)), 0])
    assert (scaled.estimate, scaled.std_error, scaled.low) == pytest.approx((weighted.estimate, weighted.std_error, weighted.low))
    assert scaled.n == 60
    w, pseudo = np.array(weights), (np.array(reports) - 0.25) / 0.5
    assert weighted.std_error == pytest.approx(math.sqrt(w**2 @ (pseudo - weighted.estimate) ** 2) / w.sum())
    doubled = designs.collected_mean([r for r, w in zip(reports, weights, strict=True) for _ in range(int(w))], WARNER)
    assert weighted.estimate == pytest.approx(doubled.estimate)
    assert weighted.std_error > doubled.std_error


@pytest.mark.slow
def test_weighted_means_hold_the_truth() -> None:
    """Fixed seed; 400 surveys: 95% is known to 1.1%."""
    rng, held = np.random.default_rng(7), 0
    for _ in range(400):
        weights, yes = rng.lognormal(0, 0.6, 60), rng.random(60) < 0.1
        one = designs.collected_mean(np.where(rng.random(60) < 0.75, yes, ~yes), WARNER, weights=weights)
        held += one.low <= 0.1 <= one.high
    assert held >= 366


@pytest.mark.parametrize("said", [0, 1])
@pytest.mark.parametrize("epsilon", [1.0, 4.0, 8.0])
def test_reports_of_a_pair_that_are_all_alike_have_an_error_and_accuse_nobody_where_coins_are_rare(epsilon: float, said: int) -> None:
    part = 1 / (1 + math.exp(epsilon))
    die = designs.forced_response(part, part)
    rows = designs.collected_pair(([said] * 20, die), ([0] * 20, die)).rows
    assert all(row.std_error > 0.01 and row.low < row.high for row in rows)
    assert epsilon == 1.0 or not any("more than chance" in row.warning for row in rows)


def test_answers_all_alike_still_have_an_interval_with_a_width() -> None:
    one = designs.collected_mean(["a"] * 20, FORCED, [1, 2, 5])
    assert 1 <= one.low < one.high <= 5
    assert one.std_error > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: designs.collected_mean([1, 0], WARNER, [1, 1]), "scores must be 2 finite numbers, .* not all equal"),
        (lambda: designs.collected_mean(["a"], FORCED), "scores must be 3 finite numbers"),
        (lambda: designs.collected_mean([1, 0], WARNER, weights=[1]), "weights must be 2 finite numbers, one a report"),
        (lambda: designs.collected_mean([1, 0], WARNER, weights=[0, 0]), "none below 0 and one above"),
        (lambda: designs.collected_mean([1, 0], WARNER, weights=["a", "b"]), "weights must be numbers, one a report"),
        (lambda: designs.collected_mean([], WARNER), "there must be at least 1 report, got 0"),
        (lambda: designs.collected_mean([1, "secret"], WARNER), r"row 2: the report must be one of yes, no \(1 rows are not\)"),
        (lambda: designs.collected_pair(([1, 0], WARNER), ([1], WARNER)), "a report of each respondent, got 2 and 1"),
        (lambda: designs.independent_answers(([1, 1], WARNER), ([1, 0], WARNER)), "each category needs at least one report"),
    ],
)
def test_what_cannot_be_is_refused(make: Any, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        make()
