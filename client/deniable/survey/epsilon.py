"""Epsilon as written, a number or `ln x`, and its exact binary number."""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

MAX_EPSILON = 10
LN = re.compile(r"ln\s*(?:([0-9]+(?:\.[0-9]+)?)|\(\s*([0-9]+(?:\.[0-9]+)?)\s*\))")
NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|[+-]?\.[0-9]+(?:[eE][+-]?[0-9]+)?")


def parse_epsilon(written: Any, part: Fraction = Fraction(1), most: float = MAX_EPSILON) -> float:
    """Returns the binary number of a part, above 0 and at most 1, of an epsilon.

    A part of a logarithm is rounded up to the next double, so that `ln 3` gives two fair coins exactly; a part of a number is rounded down.

    Args:
        written: A number, its text, or `ln x`.
        part: The part.
        most: The largest epsilon.

    Raises:
        ValueError: It is neither, or not above 0 and at most `most`.
    """
    text = written.strip() if isinstance(written, str) else repr(written) if type(written) in (int, float) else ""
    if match := LN.fullmatch(text):
        with localcontext() as context:
            context.prec = 60
            power = Decimal(match[1] or match[2])
            whole: Decimal | Fraction = power.ln() if power > 0 else Decimal(0)
            value = whole * part.numerator / part.denominator
        nearest = float(value)
        epsilon = nearest if Decimal(nearest) >= value else math.nextafter(nearest, math.inf)
    elif NUMBER.fullmatch(text) and math.isfinite(float(text)):
        whole = Fraction(float(text))
        exact = whole * part
        nearest = float(exact)
        epsilon = nearest if Fraction(nearest) <= exact else math.nextafter(nearest, 0)
    else:
        raise ValueError("must be a number or `ln x`")
    if not (0 < whole <= most and epsilon > 0):
        raise ValueError(f"must be above 0 and at most {most}")
    return epsilon
