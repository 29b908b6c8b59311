"""Exclusive options of a multiple choice, from constraints in the usual spellings of forms."""

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

    Returns None if any part of it has another meaning or spelling.
    """
    names = [_name(part) for part in _parts(" ".join(constraint.split()))]
    return list(dict.fromkeys(name for name in names if name is not None)) if names and None not in names else None


def _name(part: str) -> str | None:
    matches = (form.fullmatch(part) for form in _FORMS)
    return next((match["name"] for match in matches if match), None)


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
