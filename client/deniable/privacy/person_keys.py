"""Normal form of identifiers: one form for every spelling of a person's or row's key. A key is not an answer.

A spreadsheet or pandas writes the number 17 as `17.0` as soon as one number of its column is missing, and reads `017` as 17. So a text
that reads as a whole number becomes that number. Invisible characters would let one person have two keys; they are refused.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

import numpy as np

WHOLE = 1 << 53
"""Limit above which a float does not represent every whole number."""

UNNAMED = "must be text or a whole number"
"""The rule for values that are not keys, such as an empty cell."""

_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Zl", "Zp"}
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # invisible letters and marks
_DIGITS = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST = 4_000  # digits of a number that Python reads


def normal_form(person: Any) -> str | None:
    """Returns a key in its normal form, or None for an invalid key.

    A whole number is written in digits, without leading zeros, whether it comes as an int, a float or a text in any digits. Other texts
    are NFKC, with single spaces and none around.
    """
    return None if _form(person)[1] else _form(person)[0]


def key_problem(person: Any) -> str:
    """Returns the rule that a key breaks, without quoting it; empty for a valid key."""
    return _form(person)[1]


def _form(person: Any) -> tuple[str, str]:
    """Returns a key's normal form and the rule that it breaks."""
    if isinstance(person, bool | np.bool_) or not isinstance(person, str | int | float | np.integer | np.floating):
        return "", UNNAMED
    if isinstance(person, float | np.floating):
        return _of_float(float(person))
    if not isinstance(person, str):
        return str(int(person)), ""
    text = unicodedata.normalize("NFKC", person)
    text = " ".join("".join(str(unicodedata.decimal(character, character)) for character in text).split())
    if any(map(_is_invisible, text)):
        return "", "must have no characters that do not show"
    if not text:
        return "", UNNAMED
    number = text.replace("\u2212", "-")
    if _DIGITS.fullmatch(number):
        return (str(int(number)), "") if len(number) <= _LONGEST else ("", "must have at most 4,000 digits")
    return _of_float(float(number)) if _NUMBER.fullmatch(number) else (text, "")


def _of_float(number: float) -> tuple[str, str]:
    if math.isnan(number):
        return "", UNNAMED
    if not abs(number) < WHOLE or not number.is_integer():
        return "", "looks like a number that went through a float: write it as text, or as a whole number below 2^53"
    return str(int(number)), ""


def _is_invisible(character: str) -> bool:
    code = ord(character)
    variation = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F
    return variation or character in _BLANK or unicodedata.category(character) in _INVISIBLE
