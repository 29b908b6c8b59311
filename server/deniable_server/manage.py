"""For researchers: log in, see the surveys, their estimates and downloads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import ParamSpec

from flask import Blueprint, Response, abort, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from deniable.estimate import Row
from deniable_server import current_store
from deniable_server.accounts import password_holds
from deniable_server.chart import Chart, chart
from deniable_server.forms import ActionForm, LoginForm
from deniable_server.results import Compared, groups_of, results_of

bp = Blueprint("manage", __name__)
P = ParamSpec("P")
Page = str | AnyResponse | tuple[str, int]


def login_required(view: Callable[P, Page]) -> Callable[P, Page]:
    """Sends whoever is not logged in to the login page."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> Page:
        if "user" not in session:
            return redirect(url_for("manage.login", next=request.path))
        return view(*args, **kwargs)

    return guarded


@bp.route("/login", methods=["GET", "POST"])
def login() -> Page:
    form = LoginForm()
    if not form.validate_on_submit():
        return render_template("manage/login.html", form=form)
    if not password_holds(current_store(), form.user.data, form.password.data):
        form.password.errors = ["Name or password is wrong."]
        return render_template("manage/login.html", form=form), 401
    session.clear()
    session.permanent = True
    session["user"] = form.user.data
    return redirect(_own_path(request.args.get("next")))


@bp.post("/logout")
def logout() -> Page:
    session.clear()
    return redirect(url_for("manage.login"))


@bp.get("/manage")
@login_required
def surveys() -> Page:
    store = current_store()
    counts = [(p, store.count(p.survey.id), store.count(p.survey.id, by_hand=True)) for p in store.surveys()]
    return render_template("manage/surveys.html", counts=counts, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>")
@login_required
def survey(survey_id: str) -> Page:
    store, published = current_store(), current_store().published(survey_id)
    results = results_of(store, survey_id, request.args)
    questions = [(item, [row for row in results.rows if row.question == item.id]) for item in published.survey.items]
    sizes = {group: store.count(survey_id, group) for group in published.survey.groups}
    shown = {"published": published, "results": results, "questions": questions, "means": {row.question: row for row in results.means}}
    return render_template("manage/results.html", **shown, sizes=sizes, chart=chart, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/groups")
@login_required
def groups(survey_id: str) -> Page:
    """All groups side by side, and two of them compared."""
    published = current_store().published(survey_id)
    if not published.survey.groups:
        abort(404, "this survey has no groups")
    compared = groups_of(current_store(), survey_id, request.args)
    return render_template("manage/groups.html", published=published, compared=compared, chart_of=_chart_of, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/results.<any(csv, json):kind>")
@login_required
def download(survey_id: str, kind: str) -> Page:
    results = results_of(current_store(), survey_id, request.args)
    part = f"-group-{current_store().published(survey_id).survey.groups.index(results.group) + 1}" if results.group else ""
    name = f"{survey_id}-results{part}{'-by-hand' if results.by_hand else ''}.{kind}"
    body, mimetype = (results.to_csv(), "text/csv") if kind == "csv" else (results.to_json(), "application/json")
    return Response(body, mimetype=mimetype, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _chart_of(question: Compared, option: int) -> tuple[list[Row], Chart | None]:
    """One option's share in every group: a row for each, labelled by the group, and their chart."""
    rows = [replace(rows[option], option=group) for group, rows in question.rows.items()]
    return rows, chart(rows)


def _own_path(path: str | None) -> str:
    """Where to go after login: a path of this site, nothing else."""
    return path if path and path.startswith("/manage") else url_for("manage.surveys")
