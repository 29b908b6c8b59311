"""Protection in words: the researcher chooses strong, medium or weak protection, and the page proposes epsilon, `ask` and weights."""

from __future__ import annotations

from typing import Any

from flask import redirect, render_template, request, url_for

from deniable.plan.levels import LevelProposal, level_of_survey, precision_curve, propose_level, proposed_levels
from deniable.plan.proposals import widest
from deniable.privacy.claims import Protection, claim_text, levels, protection_of
from deniable.survey import Survey
from deniable.survey.dump import to_yaml
from deniable_server.context import current_store
from deniable_server.drafts.editor.draft_text import document_in, survey_in
from deniable_server.drafts.editor.forms import PLANNED
from deniable_server.drafts.editor.notes import notes_in, with_notes
from deniable_server.drafts.forms import LevelForm
from deniable_server.drafts.own_drafts import own
from deniable_server.drafts.precision_chart import SIZES, precision_chart
from deniable_server.pages import figures
from deniable_server.pages.routes import Page, done, routes
from deniable_server.store.drafts import Draft
from deniable_server.store.errors import ConflictError
from deniable_server.store.roles import Role
from deniable_server.web import lanes
from deniable_server.web.offload import UPLOAD_SECONDS, computed

bp = routes("levels", __name__)


@bp.get("/manage/drafts/<draft_id>/protection")
@computed(UPLOAD_SECONDS)
def page(draft_id: str) -> Page:
    """Shows what each level of protection means for a draft, and how precise it is."""
    draft = own(draft_id, Role.VIEWER)
    return _page(draft, LevelForm(request.args if "n" in request.args else None, level=request.args.get("level", "")))


@bp.post("/manage/drafts/<draft_id>/protection")
@lanes.computing
def apply(draft_id: str) -> Page:
    """Changes a draft to a level of protection."""
    draft, form = own(draft_id, Role.EDITOR), LevelForm(request.form)
    document, survey = document_in(draft.text), survey_in(draft.text)
    if document is None or survey is None:
        return done("Fix the problems of the draft first.", "drafting.edit", draft_id=draft_id)
    if not form.validate() or form.level.data not in proposed_levels():
        return _page(draft, form, 422)
    proposal = _proposal(document, form.level.data, form.n.data, _least(form))
    try:
        current_store().drafts.save(draft_id, with_notes(to_yaml(proposal.document), notes_in(draft.text)), form.revision.data or "")
    except ConflictError:
        return _page(draft, form, 409)
    return done(
        f"Protection is {proposal.level} now. Undo restores the earlier settings.", "drafting.edit", draft_id=draft_id, n=form.n.data
    )


@computed(UPLOAD_SECONDS)
def _proposal(document: dict[str, Any], level: str, n: int, least: int) -> LevelProposal:
    return propose_level(document, level, n, least)


def _least(form: LevelForm) -> int:
    """Returns the fewest questions that each person must answer."""
    return 2 if form.together.data else 1


def _page(draft: Draft, form: LevelForm, status: int = 200) -> Page:
    document, survey = document_in(draft.text), survey_in(draft.text)
    if document is None or survey is None:
        return redirect(url_for("drafting.edit", draft_id=draft.id))
    is_valid = form.validate()
    n = form.n.data if is_valid else PLANNED
    now = level_of_survey(survey)
    chosen = form.level.data if form.level.data in proposed_levels() else now if now in proposed_levels() else proposed_levels()[-1]
    proposals = [propose_level(document, level, n, _least(form)) for level in proposed_levels()]
    curves = [precision_curve(one.survey, one.level, SIZES) for one in proposals]
    context: dict[str, Any] = {
        "draft": draft,
        "title": survey.title,
        "survey": survey,
        "form": form,
        "n": n,
        "now": _Now(survey, n, now),
        "chosen": next(one for one in proposals if one.level == chosen),
        "box": _box(proposals, chosen),
        "proposals": proposals,
        "needed": {one.level: figures.about(figures.needed(one.survey, 0.95)) for one in proposals},
        "bounds": dict(levels()),
        "names": {level: claim_text("level", {"weaker": level}).rstrip(".") for level, _ in levels()},
        "chart": precision_chart(curves, n),
        "rows": [(size, [curve.points[index][1] for curve in curves]) for index, size in enumerate(SIZES)],
        "conflict": status == 409,
    }
    return render_template("drafts/levels.html", **context), status if is_valid or status != 200 else 422


class _Now:
    """The draft as it is: its level and its precision."""

    def __init__(self, survey: Survey, n: int, level: str) -> None:
        self.level, self.half_width, self.epsilon, self.ask = level, widest(survey, n), survey.epsilon, survey.ask


def _box(proposals: list[LevelProposal], level: str) -> Protection:
    """Returns what respondents would read at this level."""
    return protection_of(next(one.survey for one in proposals if one.level == level))
