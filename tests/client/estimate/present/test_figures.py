"""Figures are written as people read them, however large or small they are."""

from __future__ import annotations

import pytest

from deniable.estimate.present.figures import between, decimals, fixed, p_value, percent, percents, signed, two_digits


@pytest.mark.parametrize(
    ("ends", "written"),
    [
        ((0, 14), "0 – 14"),
        ((-5.0, 2.5), "-5 – 2.5"),
        ((-20000, 1_000_000), "-20,000 – 1,000,000"),
        ((0, 9_007_199_254_740), "0 – 9,007,199,254,740"),
    ],
)
def test_the_ends_of_a_scale_have_no_exponent(ends: tuple[float, float], written: str) -> None:
    assert between(*ends) == written


@pytest.mark.parametrize(
    ("value", "written"), [(0.3551, "0.36"), (2.0, "2"), (16.4, "16"), (99.6, "100"), (512_345.0, "510,000"), (0.00123, "0.0012")]
)
def test_two_digits_count_and_there_is_no_exponent(value: float, written: str) -> None:
    assert two_digits(value) == written


def test_what_rounds_to_zero_has_no_sign() -> None:
    assert (percent(-0.0004), percents(-0.0004, 0.0004), fixed(-0.00004, 4)) == ("0.0%", "0.0 – 0.0%", "0.0000")
    assert (signed(-0.0004, 100), signed(0.0004, 100), signed(-0.0)) == ("0.0", "0.0", "0")
    assert (percent(-0.0006), signed(-0.0006, 100), signed(1234.5), signed(-0.00012)) == ("-0.1%", "-0.1", "+1,234", "-0.00012")


@pytest.mark.parametrize(
    ("p", "places", "written"),
    [
        (0.0, None, "< 0.0001"),
        (7.8e-18, 4, "< 0.0001"),
        (0.0009, 3, "< 0.001"),
        (0.0001, None, "0.0001"),
        (0.19237, None, "0.192"),
        (0.03, 4, "0.0300"),
        (None, 4, ""),
    ],
)
def test_no_chance_is_written_as_none(p: float | None, places: int | None, written: str) -> None:
    assert p_value(p, places) == written


def test_so_many_decimals_as_show_two_digits_of_an_error() -> None:
    assert [decimals(error, 4) for error in (0.5, 0.000012, 1e-30, 0.0)] == [4, 6, 9, 4]
    assert [decimals(error) for error in (12.0, 0.5, 0.0)] == [0, 2, 2]
