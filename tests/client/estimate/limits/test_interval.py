"""One value says which interval is wanted, and every public function refuses a wrong one in the same words."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from deniable import estimate as door
from deniable.errors import EstimateError
from deniable.estimate import Estimate, analyse, collected, compare, crosstab, designs, difference, joint, mean, quantile, share
from deniable.estimate.limits.interval import METHODS, Interval
from deniable.estimate.tables import between_options, mean_rows, weighted_mean, weighted_shares
from deniable.survey import Survey
from deniable.wire.tally import Tally

WRONG = [
    ({"confidence": 1}, "confidence must be above 0 and below 1, got 1"),
    ({"confidence": 95}, "confidence must be above 0 and below 1, got 95"),
    ({"confidence": float("nan")}, "confidence must be above 0 and below 1, got nan"),
    ({"confidence": 1e-30}, "confidence must be above 0 and below 1, got 1e-30"),
    ({"confidence": "0.9"}, "confidence must be a number, got '0.9'"),
    ({"confidence": True}, "confidence must be a number, got True"),
    ({"target": "everybody"}, "target must be one of population, respondents, got 'everybody'"),
]
METHOD = [
    ({"method": "exact"}, "feldman-cousins, likelihood-ratio, wilson, clopper-pearson, wald where target is population, got 'exact'"),
    ({"method": "wald", "target": "respondents"}, "feldman-cousins, constrained-score, score where target is respondents, got 'wald'"),
]
SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "s",
        "title": "T",
        "about": "A",
        "epsilon": 2,
        "questions": [{"id": name, "text": "Q", "type": "scale", "options": ["a", "b"]} for name in "ab"],
    }
)
BITS = np.random.default_rng(3).random((200, 2)) < 0.5
TALLY = Tally.from_bits(BITS)
ONE = Estimate("x", 10, 0.5, 0.1, 0.3, 0.7, 0.95, "population")
SHARE = share(30, 100, q0=0.25, q1=0.75)
WITHOUT_METHOD: dict[str, Any] = {
    "crosstab": lambda **options: crosstab(SURVEY, TALLY, "a", "b", **options),
    "joint": lambda **options: joint(SURVEY, BITS, ["a", "b"], **options),
    "mean": lambda **options: mean(SURVEY, TALLY, "a", [1, 2], **options),
    "mean_rows": lambda **options: mean_rows(SURVEY, TALLY, **options),
    "quantile": lambda **options: quantile(SURVEY, TALLY, "a", **options),
    "compare": lambda **options: compare(SURVEY, TALLY, TALLY, "a", **options),
    "between_options": lambda **options: between_options(SURVEY, TALLY, "a", "a", "b", **options),
    "weighted_shares": lambda **options: weighted_shares(SURVEY, BITS, np.ones(200), "a", **options),
    "weighted_mean": lambda **options: weighted_mean(SURVEY, BITS, np.ones(200), "a", [1, 2], **options),
}
WITH_METHOD: dict[str, Any] = {
    "share": lambda **options: share(30, 100, q0=0.25, q1=0.75, **options),
    "estimate": lambda **options: door.estimate(SURVEY, TALLY, **options),
    "analyse": lambda **options: analyse(SURVEY, TALLY, **options),
    "collected": lambda **options: collected([1, 0, 0], designs.warner(0.75), **options),
    "Interval": Interval,
}


@pytest.mark.parametrize(("options", "message"), WRONG)
@pytest.mark.parametrize("name", [*WITHOUT_METHOD, *WITH_METHOD])
def test_a_wrong_interval_is_refused_in_the_same_words_everywhere(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(EstimateError) as error:
        (WITHOUT_METHOD | WITH_METHOD)[name](**options)
    assert str(error.value) == message


@pytest.mark.parametrize(("options", "message"), METHOD)
@pytest.mark.parametrize("name", WITH_METHOD)
def test_so_is_a_method_that_the_target_does_not_have(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(EstimateError) as error:
        WITH_METHOD[name](**options)
    assert str(error.value) == f"method must be one of {message}"


def test_a_difference_has_the_confidence_of_both_sides() -> None:
    other = share(30, 100, q0=0.25, q1=0.75, confidence=0.9)
    assert difference(other, other).confidence == 0.9
    with pytest.raises(EstimateError, match=r"both estimates must have one confidence, got 0\.95 and 0\.9"):
        difference(share(30, 100, q0=0.25, q1=0.75), other)


def test_no_public_function_takes_a_confidence_by_its_place() -> None:
    functions = [getattr(door, name) for name in door.__all__ if inspect.isfunction(getattr(door, name))]
    taken = [inspect.signature(function).parameters.get("confidence") for function in functions]
    assert sum(parameter is not None for parameter in taken) >= 9
    assert {parameter.kind for parameter in taken if parameter} == {inspect.Parameter.KEYWORD_ONLY}


def test_an_interval_is_a_value_and_knows_what_it_may_miss() -> None:
    assert Interval(0.9) == Interval(confidence=0.9, method="feldman-cousins", target="population")
    assert Interval(0.9).alpha == pytest.approx(0.1)
    with pytest.raises(FrozenInstanceError):
        Interval().confidence = 0.5  # type: ignore[misc]


def test_reports_of_one_weight_tell_their_error_as_reports_without_weights_do() -> None:
    alike, other = Interval().for_reports(20), Interval().for_weights(np.full(20, 3.0))
    assert (alike.df, alike.wider) == (19, pytest.approx((20 / 19) ** 0.5))
    assert (other.df, other.wider) == (pytest.approx(alike.df), pytest.approx(alike.wider))
    assert Interval().for_weights(np.repeat([1.0, 4.0], 10)).df == pytest.approx(170**2 / 2570 - 1), "unequal weights tell it worse"
    assert (Interval().for_reports(1).df, Interval().for_weights(np.array([1.0, 0.0])).df) == (1, 1)


@pytest.mark.parametrize(("target", "method"), [(target, method) for target, methods in METHODS.items() for method in methods])
def test_every_method_that_is_named_gives_a_share(target: str, method: str) -> None:
    found = share(30, 100, q0=0.25, q1=0.75, target=target, method=method)
    assert found.low < found.estimate < found.high
