"""Names, labels and languages of a form, as survey files have them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deniable.survey.translation import LANGUAGE

_LANGUAGES = {
    "english": "en",
    "french": "fr",
    "français": "fr",
    "spanish": "es",
    "español": "es",
    "arabic": "ar",
    "german": "de",
    "deutsch": "de",
    "portuguese": "pt",
    "português": "pt",
    "russian": "ru",
    "swahili": "sw",
    "kiswahili": "sw",
    "hindi": "hi",
    "chinese": "zh",
    "turkish": "tr",
    "urdu": "ur",
    "bengali": "bn",
    "amharic": "am",
    "somali": "so",
    "nepali": "ne",
}


def tag_of(language: str) -> str:
    """The tag of a language as a form names it: “English (en)”, “en”, “English”; empty where it says none."""
    inside = re.search(r"\(([^)]+)\)\s*$", language)
    for one in (inside[1].strip() if inside else "", language.strip()):
        if LANGUAGE.fullmatch(one):
            return one
    return _LANGUAGES.get(language.partition("(")[0].strip().lower(), "")


def plain(name: str, other: str, pattern: re.Pattern[str], instead: str) -> str:
    """A name as survey files have them."""
    found = re.sub(other, "_", name).strip("_-")[:60]
    return found if pattern.fullmatch(found) else f"{instead}_{found}" if pattern.fullmatch(f"{instead}_{found}") else instead


def short(text: str, most: int) -> str:
    """On one line, without what would be markup of a form, and no longer than may be."""
    line = " ".join(re.sub(r"</?[a-zA-Z][^>]*>|\*\*|[\x00-\x1f\x7f-\x9f]", " ", text).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def unlike(labels: Sequence[str], names: Sequence[str]) -> list[str]:
    """Labels of which no two are the same: those that are have their names behind them, or a number."""
    found: list[str] = []
    for label, name in zip(labels, names, strict=True):
        fitting = (label, f"{label} ({name})", *(f"{label} ({place})" for place in range(2, 2000)))
        found.append(next(one for one in fitting if one and one not in found))
    return found
