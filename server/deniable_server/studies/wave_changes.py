"""Comparability of a draft with the survey that it follows: the questions that could no longer be compared, named for its author."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from flask import g

from deniable.survey import Survey
from deniable.survey.comparability import mismatch
from deniable.survey.question import Question
from deniable.survey.types.base import NO_ANSWER
from deniable_server.context import current_store
from deniable_server.store.errors import UnknownSurveyError


class WaveChange(NamedTuple):
    """A question that cannot be compared, and the reason as the rest of a sentence."""

    question: Question
    reason: str


@dataclass(frozen=True)
class PlannedWave:
    """The place of a draft in a study.

    Attributes:
        follows: The published survey that it follows.
        number: The number that it will have.
        name: The name of the study.
        changes: The questions of `follows` that cannot be compared.
    """

    follows: Survey
    number: int
    name: str
    changes: tuple[WaveChange, ...]


def planned_wave(draft_id: str, survey: Survey | None) -> PlannedWave | None:
    """Returns the wave that a draft will be, or None if it is no wave of a survey that the researcher may see.

    Args:
        draft_id: The draft's id.
        survey: Its survey; None if it has problems, and then no changes are listed.
    """
    store = current_store()
    of = store.studies.begun([draft_id]).get(draft_id)
    if of is None:
        return None
    try:
        store.roles.role(g.user, of)
    except UnknownSurveyError:
        return None
    follows, wave = store.surveys.published(of).survey, store.studies.wave(of)
    number = store.studies.waves(wave.study)[-1].number + 1 if wave else 2
    name = wave.name if wave else follows.title
    return PlannedWave(follows, number, name, tuple(wave_changes(follows, survey)) if survey else ())


def wave_changes(follows: Survey, survey: Survey) -> Iterator[WaveChange]:
    """Yields the questions of a survey that cannot be compared with another survey's."""
    questions = {question.id: question for question in survey.questions}
    texts = {question.text: question.id for question in survey.questions}
    for question in follows.questions:
        other = questions.get(question.id)
        if other is not None:
            if reason := _reason(question, other):
                yield WaveChange(question, reason)
        elif question.text in texts:
            yield WaveChange(question, f"has another id, {texts[question.text]}")
        else:
            yield WaveChange(question, "is left out")


def _reason(question: Question, other: Question) -> str:
    """Returns how a question differs from the other survey's with the same id; empty if the two can be compared."""
    if question.type != other.type:
        return "has another type"
    if question.labels != other.labels:
        return f"has other options than {_listed(question.labels)}"
    match mismatch(question.items[0], other.items[0]):
        case "scale":
            return "has another scale"
        case "options" if (question.required, other.required) == (True, False):
            return f"can be answered with “Prefer not to say” now, which adds the option “{NO_ANSWER}”"
        case "options" if (question.required, other.required) == (False, True):
            return f"must be answered now, which removes the option “{NO_ANSWER}”"
        case "options":
            return f"has other options than {_listed(question.kind.categories)}"
        case _:
            return ""


def _listed(options: tuple[str, ...]) -> str:
    return ", ".join(f"“{option}”" for option in options[:8]) + (" ..." if len(options) > 8 else "")
