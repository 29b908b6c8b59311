"""Incomplete translations of a survey, described by a sentence for each language."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from deniable.survey.survey import Survey


class Gap(NamedTuple):
    """Texts that one language of a survey lacks.

    Attributes:
        language: The language's tag.
        missing: The number of texts.
        first: The key of the first missing text, within the language's texts.
        instead: The tag of the language that respondents read instead.
    """

    language: str
    missing: int
    first: str
    instead: str

    def sentence(self, name: Callable[[str], str] = str) -> str:
        """Returns the gap in words; `name` returns a language's name by its tag."""
        texts, these = ("1 text", "it") if self.missing == 1 else (f"{self.missing:,} texts", "these")
        return f"{name(self.language)} lacks {texts}; people will read {these} in {name(self.instead)}"


def gaps(survey: Survey) -> tuple[Gap, ...]:
    """Returns a gap for each language of the survey that lacks a text, in the file's order."""
    keys: dict[str, list[str]] = {}
    for language, key in survey.untranslated:
        keys.setdefault(language, []).append(key)
    return tuple(Gap(language, len(missing), missing[0], survey.language) for language, missing in keys.items())
