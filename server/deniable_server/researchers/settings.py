"""One survey's own pages beside its results: its questions, its plan, its settings."""

from __future__ import annotations

from collections.abc import Sequence

from flask import render_template, request
from werkzeug.wrappers import Response as AnyResponse

from deniable.privacy.posterior import least_protected, odds_in_words, posterior_bound
from deniable.survey.types import TYPES
from deniable_server.context import current_store
from deniable_server.drafts.plan_form import PlanForm
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import Page, done, routes
from deniable_server.researchers.forms import DeletionForm, SettingsForm
from deniable_server.results.progress import today
from deniable_server.store.errors import OpenError
from deniable_server.store.roles import Role
from deniable_server.web.audience import least
from deniable_server.web.offload import computed

bp = routes("settings", __name__)


@bp.get("/manage/surveys/<survey_id>/questions")
@least(Role.VIEWER)
@computed()
def questions(survey_id: str) -> Page:
    """What is asked, and how well each answer is hidden."""
    published = current_store().surveys.published(survey_id)
    survey = published.survey
    weakest, belief = least_protected(survey.items), posterior_bound(survey.odds)
    shown = {"published": published, "weakest": weakest, "belief": belief, "odds_in_words": odds_in_words, "types": TYPES}
    return render_template("researchers/questions.html", **shown, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/plan")
@least(Role.VIEWER)
@computed()
def planned(survey_id: str) -> Page:
    """What so many people will tell."""
    published = current_store().surveys.published(survey_id)
    asked = PlanForm.of(request.args, published.survey)
    found = asked.planned(published.survey)
    page = render_template("researchers/plan.html", published=published, asked=asked, plan=found, form=ActionForm())
    return page, 200 if found else 400


@bp.get("/manage/surveys/<survey_id>/settings")
@least(Role.VIEWER)
@computed()
def page(survey_id: str) -> Page:
    store = current_store()
    return _page(survey_id, SettingsForm.of(store.life.settings(survey_id)), DeletionForm())


@bp.post("/manage/surveys/<survey_id>/settings")
@least(Role.OWNER)
def keep(survey_id: str) -> Page:
    """Changes how a survey is to be run: for owners, since what is set here can close it and delete its records."""
    store = current_store()
    before = store.life.settings(survey_id)
    form = SettingsForm.of(before)
    form.validate()
    wanted = form.read(before, today())
    if wanted is None:
        return _page(survey_id, form, DeletionForm(formdata=None)), 422
    if wanted != before and form.older(before):
        return _page(survey_id, form, DeletionForm(formdata=None), form.meanwhile(before)), 409
    store.life.keep(survey_id, wanted)
    return _back(survey_id, "Saved.")


@bp.post("/manage/surveys/<survey_id>/pause")
@least(Role.EDITOR)
def pause(survey_id: str) -> AnyResponse:
    """Stops taking answers for a while, or goes on. Nothing that waits is counted by it."""
    store = current_store()
    published = store.surveys.published(survey_id)
    if published.is_open:
        store.surveys.pause(survey_id, not _ends())
        return _back(survey_id, "The survey is open again." if _ends() else "The survey is paused.")
    return _back(survey_id, "Nothing was changed: the survey is closed.")


def _ends() -> bool:
    """Whether the button ends a state and does not begin it. It says which, so that pressing it twice does it once."""
    return request.form.get("end") == "1"


@bp.post("/manage/surveys/<survey_id>/close")
@least(Role.OWNER)
def close(survey_id: str) -> AnyResponse:
    """Closes a survey for good, as far as these pages go.

    Closing counts what waits, however little it is. Who could open the survey again and close it after each answer would see them one by
    one: that is for whoever runs the server, and has the files anyway.
    """
    current_store().surveys.set_open(survey_id, False)
    return _back(survey_id, "The survey is closed.")


@bp.post("/manage/surveys/<survey_id>/archive")
@least(Role.OWNER)
def archive(survey_id: str) -> AnyResponse:
    """Puts a closed survey out of sight, or back."""
    try:
        current_store().life.archive(survey_id, not _ends())
    except OpenError:
        return _back(survey_id, "Nothing was changed: close the survey before you archive it.")
    return _back(survey_id, "The survey is back in the list." if _ends() else "The survey is archived.")


@bp.post("/manage/surveys/<survey_id>/delete")
@least(Role.OWNER)
def delete(survey_id: str) -> Page:
    """Deletes all records of a survey, for whoever has written its id."""
    store, form = current_store(), DeletionForm()
    settings = store.life.settings(survey_id)
    if form.validate() and form.survey.data.strip() != survey_id:
        form.survey.errors = [f"Write {survey_id}, the id of this survey."]
    if form.errors:
        return _page(survey_id, SettingsForm.of(settings), form), 422
    store.life.erase(survey_id, today())
    return _back(survey_id, "All records are deleted.")


def _page(survey_id: str, form: SettingsForm, deletion: DeletionForm, meanwhile: Sequence[str] = ()) -> str:
    """meanwhile: what somebody else has saved since the form was made."""
    store = current_store()
    shown = {"published": store.surveys.published(survey_id), "settings": store.life.settings(survey_id), "meanwhile": meanwhile}
    return render_template("researchers/settings.html", **shown, form=form, deletion=deletion)


def _back(survey_id: str, message: str) -> AnyResponse:
    return done(message, ".page", survey_id=survey_id)
