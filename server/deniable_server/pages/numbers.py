"""Numbers as people write them: one rule for pages and commands."""

from __future__ import annotations

import re
from decimal import Decimal

_WHOLE, _DECIMAL = re.compile(r"-?[0-9]{1,30}"), re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?")


def whole(text: str) -> int:
    """Returns a whole number. Raises ValueError for other than ASCII digits, which `int` takes: 1_000, or another script's."""
    if not _WHOLE.fullmatch(text.strip()):
        raise ValueError("must be a whole number, written with the digits 0 to 9")
    return int(text)


def decimal(text: str) -> Decimal:
    """Returns a number with or without a decimal point. Raises ValueError for anything else, such as 1e3 or nan."""
    if not _DECIMAL.fullmatch(text.strip()):
        raise ValueError("must be a number, written with the digits 0 to 9 and a point")
    return Decimal(text.strip())
