"""For researchers: log in, see the surveys, their estimates and downloads."""

from __future__ import annotations

import re
from typing import Any

from flask import Blueprint, Response, abort, g, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from deniable_server import current_passwords, current_store, downloads, figures, sessions
from deniable_server.cards import cards, scale_of
from deniable_server.chart import SHARE_TICKS, SHARES, mark, share_mark
from deniable_server.forms import ActionForm, LoginForm
from deniable_server.limiter import TooManyError
from deniable_server.results import groups_of, results_of
from deniable_server.side_by_side import mean_lines, share_lines

bp = Blueprint("manage", __name__)
Page = str | AnyResponse | tuple[str, int]
_OWN_PATH = re.compile(r"/manage(?:/[A-Za-z0-9_./-]*)?")


@bp.before_request
def researchers_only() -> AnyResponse | None:
    """Sends whoever is not logged in to the login page. Every route is closed but that page."""
    g.user = sessions.user()
    if g.user is None and request.endpoint != "manage.login":
        return redirect(url_for("manage.login", next=request.path))
    return None


@bp.context_processor
def shown_on_every_page() -> dict[str, Any]:
    return {
        "user": g.get("user"),
        "figures": figures,
        "mark": mark,
        "share_mark": share_mark,
        "shares_scale": SHARES,
        "share_ticks": SHARE_TICKS,
    }


@bp.route("/login", methods=["GET", "POST"])
def login() -> Page:
    form = LoginForm()
    if not form.validate_on_submit():
        return render_template("manage/login.html", form=form)
    user = form.user.data
    try:
        held = current_passwords().hold(user, form.password.data, sessions.device(user))
    except TooManyError as error:
        return _later(form, error)
    if not held or not sessions.log_in(user):
        form.password.errors = ["Name or password is wrong."]
        return render_template("manage/login.html", form=form), 401
    response: AnyResponse = redirect(_own_path(request.args.get("next")))
    sessions.remember_device(response, user)
    return response


def _later(form: LoginForm, error: TooManyError) -> AnyResponse:
    wait = "1 second" if error.seconds == 1 else f"{error.seconds} seconds"
    form.password.errors = [f"Too many tries. Wait {wait}, then try again."]
    response = make_response(render_template("manage/login.html", form=form), 429)
    response.retry_after = error.seconds
    return response


@bp.post("/logout")
def logout() -> Page:
    sessions.end()
    return redirect(url_for("manage.login"))


@bp.post("/logout/everywhere")
def logout_everywhere() -> Page:
    """Ends all sessions of this account, on whatever device."""
    current_store().accounts.end_sessions(g.user)
    return logout()


@bp.get("/manage")
def surveys() -> Page:
    store = current_store()
    counts = [(p, store.count(p.survey.id), store.count(p.survey.id, by_hand=True)) for p in store.surveys()]
    return render_template("manage/surveys.html", counts=counts, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>")
def survey(survey_id: str) -> Page:
    store, published = current_store(), current_store().published(survey_id)
    results = results_of(store, survey_id, request.args)
    sizes = {group: store.count(survey_id, group) for group in published.survey.groups}
    shown = {"published": published, "results": results, "cards": cards(published.survey, results), "sizes": sizes}
    needed = figures.needed(published.survey, results.rows[0].confidence)
    return render_template("manage/results.html", **shown, needed=needed, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/groups")
def groups(survey_id: str) -> Page:
    """All groups side by side, and two of them compared."""
    published = current_store().published(survey_id)
    if not published.survey.groups:
        abort(404, "this survey has no groups")
    compared = groups_of(current_store(), survey_id, request.args)
    needed = figures.needed(published.survey, compared.results[compared.first].rows[0].confidence)
    ways = {"scale_of": scale_of, "share_lines": share_lines, "mean_lines": mean_lines}
    return render_template("manage/groups.html", published=published, compared=compared, needed=needed, **ways, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/results.<any(csv, json):kind>")
def download(survey_id: str, kind: str) -> Page:
    results = results_of(current_store(), survey_id, request.args)
    part = f"-group-{current_store().published(survey_id).survey.groups.index(results.group) + 1}" if results.group else ""
    name = f"{survey_id}-results{part}{'-by-hand' if results.by_hand else ''}.{kind}"
    body, mimetype = (downloads.to_csv(results), "text/csv") if kind == "csv" else (results.to_json(), "application/json")
    return Response(body, mimetype=mimetype, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _own_path(path: str | None) -> str:
    """Where to go after login: a plain path of these pages, nothing else."""
    return path if path and _OWN_PATH.fullmatch(path) else url_for("manage.surveys")
