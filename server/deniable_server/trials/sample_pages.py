"""Pages of the sample study: its results, made on the first look, and its removal for good."""

from __future__ import annotations

from flask import g, redirect, url_for

from deniable_server.context import current_services, current_store
from deniable_server.pages.routes import Page, done, routes
from deniable_server.store.errors import UnknownSurveyError
from deniable_server.trials.pages import fill
from deniable_server.trials.runs import REMOVED_SAMPLE, SAMPLE, TrialRuns
from deniable_server.trials.sample import simulated_sample
from deniable_server.web import lanes

bp = routes("sample", __name__)


@bp.get("/manage/sample")
@lanes.computing
def results() -> Page:
    """Shows the results of the sample study."""
    if REMOVED_SAMPLE in current_store().accounts.dismissed(g.user):
        raise UnknownSurveyError("you have removed the sample study")
    runs = current_services().get(TrialRuns)
    if (run := runs.run_of(SAMPLE)) is None:
        survey, submissions = simulated_sample()
        run = runs.start_sample(survey, lambda store: fill(store, survey, submissions))
    return redirect(url_for("researchers.survey", survey_id=run.survey_ids[0]))


@bp.post("/manage/sample/remove")
def remove() -> Page:
    """Removes the sample study and the first steps from the account's pages, for good."""
    current_store().accounts.dismiss(g.user, REMOVED_SAMPLE)
    return done("The sample study is removed.", "researchers.surveys")
