"""Missing translations of a draft, each with the field of its first missing text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from babel import Locale, UnknownLocaleError

from deniable.errors import Problem
from deniable.survey import Survey
from deniable.survey.gaps import gaps
from deniable_server.drafts.editor.mistakes import messages_by_field
from deniable_server.drafts.editor.shapes import Fields
from deniable_server.web.languages import LANGUAGES


class MissingTranslation(NamedTuple):
    """A sentence about a language. `field` is the id of a field in the editor; empty for none."""

    field: str
    sentence: str


def missing_translations(survey: Survey, fields: Fields | None = None) -> tuple[MissingTranslation, ...]:
    """Returns the languages that lack texts of the survey, or this server's own words.

    Args:
        survey: The survey of a draft or of a file.
        fields: The draft's fields, to link to them.
    """
    return (*_survey_texts(survey, fields), *_server_words(survey))


def english_name(tag: str) -> str:
    """Returns the English name of a language, or its tag if CLDR does not know it."""
    try:
        return Locale.parse(tag, sep="-").english_name or tag
    except (UnknownLocaleError, ValueError):
        return tag


def _survey_texts(survey: Survey, fields: Fields | None) -> Iterator[MissingTranslation]:
    for gap in gaps(survey):
        problem = Problem(f"translations.{gap.language}.{gap.first}", "is missing")
        [field] = messages_by_field([problem], fields) if fields else [""]
        yield MissingTranslation(field, gap.sentence(english_name))


def _server_words(survey: Survey) -> Iterator[MissingTranslation]:
    families = {tag.split("-")[0] for tag in LANGUAGES}
    names = [english_name(tag) for tag in survey.languages if tag.split("-")[0] not in families]
    if names:
        instead = "in the next language that their browser asks for, at last in English"
        yield MissingTranslation(
            "", f"This server's own words (buttons, Yes and No) are not in {' and '.join(names)}; people will read these {instead}"
        )
