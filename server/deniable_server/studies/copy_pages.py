"""Buttons and downloads of a published survey: copy it as a new draft, begin a new wave, download its source."""

from __future__ import annotations

from flask import Response, request, url_for

from deniable_server.context import current_store
from deniable_server.pages.one_time_forms import repeated
from deniable_server.pages.routes import Page, done, routes
from deniable_server.store.roles import Role
from deniable_server.studies.copying import begin_copy, begin_wave, source_of
from deniable_server.web import lanes
from deniable_server.web.audience import least
from deniable_server.web.offload import computed

bp = routes("copies", __name__)


@bp.post("/manage/surveys/<survey_id>/copy")
@least(Role.VIEWER)
@lanes.computing
def copy(survey_id: str) -> Page:
    """Starts a draft with the survey's questions, and opens it."""
    if page := repeated("This copy was made already", url_for("researchers.surveys")):
        return page
    draft = begin_copy(survey_id)
    if "link" in request.form:
        message = "This draft is a copy. Enter the panel’s address under “Link at the end”, then publish it."
        return done(message, "drafting.edit", draft_id=draft.id, _anchor="return_link")  # opens the group of settings around the field
    return done("This draft is a copy. Change what you like, then publish it.", "drafting.edit", draft_id=draft.id)


@bp.post("/manage/surveys/<survey_id>/wave")
@least(Role.EDITOR)
@lanes.computing
def wave(survey_id: str) -> Page:
    """Starts a draft of the survey's next wave, and opens it."""
    if page := repeated("This wave was begun already", url_for("researchers.surveys")):
        return page
    draft = begin_wave(survey_id)
    return done("This draft is a new wave.", "drafting.edit", draft_id=draft.id)


@bp.get("/manage/surveys/<survey_id>/source.yaml")
@least(Role.VIEWER)
@computed()
def source(survey_id: str) -> Response:
    """Downloads the survey file."""
    text = source_of(current_store().surveys.published(survey_id))
    headers = {"Content-Disposition": f'attachment; filename="{survey_id}.yaml"'}
    return Response(text, mimetype="application/yaml", headers=headers)
