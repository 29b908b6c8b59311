"""Exclusive options and limits of a multiple choice, from constraints in the usual spellings of forms."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPTION = r"(?P<quote>['\"])(?P<name>[^'\"]+)(?P=quote)"
_HAS = rf"selected\s*\(\s*\.\s*,\s*{_OPTION}\s*\)"
_COUNT = r"count-selected\s*\(\s*\.\s*\)"
_MANY = rf"{_COUNT}\s*(?:>\s*1|>=\s*2)"
_FEW = rf"{_COUNT}\s*(?:<=\s*1|=\s*1|<\s*2)"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"not\s*\(\s*{_HAS}\s+and\s+{_MANY}\s*\)",
        rf"not\s*\(\s*{_MANY}\s+and\s+{_HAS}\s*\)",
        rf"not\s*\(\s*{_HAS}\s*\)\s+or\s+{_FEW}",
        rf"{_FEW}\s+or\s+not\s*\(\s*{_HAS}\s*\)",
        rf"if\s*\(\s*{_HAS}\s*,\s*{_FEW}\s*,\s*true\s*\(\s*\)\s*\)",
    )
)


_SIGN = r"(?P<sign><=|>=|<|>|=)"
_LIMITS = (re.compile(rf"{_COUNT}\s*{_SIGN}\s*(?P<number>\d{{1,4}})"), re.compile(rf"(?P<number>\d{{1,4}})\s*{_SIGN}\s*{_COUNT}"))
_MIRRORED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "=": "="}


@dataclass(frozen=True)
class SelectionRules:
    """The rules of a constraint about the options that are selected.

    Attributes:
        exclusive: The names of the options that exclude all others.
        at_least: The fewest options; 0 without such a limit.
        at_most: The most options; None without such a limit.
    """

    exclusive: tuple[str, ...] = ()
    at_least: int = 0
    at_most: int | None = None


NO_RULES = SelectionRules()


def selection_rules(constraint: str) -> SelectionRules | None:
    """Returns the rules of a constraint, or None if any part of it has another meaning or spelling."""
    names, least, most = list[str](), [0], list[int]()
    for part in _parts(" ".join(constraint.split())):
        if name := _name(part):
            names.append(name)
        elif limit := _limit(part):
            least += [limit[0]]
            most += limit[1:]
        else:
            return None
    rules = SelectionRules(tuple(dict.fromkeys(names)), max(least), min(most, default=None))
    return None if rules.exclusive and rules.at_least > 1 else rules  # the form never allows an exclusive option


def _name(part: str) -> str | None:
    matches = (form.fullmatch(part) for form in _FORMS)
    return next((match["name"] for match in matches if match), None)


def _limit(part: str) -> tuple[int, ...]:
    """Returns the least number of options, then the greatest if the part limits it; empty for another part."""
    for form, signs in zip(_LIMITS, ({}, _MIRRORED), strict=True):
        if match := form.fullmatch(part):
            sign, number = signs.get(match["sign"], match["sign"]), int(match["number"])
            least = {">=": number, ">": number + 1, "=": number}.get(sign, 0)
            return (least,) if ">" in sign else (least, number - (sign == "<"))
    return ()


def _parts(text: str) -> list[str]:
    """Returns the parts that `and` joins outside of brackets and quotes, without brackets around them."""
    text, parts, depth, start, quote = _unwrap(text), list[str](), 0, 0, ""
    for position, letter in enumerate(text):
        if quote or letter in "'\"":
            quote = "" if letter == quote else quote or letter
            continue
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0 and text[position : position + 5].lower() == " and ":
            parts.append(text[start:position])
            start = position + 5
    return [_unwrap(part) for part in (*parts, text[start:])]


def _unwrap(text: str) -> str:
    """Returns the text without brackets around all of it."""
    text = text.strip()
    while text.startswith("(") and text.endswith(")") and _closes_last(text):
        text = text[1:-1].strip()
    return text


def _closes_last(text: str) -> bool:
    """Returns whether the last bracket closes the first one."""
    depth = 0
    for position, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return position == len(text) - 1
    return False
