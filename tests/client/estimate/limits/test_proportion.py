"""`share`: reference figures, worked cases, and what it refuses."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deniable.errors import EstimateError
from deniable.estimate import share

VECTORS = Path(__file__).parents[3] / "vectors"
INTERVALS = json.loads((VECTORS / "intervals.json").read_text())
REFERENCE = json.loads((VECTORS / "interval_reference.json").read_text())
REFERENCE_RATES = {"0.2500": 0.25, "0.7500": 0.75, "0.1667": 1 / 6, "0.8333": 5 / 6}
FAIR_COINS: dict[str, Any] = {"q0": 0.25, "q1": 0.75}


def design(case: dict[str, Any]) -> dict[str, float]:
    return {"q0": (case["d"] - case["p_own_bit"]) / (case["k"] - 1), "q1": case["p_own_bit"]}


def error_at_the_nearer_end(case: dict[str, Any]) -> float:
    """Where the estimate is outside [0, 1], what the coins alone make of it if nobody, or everybody, holds the share; else 0."""
    rates = design(case)
    rate = rates["q0"] if case["estimate"] < 0 else rates["q1"]
    return 0.0 if 0 <= case["estimate"] <= 1 else math.sqrt(rate * (1 - rate) / case["n"]) / abs(rates["q1"] - rates["q0"])


def least_error(n: int, q0: float, q1: float) -> float:
    """The standard error that the coins alone make certain, whatever people answered."""
    return math.sqrt(min(q0 * (1 - q0), q1 * (1 - q1)) / n) / abs(q1 - q0)


def reference_counts(name: str) -> tuple[int, int, dict[str, float]]:
    """y30_n100_q0=0.2500_q1=0.7500 as (30, 100, design)."""
    ones, n, q0, q1 = name.split("_")
    return int(ones[1:]), int(n[1:]), {"q0": REFERENCE_RATES[q0[3:]], "q1": REFERENCE_RATES[q1[3:]]}


@pytest.mark.parametrize("case", INTERVALS, ids=lambda case: f"k{case['k']}-{case['y']}/{case['n']}")
def test_the_closed_forms_equal_the_reference_figures(case: dict[str, Any]) -> None:
    def limits(**options: str) -> list[float]:
        one = share(case["y"], case["n"], confidence=case["confidence"], **design(case), **options)
        assert one.estimate == pytest.approx(case["estimate"], abs=1e-9)
        floor = error_at_the_nearer_end(case) if one.target == "population" else 0.0
        assert one.std_error == pytest.approx(max(floor, case[f"std_error_{one.target}"]), abs=1e-9)
        return [one.low, one.high]

    assert limits(method="wilson") == pytest.approx(case["wilson_population"], abs=1e-9)
    assert limits(method="clopper-pearson") == pytest.approx(case["clopper_pearson_population"], abs=1e-9)
    assert limits(target="respondents", method="score") == pytest.approx(case["score_respondents"], abs=1e-9)


@given(n=st.integers(1, 400), part=st.floats(0, 1), q=st.tuples(st.floats(0.001, 0.999), st.floats(0.001, 0.999)))
def test_a_standard_error_is_never_below_that_of_the_coins(n: int, part: float, q: tuple[float, float]) -> None:
    if abs(q[0] - q[1]) < 0.01:
        return
    for target in ("population", "respondents"):
        one = share(round(part * n), n, q0=q[0], q1=q[1], target=target, method="wald" if target == "population" else "constrained-score")
        assert one.std_error >= least_error(n, *q) * (1 - 1e-9) > 0


@pytest.mark.parametrize("ones", [0, 200])
def test_no_bit_or_every_bit_set_leaves_the_error_of_the_coins_and_the_same_interval(ones: int) -> None:
    theta = math.exp(6) / (1 + math.exp(6))
    one = share(ones, 200, q0=1 - theta, q1=theta)
    assert one.std_error == pytest.approx(math.sqrt(theta * (1 - theta) / 200) / (2 * theta - 1), rel=1e-12)
    assert (one.low if ones else 1 - one.high, one.high if ones else 1 - one.low) == pytest.approx((0.98668, 1.0), abs=1e-5)


@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.parametrize(("method", "key"), [("wilson", "wilson"), ("clopper-pearson", "cp"), ("likelihood-ratio", "lr_constrained")])
def test_the_other_intervals_equal_the_second_set_of_reference_figures(name: str, method: str, key: str) -> None:
    ones, n, q = reference_counts(name)
    one = share(ones, n, method=method, **q)
    assert [one.low, one.high] == pytest.approx(REFERENCE[name][key], abs=1e-9)
    assert one.estimate == pytest.approx(REFERENCE[name]["pi"], abs=1e-12)


@pytest.mark.parametrize("ones", range(13))
@pytest.mark.parametrize(("method", "scipy_method"), [("wilson", "wilson"), ("clopper-pearson", "exact")])
def test_a_direct_question_has_the_usual_intervals_of_a_proportion(ones: int, method: str, scipy_method: Any) -> None:
    one = share(ones, 12, q0=0, q1=1, method=method, confidence=0.9)
    expected = stats.binomtest(ones, 12).proportion_ci(0.9, scipy_method)
    assert (one.low, one.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_a_direct_question_has_the_usual_likelihood_ratio_interval() -> None:
    one = share(9, 12, q0=0, q1=1, method="likelihood-ratio")
    for limit in (one.low, one.high):
        fall = 9 * math.log(0.75 / limit) + 3 * math.log(0.25 / (1 - limit))
        assert 2 * fall == pytest.approx(stats.chi2.ppf(0.95, 1))


@pytest.mark.parametrize("name", REFERENCE)
def test_wald_is_the_estimate_and_its_error_where_the_reference_divides_by_n_less_1(name: str) -> None:
    ones, n, q = reference_counts(name)
    one = share(ones, n, method="wald", **q)
    n_less_1 = math.sqrt(n / (n - 1))
    own = REFERENCE[name]["se"] if 0 <= one.estimate <= 1 else max(REFERENCE[name]["se"], n_less_1 * least_error(n, **q))
    assert one.std_error * n_less_1 == pytest.approx(own, abs=1e-9)
    widened = [one.estimate + n_less_1 * (limit - one.estimate) for limit in (one.low, one.high)]
    assert widened == pytest.approx(REFERENCE[name]["wald"], abs=1e-9)


def test_a_real_survey_in_nigeria_comes_out_as_published() -> None:
    forced = {"q0": 1 / 6, "q1": 5 / 6}
    everybody = share(831, 2435, **forced)
    assert everybody.estimate == pytest.approx(0.261909651, abs=1e-9)
    assert everybody.std_error == pytest.approx(0.014412705, abs=1e-9)
    assert everybody.std_error * math.sqrt(2435 / 2434) == pytest.approx(0.014415666, abs=1e-9)
    assert share(334, 1123, **forced).estimate == pytest.approx(0.196126, abs=1e-6)
    assert share(497, 1312, **forced).estimate == pytest.approx(0.318216, abs=1e-6)


@pytest.mark.parametrize(("ones", "n", "estimate"), [(30, 100, 0.1), (10, 50, -0.1), (800, 1000, 1.1)])
def test_an_estimate_outside_0_and_1_stays_there(ones: int, n: int, estimate: float) -> None:
    one = share(ones, n, **FAIR_COINS)
    assert one.estimate == pytest.approx(estimate, abs=1e-12)
    assert 0 <= one.low < one.high <= 1


def test_a_clipped_estimate_would_be_biased() -> None:
    def mean(clip: bool) -> float:
        pmf = [math.comb(50, y) * 0.25**y * 0.75 ** (50 - y) for y in range(51)]
        estimates = [share(y, 50, **FAIR_COINS).estimate for y in range(51)]
        return sum(p * (max(0.0, e) if clip else e) for p, e in zip(pmf, estimates, strict=True))

    assert mean(clip=False) == pytest.approx(0, abs=1e-12)  # nobody holds it
    assert mean(clip=True) > 0.04


def test_the_default_method_is_exact_up_to_ten_thousand_reports_and_says_what_it_used() -> None:
    exact, above = share(2600, 10_000, **FAIR_COINS), share(2600, 10_001, **FAIR_COINS)
    assert (exact.method, above.method) == ("feldman-cousins", "likelihood-ratio")
    assert above == share(2600, 10_001, method="likelihood-ratio", **FAIR_COINS)
    assert (exact.low, exact.high) == pytest.approx((above.low, above.high), abs=0.005)
    respondents = [share(n // 4, n, target="respondents", **FAIR_COINS).method for n in (10_000, 10_001)]
    assert respondents == ["feldman-cousins", "constrained-score"]


def test_fractions_and_numpy_numbers_are_taken() -> None:
    plain = share(30, 100, **FAIR_COINS)
    assert share(np.int64(30), np.int32(100), q0=Fraction(1, 4), q1=Fraction(3, 4)) == plain  # type: ignore[arg-type]
    assert all(type(x) is float for x in (plain.estimate, plain.std_error, plain.low, plain.high))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0, "ones": 0}, "n must be at least 1 report, got 0"),
        ({"n": -3}, "n must be at least 1 report, got -3"),
        ({"n": 10.5}, "n must be a whole number, got 10.5"),
        ({"ones": True}, "ones must be a whole number, got True"),
        ({"ones": "3"}, "ones must be a whole number, got '3'"),
        ({"ones": -1}, "ones must be from 0 to n = 10, got -1"),
        ({"ones": 11}, "ones must be from 0 to n = 10, got 11"),
        ({"q0": -0.1}, r"q0 must be a probability from 0 to 1, got -0\.1"),
        ({"q1": 1.1}, r"q1 must be a probability from 0 to 1, got 1\.1"),
        ({"q1": math.nan}, "q1 must be a probability from 0 to 1, got nan"),
        ({"q0": "0.25"}, r"q0 must be a number, got '0\.25'"),
        ({"q0": None}, "q0 must be a number, got None"),
        ({"q1": 0.25}, r"q0 must differ from q1, got 0\.25 for both.*epsilon is 0"),
        ({"q0": Fraction(1, 3), "q1": 1 / 3}, "q0 must differ from q1"),
        ({"confidence": 0}, "confidence must be above 0 and below 1, got 0"),
        ({"confidence": 1}, "confidence must be above 0 and below 1, got 1"),
        ({"confidence": 95}, "confidence must be above 0 and below 1, got 95"),
        ({"confidence": "95%"}, "confidence must be a number, got '95%'"),
        ({"method": "bayes"}, "method must be one of feldman-cousins, .*, wald where target is population, got 'bayes'"),
        ({"method": "score"}, "method must be one of feldman-cousins, .*, wald where target is population, got 'score'"),
        ({"target": "everyone"}, "target must be one of population, respondents, got 'everyone'"),
        ({"target": "respondents", "method": "wilson"}, "method must be one of .*score where target is respondents, got 'wilson'"),
    ],
)
def test_a_value_that_breaks_its_rule_is_named_with_the_rule(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"ones": 3, "n": 10, **FAIR_COINS, **change}
    with pytest.raises(EstimateError, match=message):
        share(arguments.pop("ones"), arguments.pop("n"), **arguments)


probabilities = st.floats(0.01, 0.99)
methods = st.sampled_from(["feldman-cousins", "likelihood-ratio", "wilson", "clopper-pearson", "wald"])


@given(n=st.integers(1, 60), data=st.data(), q0=probabilities, q1=probabilities, method=methods)
def test_swapping_the_meaning_of_the_bit_or_of_the_category_mirrors_everything(
    n: int, data: st.DataObject, q0: float, q1: float, method: str
) -> None:
    if abs(q1 - q0) < 0.01:
        return
    ones = data.draw(st.integers(0, n))
    one = share(ones, n, q0=q0, q1=q1, method=method)
    other_bit = share(n - ones, n, q0=1 - q0, q1=1 - q1, method=method)
    assert (other_bit.low, other_bit.high) == pytest.approx((one.low, one.high), abs=1e-9)
    assert other_bit.estimate == pytest.approx(one.estimate, abs=1e-9)
    other_category = share(ones, n, q0=q1, q1=q0, method=method)
    assert (1 - other_category.high, 1 - other_category.low) == pytest.approx((one.low, one.high), abs=1e-9)
    assert 1 - other_category.estimate == pytest.approx(one.estimate, abs=1e-9)


@given(n=st.integers(1, 60), data=st.data(), q0=probabilities, q1=probabilities, method=methods, confidence=st.floats(0.75, 0.999))
def test_more_set_bits_never_lower_an_interval(n: int, data: st.DataObject, q0: float, q1: float, method: str, confidence: float) -> None:
    if q1 - q0 < 0.01 or method == "wald":
        return
    ones = data.draw(st.integers(0, n - 1))
    fewer = share(ones, n, q0=q0, q1=q1, method=method, confidence=confidence)
    more = share(ones + 1, n, q0=q0, q1=q1, method=method, confidence=confidence)
    assert 0 <= fewer.low <= more.low + 1e-12 <= 1 + 1e-12
    assert 0 <= fewer.high <= more.high + 1e-12 <= 1 + 1e-12
    assert fewer.estimate < more.estimate


@pytest.mark.parametrize("ones", [0, 1, 142, 1013, 1014])
def test_a_rate_that_is_all_but_certain_has_limits(ones: int) -> None:
    almost = 1 - 2**-53
    certain, close = share(ones, 1014, q0=0.14, q1=1.0), share(ones, 1014, q0=0.14, q1=almost)
    assert (close.low, close.high) == pytest.approx((certain.low, certain.high), abs=1e-9)


@given(n=st.integers(1, 10**9), data=st.data(), q0=st.floats(0, 1), q1=st.floats(0, 1))
def test_the_default_interval_holds_the_nearest_possible_share_and_has_a_width(n: int, data: st.DataObject, q0: float, q1: float) -> None:
    if abs(q1 - q0) < 1e-3:
        return
    ones = data.draw(st.integers(0, n))
    one = share(ones, n, q0=q0, q1=q1)
    assert 0 <= one.low < one.high <= 1
    assert one.low - 1e-9 <= min(1.0, max(0.0, one.estimate)) <= one.high + 1e-9


def test_the_rest_of_the_project_needs_no_scipy() -> None:
    rooms = "sdk.client, delivery.jobs, device.perturb, mechanism, privacy.ledger, survey, wire.submission, wire.tally"
    modules = ", ".join(f"deniable.{name}" for name in rooms.split(", "))
    code = f"import sys, {modules}; assert not {{'scipy', 'pandas'}} & set(sys.modules), 'scipy came along'"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_many_reports_with_rare_bits_are_still_exact() -> None:
    rare = 3e-5
    assert share(1, 20_000, q0=rare, q1=0.95).method == "feldman-cousins"
    assert share(1, 1_000_000, q0=rare, q1=0.95).method == "likelihood-ratio"


@pytest.mark.parametrize("name", ["q0", "q1"])
def test_a_truth_value_of_numpy_is_no_probability(name: str) -> None:
    with pytest.raises(EstimateError, match=f"{name} must be a number, got np.True_"):
        share(30, 100, **{"q0": 0.25, "q1": 0.75, name: np.True_})
