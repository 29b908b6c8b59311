"""Copies of published surveys as new drafts, and drafts of new waves."""

from __future__ import annotations

from flask import abort, g

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.copies import COPY, next_ids, survey_file, with_id
from deniable_server.context import current_store
from deniable_server.drafts.free_ids import free_id
from deniable_server.store.drafts import Draft
from deniable_server.store.protocol import Published
from deniable_server.store.trials import is_trial
from deniable_server.web.offload import UPLOAD_SECONDS, computed


def source_of(published: Published) -> str:
    """Returns the survey file of a published survey: the stored one, or for older surveys one written from the definition."""
    return current_store().surveys.source(published.survey.id) or survey_file(published.survey)


def begin_copy(survey_id: str) -> Draft:
    """Starts a draft with the questions of a survey under a new id. Raises TooManyDraftsError."""
    return current_store().drafts.begin(g.user, _copied(survey_id, free_id(next_ids(survey_id, COPY))))


def begin_wave(survey_id: str) -> Draft:
    """Starts a draft of the next wave of a survey, with the next number in its id. Raises TooManyDraftsError."""
    studies = current_store().studies
    wave = studies.wave(survey_id)
    latest = studies.waves(wave.study)[-1].survey if wave else survey_id
    draft = current_store().drafts.begin(g.user, _copied(survey_id, free_id(next_ids(latest))))
    studies.begin_wave(draft.id, survey_id)
    return draft


@computed(UPLOAD_SECONDS)
def _copied(survey_id: str, new_id: str) -> str:
    """Returns the survey file of a survey under a new id. Aborts with 409 for a test run, and if it is too large to be edited."""
    if is_trial(survey_id):
        abort(409, "a test run cannot be copied: it belongs to a draft, which has the same questions")
    published = current_store().surveys.published(survey_id)
    text = source_of(published)
    try:
        copy = with_id(text, new_id)
        Survey.from_text(copy)
    except SurveyError:
        abort(409, "this survey cannot be copied: its survey file would break the rules for drafts")
    return copy
