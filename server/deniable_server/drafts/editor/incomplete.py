"""Incomplete translations as the pages of a draft list them, each with the field of its first missing text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from babel import Locale, UnknownLocaleError

from deniable.errors import Problem
from deniable.survey import Survey
from deniable.survey.gaps import gaps
from deniable_server.drafts.editor.mistakes import beside
from deniable_server.drafts.editor.shapes import Fields
from deniable_server.web.languages import LANGUAGES


class Incomplete(NamedTuple):
    """A sentence about a language. place: the id of a field in the editor, empty where no field is meant."""

    place: str
    sentence: str


def incomplete(survey: Survey, fields: Fields | None = None) -> tuple[Incomplete, ...]:
    """Returns what the languages of a survey lack: texts of its own, and words of the pages on this server.

    Args:
        survey: The survey of a draft or of a file.
        fields: The draft's fields, to point to them.
    """
    return (*_texts(survey, fields), *_words(survey))


def english_name(tag: str) -> str:
    """Returns the English name of a language, or its tag where CLDR has none."""
    try:
        return Locale.parse(tag, sep="-").english_name or tag
    except (UnknownLocaleError, ValueError):
        return tag


def _texts(survey: Survey, fields: Fields | None) -> Iterator[Incomplete]:
    for gap in gaps(survey):
        place = Problem(f"translations.{gap.language}.{gap.first}", "is missing")
        [field] = beside([place], fields) if fields else [""]
        yield Incomplete(field, gap.sentence(english_name))


def _words(survey: Survey) -> Iterator[Incomplete]:
    families = {tag.split("-")[0] for tag in LANGUAGES}
    names = [english_name(tag) for tag in survey.languages if tag.split("-")[0] not in families]
    if names:
        instead = "in the next language that their browser asks for, at last in English"
        yield Incomplete(
            "", f"This server's own words (buttons, Yes and No) are not in {' and '.join(names)}; people will read these {instead}"
        )
