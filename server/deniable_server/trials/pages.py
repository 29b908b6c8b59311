"""Test page of a draft: starts a test run, shows its link, simulates people, and deletes the run."""

from __future__ import annotations

from flask import abort, g, redirect, render_template, request, url_for

from deniable.errors import EstimateError
from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.access.invitations import personal_link
from deniable_server.context import current_services
from deniable_server.drafts.editor.draft_text import survey_in
from deniable_server.drafts.own_drafts import may_edit, own
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import Page, done, routes
from deniable_server.results.simulated import ItemShares, simulated_submissions
from deniable_server.store.drafts import Draft
from deniable_server.store.errors import ConflictError
from deniable_server.store.protocol import Published, Store
from deniable_server.store.roles import Role
from deniable_server.store.trials import SIMULATED, TEST
from deniable_server.trials.forms import SimulationForm
from deniable_server.trials.marked import marked
from deniable_server.trials.runs import HOURS, MOST_SURVEYS, TrialRun, TrialRuns
from deniable_server.trials.shares import field_of, options_of, shares_in
from deniable_server.web import lanes
from deniable_server.web.links import respondents_link, server_address
from deniable_server.web.offload import computed

bp = routes("trials", __name__)


@bp.get("/manage/drafts/<draft_id>/test")
@lanes.computing
def page(draft_id: str) -> Page:
    """Shows the test run of a draft, or how to start one."""
    return _page(own(draft_id, Role.VIEWER))


@bp.post("/manage/drafts/<draft_id>/test")
@lanes.computing
def start(draft_id: str) -> Page:
    """Starts a test run of the draft as it is now, in place of an earlier one."""
    draft = own(draft_id, Role.EDITOR)
    survey = _survey(draft)
    try:
        _start(draft, survey)
    except ConflictError as error:
        return _page(draft, str(error), 409)
    return done("The test run has started.", ".page", draft_id=draft_id)


@bp.post("/manage/drafts/<draft_id>/test/simulate")
@lanes.computing
def simulate(draft_id: str) -> Page:
    """Adds a simulation to the test run, which is started if necessary."""
    draft, form = own(draft_id, Role.EDITOR), SimulationForm()
    survey = _survey(draft)
    if not form.validate():
        return _page(draft, form.n.errors[0], 422)
    runs = current_services().get(TrialRuns)
    run = runs.run_of(draft_id)
    try:
        shares = shares_in(survey, request.form)
        if run is None or run.revision != draft.revision:
            run = _start(draft, survey)
        number = len(run.simulated_ids) + 1
        simulated, submissions = _simulated(survey, form.n.data, shares, number)
        runs.add(run, simulated)
    except EstimateError as error:
        return _page(draft, str(error), 422)
    except ConflictError as error:
        return _page(draft, str(error), 409)
    fill(runs.store_of(run), simulated, submissions)
    return done("The simulated people have answered.", "researchers.survey", survey_id=simulated.id)


@bp.post("/manage/drafts/<draft_id>/test/discard")
def discard(draft_id: str) -> Page:
    """Deletes the test run."""
    own(draft_id, Role.EDITOR)
    current_services().trials.discard_draft(draft_id)
    return done("The test run is gone, with all its records.", ".page", draft_id=draft_id)


def fill(store: Store, survey: Survey, submissions: list[Submission]) -> None:
    """Stores the records of simulated people, and closes their survey."""
    for submission in submissions:
        store.submissions.add(survey.id, submission)
    store.surveys.set_open(survey.id, False)


@computed()
def _simulated(survey: Survey, n: int, shares: ItemShares, number: int) -> tuple[Survey, list[Submission]]:
    simulated = marked(survey, SIMULATED, number)
    return simulated, simulated_submissions(simulated, [(n, shares)])


def _survey(draft: Draft) -> Survey:
    """Returns the survey of a draft; aborts with 409 if the draft has problems."""
    survey = survey_in(draft.text)
    if survey is None:
        abort(409, "the draft must have no problems to be tested")
    return survey


def _start(draft: Draft, survey: Survey) -> TrialRun:
    runs = current_services().get(TrialRuns)
    return runs.add(runs.start(draft.id, g.user, draft.revision), marked(survey, TEST))


def _page(draft: Draft, problem: str = "", status: int = 200) -> Page:
    survey = survey_in(draft.text)
    if survey is None:
        return redirect(url_for("drafting.edit", draft_id=draft.id))
    runs = current_services().get(TrialRuns)
    run = runs.run_of(draft.id)
    store = runs.store_of(run) if run else None
    surveys = [_counted(store, survey_id) for survey_id in run.survey_ids] if run and store else []
    test = surveys[0][0].survey if surveys else None
    context = {
        "draft": draft,
        "title": survey.title,
        "survey": survey,
        "run": run,
        "surveys": surveys,
        "link": respondents_link(test) if test else "",
        "links": [(code, personal_link(test, code, server_address())) for code in run.codes] if run and test else [],
        "is_outdated": run is not None and run.revision != draft.revision,
        "hours": HOURS,
        "is_full": run is not None and len(run.survey_ids) >= MOST_SURVEYS,
        "may_edit": may_edit(draft),
        "problem": problem,
        "form": ActionForm(),
        "simulation": SimulationForm(),
        "field_of": field_of,
        "options_of": options_of,
    }
    return render_template("trials/test.html", **context), status


def _counted(store: Store, survey_id: str) -> tuple[Published, int]:
    """Returns a trial and the number of its records."""
    return store.surveys.published(survey_id), sum(store.submissions.counts(survey_id).values())
