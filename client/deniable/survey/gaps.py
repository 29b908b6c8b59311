"""Incomplete translations of a survey, a sentence for each language."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from deniable.survey.survey import Survey


class Gap(NamedTuple):
    """What one language of a survey lacks.

    language: its tag. missing: how many texts. first: the place of the first of them under the language. instead: the tag of the
    language that respondents read them in.
    """

    language: str
    missing: int
    first: str
    instead: str

    def sentence(self, name: Callable[[str], str] = str) -> str:
        """Returns the gap in words. name: gives what to call a language by its tag; the tag itself if left out."""
        texts, these = ("1 text", "it") if self.missing == 1 else (f"{self.missing:,} texts", "these")
        return f"{name(self.language)} lacks {texts}; people will read {these} in {name(self.instead)}"


def gaps(survey: Survey) -> tuple[Gap, ...]:
    """Returns a gap for each language of the survey that lacks a text, in the file's order."""
    places: dict[str, list[str]] = {}
    for language, place in survey.untranslated:
        places.setdefault(language, []).append(place)
    return tuple(Gap(language, len(lacking), lacking[0], survey.language) for language, lacking in places.items())
