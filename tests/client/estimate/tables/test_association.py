"""Association of two perturbed questions."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from deniable.errors import EstimateError
from deniable.estimate import Crosstab, crosstab, joint
from deniable.estimate.tables import conditional_share, cramers_v, independence, odds_ratio, phi_coefficient
from deniable.survey import Survey
from deniable.wire.tally import Tally

Floats = np.ndarray[Any, np.dtype[np.float64]]


def survey_of(a: int, b: int, epsilon: float | str = "ln 3") -> Survey:
    def question(name: str, k: int) -> dict[str, Any]:
        kind: dict[str, Any] = {"type": "yes_no"} if k == 2 else {"type": "choice", "options": [f"{name}{i}" for i in range(k)]}
        return {"id": name, "text": "?", "epsilon": epsilon, **kind}

    questions = [question("a", a), question("b", b)]
    return Survey.from_dict({"deniable": 1, "id": "pairs", "title": "T", "about": "A test.", "questions": questions})


COINS = survey_of(2, 2)


def worked(n: int = 2000, **options: Any) -> Crosstab:
    """Two Warner 0.75 variables, counts 771/433/433/363 (00, 01, 10, 11), or as many times more reports."""
    return crosstab(COINS, Tally(n, np.array([[796, 363], [363, 796]]) * (n // 2000)), "a", "b", **options)


def tallies(survey: Survey, truth: Floats, n: int, runs: int, seed: int) -> list[Tally]:
    """Tallies of n reports each, from the multinomial distribution of all pairs of subsets."""
    parts = []
    for question in survey.questions:
        k, d, theta = question.k, question.d, float(question.channel.theta)
        bits = np.array([[i in chosen for i in range(k)] for chosen in combinations(range(k), d)], dtype=np.int64)
        parts.append((bits, np.where(bits.T, theta / math.comb(k - 1, d - 1), (1 - theta) / math.comb(k - 1, d))))
    (a, chance_a), (b, chance_b) = parts
    chances = (chance_a.T @ truth @ chance_b).ravel()
    both = np.column_stack([np.repeat(a[:, :-1], len(b), axis=0), np.tile(b[:, :-1], (len(a), 1))])
    draws = np.random.default_rng(seed).multinomial(n, chances / chances.sum(), size=runs)
    return [Tally(n, (both.T * counts) @ both) for counts in draws]


def test_phi_of_the_worked_case() -> None:
    one = phi_coefficient(worked())
    assert one.estimate == pytest.approx(0.443335381, abs=1e-9)
    assert one.low < one.estimate < one.high
    perturbed = (363 * 771 - 433 * 433) / (796 * 1204)
    assert perturbed < 0.1, "control: the perturbed answers hardly go together"


def test_phi_has_the_error_of_the_delta_method() -> None:
    """Against numerical derivatives, with the covariance of the four cells."""
    table = crosstab(COINS, Tally(2000, np.array([[796, 413], [413, 896]])), "a", "b")

    def of(cells: Floats) -> float:
        p, q = cells[0] + cells[1], cells[0] + cells[2]
        return float((cells[0] - p * q) / math.sqrt(p * (1 - p) * q * (1 - q)))

    cells = table.shares.ravel()
    steps = np.eye(4) * 1e-6
    # cells that no longer add to 1 are not touched by the last one, as in the formula used
    gradient = np.array([(of(cells + step) - of(cells - step)) / 2e-6 for step in steps])
    assert phi_coefficient(table).std_error == pytest.approx(math.sqrt(gradient @ table.covariance @ gradient), rel=1e-6)


def test_for_yes_no_the_test_of_independence_is_that_of_pearson_on_the_reports() -> None:
    expected = stats.chi2_contingency([[771, 433], [433, 363]], correction=False)
    found = independence(worked())
    assert (found.statistic, found.df, found.p_value) == pytest.approx((expected.statistic, 1, expected.pvalue))


def test_with_one_bit_set_of_k_the_test_of_independence_is_that_of_pearson_on_the_reports() -> None:
    survey = survey_of(3, 4, 2.0)
    assert [question.d for question in survey.questions] == [1, 1]
    counts = np.random.default_rng(1).integers(50, 200, (3, 4))
    pairs = np.zeros((5, 5), dtype=np.int64)
    pairs[:2, 2:] = counts[:2, :3]
    pairs += pairs.T
    np.fill_diagonal(pairs, [*counts.sum(axis=1)[:2], *counts.sum(axis=0)[:3]])
    expected = stats.chi2_contingency(counts, correction=False)
    found = independence(crosstab(survey, Tally(int(counts.sum()), pairs), "a", "b"))
    assert (found.statistic, found.df, found.p_value) == pytest.approx((expected.statistic, 6, expected.pvalue))


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b", "epsilon", "n"), [(2, 2, "ln 3", 2000), (3, 3, 2.0, 20_000), (5, 8, 1.0, 2000)])
def test_the_test_of_independence_gives_false_alarms_in_5_of_100_surveys(a: int, b: int, epsilon: float | str, n: int) -> None:
    """The coverage atlas has more cells; fixed seed. 1,500 surveys: 5% is known to 0.6%."""
    survey = survey_of(a, b, epsilon)
    truth = np.outer(*(np.arange(1, k + 1) / np.arange(1, k + 1).sum() for k in (a, b)))
    alarms = [independence(crosstab(survey, tally, "a", "b")).p_value < 0.05 for tally in tallies(survey, truth, n, 1500, seed=4)]
    assert np.mean(alarms) == pytest.approx(0.05, abs=0.015)


def test_a_test_that_takes_the_estimates_for_counts_would_give_many_more() -> None:
    """Control: Pearson's test of the estimated shares times n ignores the noise of the coins."""
    truth, alarms = np.outer([0.4, 0.6], [0.3, 0.7]), []
    for tally in tallies(COINS, truth, 2000, 100, seed=5):
        table = crosstab(COINS, tally, "a", "b")
        counts = np.maximum(table.shares, 1e-9) * table.n
        alarms.append(stats.chi2_contingency(counts, correction=False).pvalue < 0.05)
    assert np.mean(alarms) > 0.3


