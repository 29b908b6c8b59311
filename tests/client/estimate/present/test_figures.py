"""Figures are written as people read them, however large or small they are."""

from __future__ import annotations

import pytest

from deniable.estimate.present.figures import between, two_digits


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
