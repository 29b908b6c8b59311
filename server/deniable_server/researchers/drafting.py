"""A new survey: its file is chosen or written here, checked as `deniable check` does it, planned, and published."""

from __future__ import annotations

from dataclasses import dataclass

from flask import g, redirect, render_template, url_for

from deniable.errors import Problem, SurveyError
from deniable.plan import Plan, plan
from deniable.survey import Survey
from deniable.survey.document import MAX_BYTES
from deniable.survey.labels import warnings
from deniable_server.context import current_store
from deniable_server.researchers.forms import DraftForm
from deniable_server.researchers.pages import Page, routes
from deniable_server.store.errors import ConflictError
from deniable_server.web import limits

bp = routes("drafting", __name__)

MOST_BYTES = MAX_BYTES * 3 // 2  # of a form; one that is larger than 500 kB would be put on the disk while it is read
EXAMPLE = """\
deniable: 1
id: affairs
title: About marriage
about: Who asks, why, and whom to contact.
epsilon: ln 9
questions:
  - {id: affair, text: "Have you ever had an affair?", type: yes_no}
  - {id: children, text: "How many children do you have?", type: choice, options: [none, one or two, three or more]}
"""
"""What the page begins with: the smallest survey that shows how one is written."""


@dataclass(frozen=True)
class Draft:
    """A survey that could be published: what it will be able to tell, and what is worth a second look."""

    survey: Survey
    plan: Plan
    doubts: tuple[str, ...]


@bp.route("/manage/new", methods=["GET", "POST"])
@limits.body(MOST_BYTES)
def survey() -> Page:
    form = DraftForm()
    if not form.is_submitted():
        form.source.data = EXAMPLE
        return render_template("researchers/new.html", form=form, draft=None, problems=())
    if not form.validate():
        return _refused(form, [])
    form.source.data = text = form.text()
    try:
        draft = _draft(text, form.n.data)
        if not form.publish.data:
            return render_template("researchers/new.html", form=form, draft=draft, problems=())
        current_store().surveys.publish(draft.survey, owner=g.user)
    except SurveyError as error:
        return _refused(form, list(error.problems))
    except ConflictError:
        return _refused(form, [Problem("id", "must be a new one: it is another survey's, and a published survey never changes")])
    return redirect(url_for("inviting.page", survey_id=draft.survey.id))


def _draft(text: str, n: int) -> Draft:
    survey = Survey.from_text(text)
    return Draft(survey, plan(survey, n=n), tuple(warnings(survey.groups, n)))


def _refused(form: DraftForm, problems: list[Problem]) -> Page:
    return render_template("researchers/new.html", form=form, draft=None, problems=problems), 422
