"""Changes of a study: its name, and the surveys that belong to it."""

from __future__ import annotations

from flask import abort, g, request

from deniable_server.context import current_store
from deniable_server.pages.routes import Page, done, routes
from deniable_server.store.errors import ConflictError
from deniable_server.store.roles import Role
from deniable_server.store.studies import study_name
from deniable_server.studies.forms import StudyForm
from deniable_server.web.audience import least

bp = routes("studies", __name__)


@bp.post("/manage/surveys/<survey_id>/study")
@least(Role.EDITOR)
def change(survey_id: str) -> Page:
    """Renames the study of a survey, removes the survey from it, or adds another survey; `do` says which."""
    act = _ACTS.get(request.form.get("do", ""))
    if act is None:
        abort(400, f"do must be {', '.join(_ACTS)}")
    return done(act(survey_id), "building.waves", survey_id=survey_id)


def _leave(survey_id: str) -> str:
    left = current_store().studies.leave(survey_id)
    return "The survey is no longer in the study." if left else "Nothing was changed: the survey is in no study."


def _rename(survey_id: str) -> str:
    studies, form = current_store().studies, StudyForm()
    wave = studies.wave(survey_id)
    if wave is None:
        return "Nothing was changed: the survey is in no study."
    if not form.validate():
        return f"Nothing was changed. {form.name.errors[0]}"
    studies.rename(wave.study, study_name(form.name.data))
    return "The study has a new name."


def _join(survey_id: str) -> str:
    """Adds another survey to the study of this one. The researcher must be an editor of both."""
    other = request.form.get("other", "")
    if current_store().roles.role(g.user, other) < Role.EDITOR:
        abort(403, "this needs the role editor or a higher one in both surveys")
    try:
        wave = current_store().studies.join(other, survey_id)
    except ConflictError:
        return "Nothing was changed: that survey is in a study already."
    return f"The survey is wave {wave.number} of the study now."


_ACTS = {"rename": _rename, "leave": _leave, "join": _join}
"""Each changes the study of a survey, and returns what it did in one sentence."""
