"""Names and texts of a form, as survey files have them, and what is lost of them."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import chain, count
from typing import Any

from deniable.survey.types.base import MAX_OPTION_LENGTH
from deniable.survey.validator import LENGTHS

_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|\*\*|^[ \t]*#{1,6}\s", re.MULTILINE)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def plain(name: str, other: str, pattern: re.Pattern[str], instead: str) -> str:
    """A name as survey files have them."""
    found = re.sub(other, "_", name).strip("_-")[:60]
    return found if pattern.fullmatch(found) else f"{instead}_{found}" if pattern.fullmatch(f"{instead}_{found}") else instead


def line(text: str) -> str:
    """On one line, without what would be markup of a form."""
    return " ".join(_UNPRINTABLE.sub(" ", html.unescape(_MARKUP.sub(" ", text))).split())


def short(text: str, most: int) -> str:
    """On one line, and no longer than may be."""
    found = line(text)
    return found if len(found) <= most else f"{found[: most - 1].rstrip()}…"


def unlike(labels: Sequence[str], names: Sequence[str]) -> list[str]:
    """Labels that fit, of which no two are the same: those that are have their names behind them, or their place in the list."""
    found: list[str] = []
    taken: set[str] = set()
    for place, (label, name) in enumerate(zip(labels, names, strict=True), start=1):
        ends = chain(("", f" ({short(name, 60)})" if name else ""), (f" ({number})" for number in count(place)))
        fitting = (short(label, MAX_OPTION_LENGTH - len(end)) + end for end in ends)
        found.append(next(one for one in fitting if one and one not in taken))
        taken.add(found[-1])
    return found


def fitted(texts: dict[str, Any], notes: list[str], where: str = "") -> dict[str, Any]:
    """The texts of a question, none longer than may be; notes gets what was lost of them. where: the language, if not the form's own."""
    fitting: dict[str, Any] = {}
    for key, text in texts.items():
        if isinstance(text, dict):
            fitting[key] = fitted(text, notes, where)
        elif key in LENGTHS:
            fitting[key] = text if len(text) <= LENGTHS[key] else f"{text[: LENGTHS[key] - 1].rstrip()}…"
            if fitting[key] != text:
                notes.append(f"its {key} is cut to {LENGTHS[key]:,} characters{where}")
        else:
            fitting[key] = text
    return fitting


def named_in(texts: Any) -> list[str]:
    """The answers and calculated values that texts would show, each once: ${name}."""
    if isinstance(texts, str):
        return list(dict.fromkeys(re.findall(r"\$\{[^}]*\}", texts)))
    inner = texts.values() if isinstance(texts, dict) else texts
    return list(dict.fromkeys(name for one in inner for name in named_in(one)))
