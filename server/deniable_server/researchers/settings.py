"""One survey's own pages beside its results: its questions, its plan, its settings."""

from __future__ import annotations

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from deniable.errors import EstimateError
from deniable.plan import plan
from deniable.privacy.posterior import least_protected, people, posterior_bound
from deniable_server.context import current_store
from deniable_server.researchers.forms import MOST_PEOPLE, ActionForm
from deniable_server.researchers.pages import Page, routes
from deniable_server.store.roles import Role
from deniable_server.web.audience import least

bp = routes("settings", __name__)
PLANNED = 1_000  # people, where nobody says another number


@bp.get("/manage/surveys/<survey_id>/questions")
@least(Role.VIEWER)
def questions(survey_id: str) -> Page:
    """What is asked, and how well each answer is hidden."""
    published = current_store().surveys.published(survey_id)
    survey = published.survey
    weakest, belief = least_protected(survey.items), posterior_bound(survey.odds)
    shown = {"published": published, "weakest": weakest, "belief": belief, "people": people}
    return render_template("researchers/questions.html", **shown, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/plan")
@least(Role.VIEWER)
def planned(survey_id: str) -> Page:
    """What so many people will tell. Raises EstimateError for a number that is none of people."""
    published = current_store().surveys.published(survey_id)
    n = _people(request.args.get("n", str(PLANNED)))
    return render_template("researchers/plan.html", published=published, plan=plan(published.survey, n=n), form=ActionForm())


def _people(written: str) -> int:
    if not written.isascii() or not written.isdigit() or not 0 < int(written[:20]) <= MOST_PEOPLE:
        raise EstimateError(f"n must be a whole number of people from 1 to {MOST_PEOPLE:,}")
    return int(written)


@bp.get("/manage/surveys/<survey_id>/settings")
@least(Role.VIEWER)
def page(survey_id: str) -> Page:
    published = current_store().surveys.published(survey_id)
    return render_template("researchers/settings.html", published=published, form=ActionForm())


@bp.post("/manage/surveys/<survey_id>/close")
@least(Role.OWNER)
def close(survey_id: str) -> AnyResponse:
    """Closes a survey for good, as far as these pages go.

    Closing counts what waits, however little it is. Who could open the survey again and close it after each answer would see them one by
    one: that is for whoever runs the server, and has the files anyway.
    """
    current_store().surveys.set_open(survey_id, False)
    return redirect(url_for(".page", survey_id=survey_id))
