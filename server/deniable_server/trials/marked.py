"""Marked surveys: a survey as a trial has it, whose title and texts say that nothing in it is real."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from deniable.survey import Survey
from deniable_server.store.trials import SIMULATED, TEST, Kind, new_trial_id

_TITLES: Mapping[Kind, str] = {TEST: "TEST", SIMULATED: "SIMULATED"}
_ABOUT = "Simulated data. No person has given these answers."
_QUESTION = "[simulated]"


def marked(survey: Survey, kind: Kind, number: int = 1) -> Survey:
    """Returns a survey under the id of a new trial, which counts each record at once.

    Its id, and so its digest, is new: no record of a trial fits another survey. A simulation has no invitations, since it takes no answers.

    Args:
        survey: The survey of a draft.
        kind: The kind of the trial.
        number: Of the simulation; from the second on, it is in the title.
    """
    words = _TITLES[kind] + (f" {number}" if number > 1 else "")
    result = replace(
        survey,
        id=new_trial_id(kind, survey.id),
        title=f"{words}: {survey.title}",
        translations={language: _translation(texts, words) for language, texts in survey.translations.items()},
        batch=1,
        accept_small_batches=True,
        issuer="",
    )
    return _simulated(result) if kind == SIMULATED else result


def _translation(texts: Mapping[str, Any], words: str) -> dict[str, Any]:
    return {**texts, **({"title": f"{words}: {texts['title']}"} if "title" in texts else {})}


def _simulated(survey: Survey) -> Survey:
    """Returns a survey whose introduction and questions say that its answers are simulated."""
    questions = tuple(replace(question, raw_text=f"{_QUESTION} {question.raw_text}") for question in survey.questions)
    return replace(survey, about=f"{_ABOUT}\n{survey.about}", questions=questions, access="open")
