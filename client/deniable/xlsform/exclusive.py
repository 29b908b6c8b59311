"""Constraints of a multiple choice that say which options go with no other one, in the usual spellings of forms."""

from __future__ import annotations

import re

_OPTION = r"(?P<quote>['\"])(?P<name>[^'\"]+)(?P=quote)"
_HAS = rf"selected\s*\(\s*\.\s*,\s*{_OPTION}\s*\)"
_MANY = r"count-selected\s*\(\s*\.\s*\)\s*(?:>\s*1|>=\s*2)"
_FEW = r"count-selected\s*\(\s*\.\s*\)\s*(?:<=\s*1|=\s*1|<\s*2)"
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


def excluding(constraint: str) -> list[str] | None:
    """Returns the names of the options that a constraint excludes from all others.

    None if any part of it says something else, or is written otherwise.
    """
    names = [_name(part) for part in _parts(" ".join(constraint.split()))]
    return list(dict.fromkeys(name for name in names if name is not None)) if names and None not in names else None


def _name(part: str) -> str | None:
    matches = (form.fullmatch(part) for form in _FORMS)
    return next((match["name"] for match in matches if match), None)


def _parts(text: str) -> list[str]:
    """What is joined by `and` outside of all brackets and quotes, without brackets around it."""
    text, parts, depth, start, quote = _unwrapped(text), list[str](), 0, 0, ""
    for place, letter in enumerate(text):
        if quote or letter in "'\"":
            quote = "" if letter == quote else quote or letter
            continue
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0 and text[place : place + 5].lower() == " and ":
            parts.append(text[start:place])
            start = place + 5
    return [_unwrapped(part) for part in (*parts, text[start:])]


def _unwrapped(text: str) -> str:
    """The text without the brackets that hold all of it."""
    text = text.strip()
    while text.startswith("(") and text.endswith(")") and _closes_last(text):
        text = text[1:-1].strip()
    return text


def _closes_last(text: str) -> bool:
    """Whether the first bracket is closed by the last one."""
    depth = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return place == len(text) - 1
    return False