def test_answers_that_go_together_are_found_out() -> None:
    assert independence(worked(20_000)).p_value < 1e-9


def test_an_option_that_was_never_reported_leaves_a_test_that_finds_nothing() -> None:
    survey = survey_of(2, 2, 4)
    table = crosstab(survey, Tally(100, np.array([[0, 0], [0, 50]])), "a", "b")
    assert independence(table).p_value > 0.3


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b", "epsilon", "n"), [(2, 2, "ln 3", 2000), (3, 4, 2.0, 20_000)])
def test_association_is_covered_as_often_as_the_intervals_say(a: int, b: int, epsilon: float | str, n: int) -> None:
    """The coverage atlas has more cells; fixed seed. 600 surveys: 95% is known to 0.9%."""
    survey = survey_of(a, b, epsilon)
    p, q = (np.arange(2, k + 2) / np.arange(2, k + 2).sum() for k in (a, b))
    truth = 0.75 * np.outer(p, q)
    for i in range(a):
        truth[i, i] += 0.25 * p[i]
    rows, cols = truth.sum(axis=1), truth.sum(axis=0)
    v = math.sqrt((((truth - np.outer(rows, cols)) ** 2) / np.outer(rows, cols)).sum() / (min(a, b) - 1))
    wanted = {"V": v, "odds": truth[0, 0] * truth[1, 1] / truth[0, 1] / truth[1, 0], "given": truth[0, 0] / rows[0]}
    hits: dict[str, list[bool]] = {name: [] for name in wanted}
    names = [question.categories[:2] for question in survey.questions]
    for tally in tallies(survey, truth, n, 600, seed=6):
        table = crosstab(survey, tally, "a", "b")
        given = conditional_share(table, {"b": names[1][0]}, {"a": names[0][0]})
        found = {"V": cramers_v(table), "odds": odds_ratio(table, *names), "given": given}
        for name, one in found.items():
            hits[name].append(one.low <= wanted[name] <= one.high)
    for name, inside in hits.items():
        assert np.mean(inside) == pytest.approx(0.95, abs=0.025), name


def test_cramers_v_is_near_0_for_independent_answers_though_the_noise_is_not() -> None:
    survey = survey_of(4, 4, 2.0)
    truth = np.full((4, 4), 1 / 16)
    tables = [crosstab(survey, tally, "a", "b") for tally in tallies(survey, truth, 2000, 100, seed=8)]
    plain = [math.sqrt(((t.shares - 1 / 16) ** 2 * 16).sum() / 3) for t in tables]
    ours = [cramers_v(table) for table in tables]
    assert np.mean([one.estimate for one in ours]) < 0.06
    assert np.mean(plain) > 0.1, "control: without the correction noise looks like association"
    assert np.mean([one.low == 0 for one in ours]) >= 0.9
    assert min(one.high for one in ours) > 0


def test_cramers_v_of_a_yes_no_table_is_phi_with_many_reports() -> None:
    one, other = cramers_v(worked(2_000_000)), phi_coefficient(worked(2_000_000))
    assert one.estimate == pytest.approx(other.estimate, rel=1e-3)
    assert (one.low, one.high, one.std_error) == pytest.approx((other.low, other.high, other.std_error), rel=2e-3)


def test_cramers_v_of_exactly_independent_counts_is_0() -> None:
    table = crosstab(COINS, Tally(1600, np.array([[800, 400], [400, 800]])), "a", "b")
    one = cramers_v(table)
    assert (one.estimate, one.low) == (0, 0)
    assert 0 < one.high < 0.5
    assert one.std_error > 0


def test_the_odds_ratio_of_the_worked_case() -> None:
    one = odds_ratio(worked())
    assert one.estimate == pytest.approx(0.18 * 0.588 / 0.116**2)
    assert 1 < one.low < one.estimate < one.high
    other = odds_ratio(worked(), ("no", "yes"), ("yes", "no"))
    assert other.estimate == pytest.approx(1 / one.estimate)
    assert (other.low, other.high) == pytest.approx((1 / one.high, 1 / one.low)), "no matter which is over which"


