"""Sample text detection: finds the placeholders of examples and topics that are still in a survey."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from deniable.forms.mapper import ABOUT
from deniable.survey import Survey
from deniable.topics import BLANKS
from deniable_server.drafts.editor.forms import LABELS

_SAMPLES = (*BLANKS, ABOUT.rstrip("."))


class SampleText(NamedTuple):
    """A text that still has words of a sample.

    Attributes:
        field: The id of its field in the editor.
        label: The field's label.
        words: The sample's words.
    """

    field: str
    label: str
    words: str


def find_sample_text(survey: Survey) -> tuple[SampleText, ...]:
    """Returns the texts of a survey, in all its languages, that still have words of a sample."""
    return tuple(
        SampleText(field, label, sample) for field, label, text in _texts(survey) for sample in _SAMPLES if sample.lower() in text.lower()
    )


def _texts(survey: Survey) -> Iterator[tuple[str, str, str]]:
    for key, label in LABELS.items():
        yield key, label, getattr(survey, key)
        for number, (tag, words) in enumerate(survey.translations.items()):
            yield f"languages-{number}-{key}", f"{label}, {tag}", words.get(key, "")
