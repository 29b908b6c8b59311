"""Spare invitation codes: the header by which a server states that it has more codes than expected people."""

from __future__ import annotations

import re

HEADER = "Deniable-Codes"
"""On the reply with a definition: `CODES/EXPECTED`, for every visitor alike, and only if CODES is the greater number."""

_PATTERN = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})")


def parse_spare_codes(text: str) -> tuple[int, int] | None:
    """Returns the numbers of codes and of expected people; None for any other text. Twin: `spareCodes` in `browser/claims.mjs`."""
    match = _PATTERN.fullmatch(text)
    count, expected = map(int, match.groups()) if match else (0, 0)
    return (count, expected) if count > expected else None
