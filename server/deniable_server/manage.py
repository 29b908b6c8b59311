"""For researchers: log in, see the surveys, their estimates and downloads."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from flask import Blueprint, Response, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from deniable_server import current_store
from deniable_server.accounts import password_holds
from deniable_server.chart import chart
from deniable_server.forms import ActionForm, LoginForm
from deniable_server.results import results_of

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
    published = [(p, current_store().tally(p.survey.id).n) for p in current_store().surveys()]
    return render_template("manage/surveys.html", published=published, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>")
@login_required
def survey(survey_id: str) -> Page:
    published, results = current_store().published(survey_id), results_of(current_store(), survey_id, request.args)
    questions = [(item, [row for row in results.rows if row.question == item.id]) for item in published.survey.items]
    shown = {"published": published, "results": results, "questions": questions, "means": {row.question: row for row in results.means}}
    return render_template("manage/results.html", **shown, chart=chart, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/results.<any(csv, json):kind>")
@login_required
def download(survey_id: str, kind: str) -> Page:
    results = results_of(current_store(), survey_id, request.args)
    body, mimetype = (results.to_csv(), "text/csv") if kind == "csv" else (results.to_json(), "application/json")
    return Response(body, mimetype=mimetype, headers={"Content-Disposition": f'attachment; filename="{survey_id}-results.{kind}"'})


def _own_path(path: str | None) -> str:
    """Where to go after login: a path of this site, nothing else."""
    return path if path and path.startswith("/manage") else url_for("manage.surveys")
