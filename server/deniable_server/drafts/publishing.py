"""Publishing a draft, after a confirmation page that lists everything that can no longer be changed."""

from __future__ import annotations

from flask import g, redirect, render_template, url_for

from deniable.privacy.claims import protection_of
from deniable.privacy.stronger import stronger
from deniable.survey import Survey
from deniable.survey.kind_words import kind_in_words
from deniable_server.context import current_services, current_store
from deniable_server.drafts.editor.draft_text import document_in, survey_in
from deniable_server.drafts.editor.fields import fields_of
from deniable_server.drafts.editor.missing_translations import missing_translations
from deniable_server.drafts.editor.sample_text import find_sample_text
from deniable_server.drafts.forms import PublishForm
from deniable_server.drafts.own_drafts import own
from deniable_server.pages.routes import Page, routes
from deniable_server.store.drafts import PREVIEW, Draft
from deniable_server.store.errors import ConflictError, UnknownSurveyError
from deniable_server.store.namesakes import namesakes
from deniable_server.store.trials import is_trial
from deniable_server.web import lanes
from deniable_server.web.offload import computed

bp = routes("publishing", __name__)


@bp.get("/manage/drafts/<draft_id>/publish")
@computed()
def page(draft_id: str) -> Page:
    """Shows the confirmation page, or the draft if it has problems."""
    draft = own(draft_id)
    survey = survey_in(draft.text)
    return redirect(url_for("drafting.edit", draft_id=draft_id)) if survey is None else _confirmation(draft, survey)


@bp.post("/manage/drafts/<draft_id>/publish")
@lanes.computing
def publish(draft_id: str) -> Page:
    """Publishes the confirmed draft and deletes it; asks again if the draft has changed since."""
    draft, form = own(draft_id), PublishForm()
    survey = survey_in(draft.text)
    if survey is None:
        return redirect(url_for("drafting.edit", draft_id=draft_id))
    if form.revision.data != draft.revision:
        return _confirmation(draft, survey, meanwhile=True), 409
    if namesakes(current_store(), survey, g.user).others and not form.same_title.data:
        return _confirmation(draft, survey), 409
    try:
        current_store().surveys.publish(survey, owner=g.user, source=draft.text, draft=draft.id)
    except ConflictError:
        return _confirmation(draft, survey, refused=True), 409
    current_store().drafts.remove(draft_id)
    current_services().trials.discard_draft(draft_id)
    return redirect(url_for("inviting.page", survey_id=survey.id))


def is_id_taken(survey: Survey) -> bool:
    """Returns whether the id belongs to another survey, looks like the id of one, or is reserved for previews or trials."""
    surveys = current_store().surveys
    try:
        return survey.id.startswith(PREVIEW) or is_trial(survey.id) or not surveys.published(survey.id).survey.is_same_as(survey)
    except UnknownSurveyError:
        return surveys.looks_like(survey.id) is not None


def _confirmation(draft: Draft, survey: Survey, meanwhile: bool = False, refused: bool = False) -> str:
    document = document_in(draft.text)
    return render_template(
        "drafts/publish.html",
        draft=draft,
        survey=survey,
        form=PublishForm(formdata=None, revision=draft.revision),
        has_fields=document is not None,
        missing_translations=missing_translations(survey, fields_of(document) if document is not None else None),
        sample_text=find_sample_text(survey),
        box=protection_of(survey),
        stronger=stronger(survey),
        kind_in_words=kind_in_words,
        meanwhile=meanwhile,
        id_in_use=refused or is_id_taken(survey),
        namesakes=namesakes(current_store(), survey, g.user),
    )
