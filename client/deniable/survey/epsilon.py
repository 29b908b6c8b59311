"""Parser of epsilon, a number or `ln x`, as an exact binary number."""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

MAX_EPSILON = 10
LN = re.compile(r"ln\s*(?:([0-9]+(?:\.[0-9]+)?)|\(\s*([0-9]+(?:\.[0-9]+)?)\s*\))")
NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|[+-]?\.[0-9]+(?:[eE][+-]?[0-9]+)?")


def parse_epsilon(value: Any, share: Fraction = Fraction(1), most: float = MAX_EPSILON) -> float:
    """Returns a share of an epsilon as a double.

    A share of a logarithm is rounded up, so that `ln 3` gives two fair coins exactly; a share of a number is rounded down.

    Args:
        value: A number, its text, or `ln x`.
        share: The share, above 0 and at most 1.
        most: The largest epsilon.

    Raises:
        ValueError: The value is not a number or `ln x`, or not above 0 and at most `most`.
    """
    text = value.strip() if isinstance(value, str) else repr(value) if type(value) in (int, float) else ""
    if match := LN.fullmatch(text):
        with localcontext() as context:
            context.prec = 60
            power = Decimal(match[1] or match[2])
            whole: Decimal | Fraction = power.ln() if power > 0 else Decimal(0)
            decimal = whole * share.numerator / share.denominator
        nearest = float(decimal)
        epsilon = nearest if Decimal(nearest) >= decimal else math.nextafter(nearest, math.inf)
    elif NUMBER.fullmatch(text) and math.isfinite(float(text)):
        whole = Fraction(float(text))
        exact = whole * share
        nearest = float(exact)
        epsilon = nearest if Fraction(nearest) <= exact else math.nextafter(nearest, 0)
    else:
        raise ValueError("must be a number or `ln x`")
    if not (0 < whole <= most and epsilon > 0):
        raise ValueError(f"must be above 0 and at most {most}")
    return epsilon