def test_a_share_among_those_who_said_so() -> None:
    one = conditional_share(worked(), {"b": "yes"}, among={"a": "yes"})
    assert one.estimate == pytest.approx(0.18 / 0.296)
    assert one.what == "b = yes among a = yes"
    everybody = conditional_share(worked(), {"b": "yes"}, among={"a": ["yes", "no"]})
    margin = worked().share({"b": "yes"})
    assert (everybody.estimate, everybody.std_error) == pytest.approx((margin.estimate, margin.std_error), rel=1e-6)


def test_a_share_among_those_who_answered_two_questions_so() -> None:
    survey = Survey.from_dict(
        {
            "deniable": 1,
            "id": "three",
            "title": "T",
            "about": "A test.",
            "accept_high_epsilon": True,
            "questions": [{"id": name, "text": "?", "type": "yes_no", "epsilon": 4} for name in "abc"],
        }
    )
    bits = np.random.default_rng(3).random((4000, 3)) < 0.5
    table = joint(survey, bits, ["a", "b", "c"])
    one = conditional_share(table, {"c": "yes"}, among={"a": "yes", "b": "no"})
    assert one.estimate == pytest.approx(table.shares[0, 1, 0] / table.shares[0, 1].sum())
    with pytest.raises(EstimateError, match="the table must be of two questions, got 2 by 2 by 2 options"):
        independence(table)


def test_a_share_among_hardly_anybody_says_that_the_reports_exclude_nothing() -> None:
    few = crosstab(COINS, Tally(400, np.array([[105, 40], [40, 160]])), "a", "b")
    one = conditional_share(few, {"b": "yes"}, among={"a": "yes"})
    assert (one.low, one.high) == (0, 1)
    assert str(one).endswith("its denominator is not clearly above 0: the reports exclude nothing that is possible")
    with pytest.raises(EstimateError, match=r"b = yes among a = yes: the denominator must be above 0, got -0\.025"):
        conditional_share(crosstab(COINS, Tally(400, np.array([[95, 40], [40, 160]])), "a", "b"), {"b": "yes"}, among={"a": "yes"})
    with pytest.raises(EstimateError, match=r"phi: every option's share must be clearly above 0, got 0.025 .* for yes of a"):
        phi_coefficient(few)
    with pytest.raises(EstimateError, match="Cramér's V: every option's share must be clearly above 0"):
        cramers_v(few)


def test_an_odds_ratio_over_what_may_be_0_is_refused_with_the_reason() -> None:
    with pytest.raises(EstimateError, match="odds ratio of a and b: both shares of the denominator must be above 0"):
        odds_ratio(crosstab(COINS, Tally(400, np.array([[200, 160], [160, 200]])), "a", "b"))
    one = odds_ratio(crosstab(COINS, Tally(400, np.array([[170, 85], [85, 170]])), "a", "b"))
    assert 0 < one.low < one.high == math.inf
    assert "bound it on one side only" in one.warning


def test_phi_is_for_two_options_each() -> None:
    survey = survey_of(3, 2)
    table = crosstab(survey, Tally(1000, np.diag([400, 300, 500])), "a", "b")
    with pytest.raises(EstimateError, match="phi needs a table of 2 by 2 options, got 3 by 2"):
        phi_coefficient(table)
    with pytest.raises(EstimateError, match=r"two different options of question a must be named \(a0, a1, a2\)"):
        odds_ratio(table)
    with pytest.raises(EstimateError, match=r"two different options of question a must be named"):
        odds_ratio(table, ("a0", "a0"))


@pytest.mark.parametrize("n", [2000, 400_000])
@pytest.mark.parametrize(
    ("of", "given", "message"),
    [
        ({"a": "yes"}, {"a": "no"}, "`of` must select some of the people in `among`, got a = yes among a = no, none; name other options"),
        ({"a": "yes"}, {"a": "yes"}, "`of` must select some of the people in `among`, got a = yes among a = yes, all; name fewer options"),
        ({"a": ["yes", "no"]}, {"b": "yes"}, "`of` must select some of the people in `among`, got a = yes or no among b = yes, all"),
        ({}, {"a": "yes"}, "of must name options of at least one question, got none"),
        ({"a": []}, {"b": "yes"}, r"the options of question a must be one or several, as text, got \[\]"),
        ({"a": "yes"}, {"b": []}, r"the options of question b must be one or several, as text, got \[\]"),
        ({"a": 3}, {"b": "yes"}, "the options of question a must be one or several, as text, got 3"),
    ],
)
def test_a_share_that_is_known_of_everybody_has_no_figure(n: int, of: Any, given: Any, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        conditional_share(worked(n), of, given)


def test_the_share_among_all_is_the_share() -> None:
    assert conditional_share(worked(), {"a": "yes"}, {}) == worked().share({"a": "yes"})
