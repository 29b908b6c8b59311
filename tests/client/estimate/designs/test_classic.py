"""The classic designs: what they do to an answer, the worked cases, per-row designs, any matrix, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from deniable.errors import EstimateError
from deniable.estimate import collected, designs, share
from deniable.estimate.designs import CategoryDesign, Design, RowDesigns, category_shares
from deniable.estimate.designs.varying_designs import Strata
from deniable.estimate.limits.interval import Interval


def reports(ones: int, n: int) -> list[int]:
    return [1] * ones + [0] * (n - ones)


CARRIED_OUT: list[tuple[Design, Callable[[bool, np.random.Generator], bool]]] = [
    (designs.warner(0.7), lambda yes, rng: yes if rng.random() < 0.7 else not yes),
    (
        designs.forced_response(forced_yes=0.2, forced_no=0.1),
        lambda yes, rng: bool(rng.choice([1, 0, int(yes)], p=[0.2, 0.1, 0.7])),
    ),
    (designs.unrelated_question(0.6, 0.25), lambda yes, rng: yes if rng.random() < 0.6 else rng.random() < 0.25),
    (designs.crosswise(0.2), lambda yes, rng: yes == (rng.random() < 0.2)),
    (designs.triangular(0.3), lambda yes, rng: yes or rng.random() < 0.3),
    (designs.kuk(p_yes=0.3, p_no=0.8), lambda yes, rng: rng.random() < (0.3 if yes else 0.8)),
    (designs.mangat(0.7), lambda yes, rng: yes or (rng.random() >= 0.7)),
]


@pytest.mark.parametrize(("design", "carried_out"), CARRIED_OUT, ids=lambda x: x.name.split(" (")[0] if isinstance(x, Design) else "")
def test_a_design_carried_out_by_people_has_the_chances_that_it_declares(design: Design, carried_out: Any) -> None:
    rng, n = np.random.default_rng(1), 5_000
    for truth, chance in ((True, design.q1), (False, design.q0)):
        yes = sum(carried_out(truth, rng) for _ in range(n))
        assert binom.cdf(yes, n, chance) > 1e-7
        assert binom.sf(yes - 1, n, chance) > 1e-7
    assert design.matrix.sum(axis=0) == pytest.approx([1, 1])


def test_a_forced_response_with_yes_and_no_confused_would_be_noticed() -> None:
    assert designs.forced_response(0.2, 0.1) != designs.forced_response(0.1, 0.2)
    assert designs.forced_response(0.2, 0.1).q0 == 0.2
    assert designs.forced_response(0.2, 0.1).q1 == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("design", "epsilon"),
    [
        (designs.warner(0.75), math.log(3)),
        (designs.warner(0.25), math.log(3)),
        (designs.forced_response(1 / 6, 1 / 6), math.log(5)),
        (designs.triangular(0.3), math.inf),
        (designs.mangat(0.7), math.inf),
        (designs.forced_categories("abcd", [0.125] * 4), math.log(5)),
    ],
)
def test_what_a_report_gives_away(design: Design, epsilon: float) -> None:
    assert design.epsilon == pytest.approx(epsilon)


def test_the_survey_in_nigeria_comes_out_as_published_with_n_not_n_less_1_in_the_error() -> None:
    sex = ["women"] * 1123 + ["men"] * 1312
    answers = reports(334, 1123) + reports(497, 1312)
    design = designs.forced_response(1 / 6, 1 / 6)
    everybody = collected(answers, design).rows[0]
    assert (everybody.ones, everybody.n) == (831, 2435)
    assert everybody.estimate == pytest.approx(0.261909651, abs=1e-9)
    assert everybody.std_error == pytest.approx(0.014415666 * math.sqrt(2434 / 2435), abs=1e-9)
    by_sex = {(row.group, row.category): row for row in collected(answers, design, by=sex).rows}
    assert by_sex["women", "yes"].estimate == pytest.approx(0.196126, abs=1e-6)
    assert by_sex["men", "yes"].estimate == pytest.approx(0.318216, abs=1e-6)
    assert by_sex["men", "no"].estimate == pytest.approx(1 - 0.318216, abs=1e-6)
    assert list(by_sex) == [("men", "yes"), ("men", "no"), ("women", "yes"), ("women", "no")]


@pytest.mark.parametrize(
    ("ones", "n", "estimate", "told"),
    [(30, 100, 0.1, ""), (10, 50, -0.1, "below 0 by chance"), (800, 1000, 1.1, "above 100% by more than chance")],
)
def test_warners_worked_cases_stay_where_they_are_and_are_explained(ones: int, n: int, estimate: float, told: str) -> None:
    yes, no = collected(reports(ones, n), designs.warner(0.75)).rows
    assert yes.estimate == pytest.approx(estimate, abs=1e-9)
    assert no.estimate == pytest.approx(1 - estimate, abs=1e-9)
    assert yes.warning.startswith(told)
    assert bool(yes.warning) == bool(told)
    assert 0 <= yes.low < yes.high <= 1
    assert (no.low, no.high) == pytest.approx((1 - yes.high, 1 - yes.low))
    if n == 100:
        assert yes.std_error * math.sqrt(100 / 99) == pytest.approx(0.092113, abs=1e-6)


def test_a_crosswise_design_with_a_rare_harmless_yes_decreases_and_still_gives_the_share() -> None:
    rising, falling = collected(reports(300, 1000), designs.crosswise(0.75)), collected(reports(700, 1000), designs.crosswise(0.25))
    assert rising.rows[0].estimate == pytest.approx(falling.rows[0].estimate)
    assert (rising.rows[0].low, rising.rows[0].high) == pytest.approx((falling.rows[0].low, falling.rows[0].high))
    below = collected(reports(900, 1000), designs.crosswise(0.25)).rows[0]
    assert below.estimate == pytest.approx(-0.3)
    assert below.warning.startswith("below 0 by more than chance")


def test_a_rare_outside_estimate_is_by_chance_and_a_far_one_is_not_in_a_falling_design() -> None:
    assert collected(reports(38, 50), designs.warner(0.25)).rows[0].warning.startswith("below 0 by chance")
    assert collected(reports(48, 50), designs.warner(0.25)).rows[0].warning.startswith("below 0 by more than chance")


K_ARY = "a" * 420 + "b" * 260 + "c" * 190 + "d" * 130


def test_k_ary_randomized_response_comes_out_as_worked() -> None:
    found = collected(list(K_ARY), designs.forced_categories("abcd", [0.125] * 4))
    assert [row.estimate for row in found.rows] == pytest.approx([0.59, 0.27, 0.13, 0.01], abs=1e-9)
    assert found.rows[3].method == "feldman-cousins"
    as_matrix = designs.matrix_design("abcd", 0.125 + 0.5 * np.eye(4))
    assert collected(list(K_ARY), as_matrix).rows == found.rows
    estimates, covariance = category_shares([420, 260, 190, 130], as_matrix.matrix)
    assert estimates == pytest.approx([0.59, 0.27, 0.13, 0.01], abs=1e-9)
    assert np.sqrt(np.diagonal(covariance)) == pytest.approx([row.std_error for row in found.rows])
    assert covariance.sum() == pytest.approx(0, abs=1e-15)  # the shares add to 1


def test_two_warner_variables_at_once_are_a_matrix_of_four_categories() -> None:
    one = designs.warner(0.75).matrix
    estimates, _ = category_shares([771, 433, 433, 363], np.kron(one, one))
    assert estimates == pytest.approx([0.588, 0.116, 0.116, 0.18], abs=1e-9)
    a = estimates.reshape(2, 2)
    rows, columns = a.sum(axis=1), a.sum(axis=0)
    assert (a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]) / math.sqrt(rows.prod() * columns.prod()) == pytest.approx(0.443335381, abs=1e-9)


def test_the_device_may_order_some_categories_more_often_than_others() -> None:
    design = designs.forced_categories("abc", [0.2, 0.1, 0])
    assert design.matrix == pytest.approx(np.array([[0.9, 0.2, 0.2], [0.1, 0.8, 0.1], [0, 0, 0.7]]))


CROOKED = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.3], [0.1, 0.1, 0.6]])


@pytest.mark.slow
def test_any_matrix_is_unbiased_and_its_covariance_is_right() -> None:
    rng, truth, n = np.random.default_rng(2), np.array([0.5, 0.3, 0.2]), 400
    runs = np.array([category_shares(counts, CROOKED)[0] for counts in rng.multinomial(n, CROOKED @ truth, 20_000)])
    covariance = category_shares(np.round(CROOKED @ truth * 100_000).astype(int), CROOKED)[1] * 100_000 / n
    assert runs.mean(axis=0) == pytest.approx(truth, abs=6 * math.sqrt(covariance.max() / 20_000))
    assert np.cov(runs.T) == pytest.approx(covariance, rel=0.08)
    transposed = np.array([category_shares(c, CROOKED.T / CROOKED.T.sum(axis=0))[0] for c in rng.multinomial(n, CROOKED @ truth, 200)])
    assert np.abs(transposed.mean(axis=0) - truth).max() > 0.02


def test_a_matrix_whose_reports_are_no_bit_has_normal_intervals_inside_0_and_1() -> None:
    found = collected(["a"] * 70 + ["b"] * 20 + ["c"] * 5, designs.matrix_design("abc", CROOKED))
    assert [row.method for row in found.rows] == ["normal", "normal", "feldman-cousins"]  # c is reported with 0.1 under a and b alike
    assert all(0 <= row.low < row.high <= 1 for row in found.rows)
    assert all(row.low < row.high for row in collected(["a"] * 3, designs.matrix_design("abc", CROOKED)).rows)
    assert found.rows[0].estimate > 1
    assert found.rows[0].warning.startswith("above 100% by chance")
    with pytest.raises(EstimateError, match="target must be population"):
        collected(["a", "b"], designs.matrix_design("abc", CROOKED), target="respondents")


def mixed(n: int, share_of_yes: float, rng: np.random.Generator, target: str = "population") -> tuple[Any, RowDesigns]:
    p = rng.choice([0.6, 0.75, 0.1], n)  # a design that decreases among them
    yes = rng.random(n) < share_of_yes if target == "population" else np.arange(n) < share_of_yes * n
    return np.where(rng.random(n) < p, yes, ~yes), RowDesigns(1 - p, p)


@pytest.mark.slow
@pytest.mark.parametrize("truth", [0.0, 0.05, 0.5])
@pytest.mark.parametrize("target", ["population", "respondents"])
def test_designs_that_vary_by_row_give_an_unbiased_share_whose_interval_covers(truth: float, target: str) -> None:
    rng, runs, n = np.random.default_rng(3), 800, 300
    found = [collected(*mixed(n, truth, rng, target), target=target).rows[0] for _ in range(runs)]
    estimates = np.array([row.estimate for row in found])
    assert estimates.mean() == pytest.approx(truth, abs=6 * estimates.std() / math.sqrt(runs))
    assert estimates.std() == pytest.approx(np.mean([row.std_error for row in found]), rel=0.15)
    assert (estimates < 0).any() or truth == 0.5
    # 95% in 800: below 724 with a chance under 1e-6
    covered = sum(row.low <= truth <= row.high for row in found)
    assert covered >= 724
    assert all(0 <= row.low <= row.high <= 1 for row in found)
    assert all(row.low < row.high for row in found)


@pytest.mark.parametrize("ones", [(0, 0), (20, 0), (100, 100), (10, 12)])
def test_no_interval_of_designs_that_vary_is_without_a_width(ones: tuple[int, int]) -> None:
    """An estimate far outside [0, 1] had one for the respondents: its score limits, clipped, were a single point."""
    strata = Strata(np.array(ones), np.array([100, 100]), np.array([0.25, 0.1]), np.array([0.75, 0.9]))
    one = strata.share(Interval(target="respondents"))
    assert one.high - one.low > 0.01
    with pytest.raises(EstimateError, match="method must be constrained-score where the design varies by row, got 'score'"):
        strata.share(Interval(method="score", target="respondents"))


def test_one_design_in_all_rows_is_that_design() -> None:
    for options in ({}, {"target": "respondents"}, {"method": "wilson"}):
        by_row = collected(reports(30, 100), RowDesigns(np.full(100, 0.25), np.full(100, 0.75)), **options).rows
        assert by_row == collected(reports(30, 100), designs.warner(0.75), **options).rows


def test_strata_with_nearly_one_design_agree_with_share() -> None:
    two = Strata(np.array([150, 150]), np.array([500, 500]), np.array([0.2, 0.2 + 1e-9]), np.array([0.9, 0.9 + 1e-9]))
    for method, target in (("likelihood-ratio", "population"), ("wald", "population"), ("constrained-score", "respondents")):
        one = share(300, 1000, q0=0.2, q1=0.9, method=method, target=target)
        both = two.share(Interval(0.95, method, target))
        assert both.method == one.method
        assert [both.estimate, both.std_error, both.low, both.high] == pytest.approx(
            [one.estimate, one.std_error, one.low, one.high], abs=1e-6
        )


def test_weights_that_ignore_how_much_a_row_says_would_be_noisier() -> None:
    n = np.array([500, 500])
    strata = Strata(np.array([250, 250]), n, np.array([0.1, 0.45]), np.array([0.9, 0.55]))
    plain = math.sqrt(sum(250 / gap**2 for gap in (0.8, 0.1))) / 1000 / math.sqrt(2)
    assert strata.share(Interval(method="wald")).std_error < plain / 3


@pytest.mark.parametrize(
    ("ones", "n"),
    [((0, 0), (5, 5)), ((5, 5), (5, 5)), ((5, 0), (5, 5))],
)
def test_limits_exist_where_a_design_makes_some_counts_impossible(ones: Sequence[int], n: Sequence[int]) -> None:
    found = Strata(np.array(ones), np.array(n), np.array([0.0, 0.3]), np.array([0.6, 1.0])).share(Interval(method="likelihood-ratio"))
    assert 0 <= found.low < found.high <= 1


def test_a_draw_from_a_population_of_known_size_leaves_only_the_coins_random_once_everybody_is_drawn() -> None:
    """Cochran's (1 - n / N) on the answers' own spread, and the coins in full."""
    everybody, some, nobody_knows = (collected(reports(40, 100), designs.warner(0.75), population=n).rows[0] for n in (100, 400, None))
    answers, coins = 0.3 * 0.7, 0.25 * 0.75 / 0.5**2
    assert everybody.std_error == pytest.approx(math.sqrt(coins / 100))
    assert some.std_error == pytest.approx(math.sqrt((coins + 300 / 399 * answers) / 100))
    assert nobody_knows.std_error == pytest.approx(math.sqrt((coins + answers) / 100))
    assert everybody.high - everybody.low < some.high - some.low < nobody_knows.high - nobody_knows.low
    assert some.target == "the 400 drawn from"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: designs.warner(0.5), r"warner \(p 0.5\): q0 must differ from q1, got 0.5 for both"),
        (lambda: designs.warner(1.2), "p must be a probability from 0 to 1, got 1.2"),
        (lambda: designs.warner("0.5"), "p must be a probability from 0 to 1, got '0.5'"),
        (lambda: designs.forced_response(0.5, 0.5), "forced_yes and forced_no must add to less than 1, got 1"),
        (lambda: designs.unrelated_question(0, 0.3), "q0 must differ from q1"),
        (lambda: designs.crosswise(0.5), "q0 must differ from q1"),
        (lambda: designs.triangular(1), "q0 must differ from q1"),
        (lambda: designs.kuk(0.4, 0.4), "q0 must differ from q1"),
        (lambda: designs.mangat(0), "q0 must differ from q1"),
        (lambda: Design("mine", 0.1, math.nan), "q1 must be a probability from 0 to 1, got nan"),
        (lambda: designs.forced_categories("abc", [0.5, 0.5]), "forced must have a probability for each of 3 categories, got 2"),
        (lambda: designs.forced_categories("ab", [0.5, 0.5]), "forced must add to less than 1, got 1"),
        (lambda: CategoryDesign("x", ("a", "a"), np.eye(2)), "categories must be different labels"),
        (lambda: designs.matrix_design("ab", [[0.5, 0.5], [0.5, 0.5]]), "condition number must be at most 1e.06, got"),
        (lambda: designs.matrix_design("ab", [[0.9, 0.1], [0.2, 0.8]]), r"columns of the design's matrix, .* must add to 1, got 1.1"),
        (lambda: designs.matrix_design("ab", [[1.5, 0], [-0.5, 1]]), "must hold probabilities from 0 to 1"),
        (lambda: designs.matrix_design("ab", [[0.9, 0.1, 0], [0.1, 0.9]]), "rows of equal length"),
        (lambda: designs.matrix_design("abc", np.eye(2)), "must have 3 rows and columns, one per category, got 2"),
        (lambda: designs.matrix_design("ab", [[1, 0]]), "as many rows as columns"),
        (lambda: RowDesigns(np.array([0.1, 0.3]), np.array([0.1, 0.7])), "row 1: q0 must differ from q1: the report says nothing"),
        (
            lambda: RowDesigns(np.array([0.1, 0.3]), np.array([0.9, 7])),
            "row 2: q1 must be a probability from 0 to 1, and is not; it is not quoted",
        ),
        (lambda: RowDesigns(np.array([0.1]), np.array([0.9, 0.7])), "q0 and q1 must have a value for each respondent, got 1 and 2"),
        (lambda: collected([], designs.warner(0.75)), "there must be at least 1 report, got 0"),
        (lambda: collected([1, 0, 2], designs.warner(0.75)), r"row 3: the report must be one of yes, no \(1 rows are not\)"),
        (lambda: collected([1], RowDesigns(np.array([0.1, 0.2]), np.array([0.9, 0.8]))), "for each of 1 reports, got 2"),
        (lambda: collected([1, 0], designs.warner(0.75), by=["a"]), "by must have a label for each of 2 reports, got 1"),
        (lambda: collected([1], designs.warner(0.75), confidence=95), "confidence must be above 0 and below 1, got 95"),
        (lambda: collected(*mixed(9, 0.5, np.random.default_rng(0)), method="wilson"), "likelihood-ratio, wald where the design varies"),
        (lambda: collected([1, 0], designs.warner(0.75), population=1), "population must be .* at least the 2 who reported, got 1"),
        (lambda: collected([1], designs.warner(0.75), population=2.5), "population must be a whole number of people"),
        (
            lambda: collected([1, 0], designs.warner(0.75), population=9, by=["a", "b"]),
            "population must be left out where there are groups",
        ),
        (lambda: collected([1], designs.warner(0.75), population=9, target="respondents"), "and the target population"),
        (lambda: collected([1], RowDesigns(np.array([0.1]), np.array([0.9])), population=9), "population needs one design for all rows"),
        (lambda: category_shares([0, 0], np.eye(2)), "counts must be whole numbers from 0, at least 1 report"),
        (lambda: category_shares([-1, 3], np.eye(2)), "counts must be whole numbers from 0"),
    ],
)
def test_what_is_no_design_or_no_report_is_refused_with_the_rule(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        make()


def test_a_report_that_is_none_is_not_quoted() -> None:
    with pytest.raises(EstimateError) as error:
        collected(["yes", "secret"], designs.warner(0.75))
    assert "secret" not in str(error.value)


def test_reports_may_be_words_numbers_or_booleans() -> None:
    words = collected(["yes", "No", " TRUE", "0"], designs.warner(0.75)).rows
    assert words == collected(np.array([True, False, True, False]), designs.warner(0.75)).rows
    assert words == collected([1, 0, 1.0, np.int64(0)], designs.warner(0.75)).rows


def test_the_estimates_as_csv_json_frame_and_table_say_the_same() -> None:
    found = collected(reports(3, 10) + reports(5, 5), designs.triangular(0.3), by=["=x"] * 10 + ["b"] * 5, variable="drugs")
    frame, parsed, lines = found.to_frame(), json.loads(found.to_json()), list(csv.DictReader(io.StringIO(found.to_csv())))
    assert frame["estimate"].tolist() == [row["estimate"] for row in parsed["rows"]] == [float(line["estimate"]) for line in lines]
    assert [line["group"] for line in lines] == ["'=x", "'=x", "b", "b"]
    assert parsed["epsilon"] is None
    assert found.conf_int().loc[("b", "yes"), "high"] == 1
    table = found.to_table().splitlines()
    assert table[0].startswith("drugs: triangular (prevalence 0.3) · epsilon unbounded · 15 reports · 95% intervals (feldman-cousins)")
    assert table[2].split() == ["group", "category", "n", "estimate", "std", "error", "interval"]
    assert found.summary() == found.to_table()
