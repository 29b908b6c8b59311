"""Free ids: the first of some ids that a new survey on this server can have."""

from __future__ import annotations

from collections.abc import Iterable

from deniable_server.context import current_store
from deniable_server.drafts.own_drafts import all_own
from deniable_server.store.errors import ConflictError, UnknownSurveyError


def free_id(ids: Iterable[str]) -> str:
    """Returns the first id that no survey has or looks like, and no draft of the researcher. Raises ConflictError without one."""
    drafts = {draft.survey_id for draft in all_own()}
    for survey_id in ids:
        if survey_id not in drafts and not is_published(survey_id) and current_store().surveys.looks_like(survey_id) is None:
            return survey_id
    raise ConflictError("no id is left for a copy: give the survey another id first")


def is_published(survey_id: str) -> bool:
    """Returns whether a published survey has this id."""
    try:
        return bool(current_store().surveys.published(survey_id))
    except UnknownSurveyError:
        return False
