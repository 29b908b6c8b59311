"""What a draft began with and its author was to replace: found in a survey whose texts still say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from deniable.survey import Survey
from deniable.topics import BLANKS
from deniable_server.drafts.editor.forms import LABELS

_BLANKS = (*BLANKS, "Who asks, why, and whom to contact")


class Leftover(NamedTuple):
    """A text with words of a sample. place: the id of its field in the editor; label: that field's; words: those of the sample."""

    place: str
    label: str
    words: str


def left_over(survey: Survey) -> tuple[Leftover, ...]:
    """Where the texts of a survey, in all of its languages, still have words that stand for others."""
    return tuple(
        Leftover(place, label, blank) for place, label, text in _texts(survey) for blank in _BLANKS if blank.lower() in text.lower()
    )


def _texts(survey: Survey) -> Iterator[tuple[str, str, str]]:
    for key, label in LABELS.items():
        yield key, label, getattr(survey, key)
        for number, (tag, words) in enumerate(survey.translations.items()):
            yield f"languages-{number}-{key}", f"{label}, {tag}", words.get(key, "")
