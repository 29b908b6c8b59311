"""Pages of a survey's questions, plan and settings."""

from __future__ import annotations

from collections.abc import Sequence

from flask import render_template, request
from werkzeug.wrappers import Response as AnyResponse

from deniable.privacy.claims import protection_of
from deniable.privacy.posterior import least_protected, odds_in_words
from deniable.survey.kind_words import kind_in_words
from deniable_server.context import current_store
from deniable_server.drafts.plan_form import PlanForm
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.numbers import whole
from deniable_server.pages.routes import Page, done, routes
from deniable_server.researchers.forms import DeletionForm, SettingsForm
from deniable_server.results.progress import today
from deniable_server.store.errors import OpenError, QuotaError
from deniable_server.store.roles import Role
from deniable_server.web.audience import least
from deniable_server.web.offload import computed

bp = routes("settings", __name__)


@bp.get("/manage/surveys/<survey_id>/questions")
@least(Role.VIEWER)
@computed()
def questions(survey_id: str) -> Page:
    """Shows the questions and the protection of each answer."""
    published = current_store().surveys.published(survey_id)
    survey = published.survey
    weakest = least_protected(survey.items)
    context = {
        "published": published,
        "weakest": weakest,
        "box": protection_of(survey),
        "odds_in_words": odds_in_words,
        "kind_in_words": kind_in_words,
    }
    return render_template("researchers/questions.html", **context, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/plan")
@least(Role.VIEWER)
@computed()
def planned(survey_id: str) -> Page:
    """Shows the plan of a published survey."""
    published = current_store().surveys.published(survey_id)
    form = PlanForm.of(request.args, published.survey)
    plan = form.planned(published.survey)
    page = render_template("researchers/plan.html", published=published, plan_request=form, plan=plan, form=ActionForm())
    return page, 200 if plan else 400


@bp.get("/manage/surveys/<survey_id>/settings")
@least(Role.VIEWER)
@computed()
def page(survey_id: str) -> Page:
    """Shows the settings of a survey."""
    store = current_store()
    return _page(survey_id, SettingsForm.of(store.life.settings(survey_id)), DeletionForm())


@bp.post("/manage/surveys/<survey_id>/settings")
@least(Role.OWNER)
def keep(survey_id: str) -> Page:
    """Saves the settings. Only owners may: the settings can close a survey and delete its records."""
    store = current_store()
    before = store.life.settings(survey_id)
    form = SettingsForm.of(before)
    form.validate()
    after = form.read(before, today())
    if after is None:
        return _page(survey_id, form, DeletionForm(formdata=None)), 422
    if after != before and form.is_outdated(before):
        return _page(survey_id, form, DeletionForm(formdata=None), form.rebase(before)), 409
    store.life.keep(survey_id, after)
    return _back(survey_id, "Saved.")


@bp.post("/manage/surveys/<survey_id>/quotas")
@least(Role.OWNER)
def quotas(survey_id: str) -> AnyResponse:
    """Sets or raises the quotas of groups; an empty field changes nothing."""
    life = current_store().life
    groups, before = current_store().surveys.published(survey_id).survey.groups, life.quotas(survey_id)
    try:
        entered = {group: whole(text) for index, group in enumerate(groups) if (text := request.form.get(f"quota-{index}", "").strip())}
        if changes := {group: most for group, most in entered.items() if most != before.get(group)}:
            life.set_quotas(survey_id, changes)
    except (ValueError, QuotaError) as error:
        return _back(survey_id, f"Nothing was changed: {error}.")
    return _back(survey_id, "Saved." if changes else "Nothing was changed.")


@bp.post("/manage/surveys/<survey_id>/pause")
@least(Role.EDITOR)
def pause(survey_id: str) -> AnyResponse:
    """Pauses or resumes a survey, without counting waiting records."""
    store = current_store()
    published = store.surveys.published(survey_id)
    if published.is_open:
        store.surveys.pause(survey_id, not _ends())
        return _back(survey_id, "The survey is open again." if _ends() else "The survey is paused.")
    return _back(survey_id, "Nothing was changed: the survey is closed.")


def _ends() -> bool:
    """Returns whether the button ends a state. It says so, so that a second press does not begin it again."""
    return request.form.get("end") == "1"


@bp.post("/manage/surveys/<survey_id>/close")
@least(Role.OWNER)
def close(survey_id: str) -> AnyResponse:
    """Closes a survey for good, as far as these pages go.

    Closing releases the waiting records. Only people who run the server can reopen a survey, and never one with `release: close`.
    """
    current_store().surveys.set_open(survey_id, False)
    return _back(survey_id, "The survey is closed.")


@bp.post("/manage/surveys/<survey_id>/archive")
@least(Role.OWNER)
def archive(survey_id: str) -> AnyResponse:
    """Moves a closed survey to the archive, or back."""
    try:
        current_store().life.archive(survey_id, not _ends())
    except OpenError:
        return _back(survey_id, "Nothing was changed: close the survey first.")
    return _back(survey_id, "The survey is back in the list." if _ends() else "The survey is archived.")


@bp.post("/manage/surveys/<survey_id>/delete")
@least(Role.OWNER)
def delete(survey_id: str) -> Page:
    """Deletes all records of a survey after the person has typed its id."""
    store, form = current_store(), DeletionForm()
    settings = store.life.settings(survey_id)
    if form.validate() and form.survey.data.strip() != survey_id:
        form.survey.errors = [f"Type {survey_id}, the id of this survey."]
    if form.errors:
        return _page(survey_id, SettingsForm.of(settings), form), 422
    store.life.erase(survey_id, today())
    return _back(survey_id, "All records are deleted.")


def _page(survey_id: str, form: SettingsForm, deletion: DeletionForm, meanwhile: Sequence[str] = ()) -> str:
    """Renders the page. meanwhile: settings that changed after the form was loaded."""
    store = current_store()
    context = {"published": store.surveys.published(survey_id), "settings": store.life.settings(survey_id), "meanwhile": meanwhile}
    context |= {"quotas": store.life.quotas(survey_id), "full": store.life.full_groups(survey_id)}
    return render_template("researchers/settings.html", **context, form=form, deletion=deletion)


def _back(survey_id: str, message: str) -> AnyResponse:
    return done(message, ".page", survey_id=survey_id)
