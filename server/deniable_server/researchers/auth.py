"""The door of researchers' pages: everybody may knock."""

from __future__ import annotations

import re

from flask import make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from deniable_server.researchers import sessions
from deniable_server.researchers.forms import LoginForm
from deniable_server.researchers.passwords import current_passwords
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.limiter import TooManyError

bp = Routes("auth", __name__, Audience(login=False, forms=True, csrf=True, translated=False))
Page = str | AnyResponse | tuple[str, int]
_OWN_PATH = re.compile(r"/manage(?:/[A-Za-z0-9_./-]*)?")


@bp.route("/login", methods=["GET", "POST"])
def login() -> Page:
    form = LoginForm()
    if not form.validate_on_submit():
        return render_template("researchers/login.html", form=form)
    user = form.user.data
    try:
        held = current_passwords().hold(user, form.password.data, sessions.device(user))
    except TooManyError as error:
        return _later(form, error)
    if not held or not sessions.log_in(user):
        form.password.errors = ["Name or password is wrong."]
        return render_template("researchers/login.html", form=form), 401
    response: AnyResponse = redirect(_own_path(request.args.get("next")))
    sessions.remember_device(response, user)
    return response


def _later(form: LoginForm, error: TooManyError) -> AnyResponse:
    wait = "1 second" if error.seconds == 1 else f"{error.seconds} seconds"
    form.password.errors = [f"Too many tries. Wait {wait}, then try again."]
    response = make_response(render_template("researchers/login.html", form=form), 429)
    response.retry_after = error.seconds
    return response


def _own_path(path: str | None) -> str:
    """Where to go after login: a plain path of these pages, nothing else."""
    return path if path and _OWN_PATH.fullmatch(path) else url_for("researchers.surveys")
