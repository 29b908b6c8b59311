"""The door of researchers' pages: everybody may knock. Who has a second factor shows it after the password."""

from __future__ import annotations

import re

from flask import make_response, redirect, render_template, request, url_for
from flask_wtf.csrf import CSRFError
from werkzeug.wrappers import Response as AnyResponse

from deniable_server.context import current_store
from deniable_server.identity import passkeys, sessions
from deniable_server.identity.forms import CodeForm, LoginForm
from deniable_server.identity.passwords import current_passwords
from deniable_server.identity.second_factor import proved
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.errors import without_token
from deniable_server.web.rate_limiter import RateLimitError, current_rates

bp = Routes("auth", __name__, Audience(login=False, forms=True, csrf=True, translated=False))
Page = str | AnyResponse | tuple[str, int]
_OWN_PATH = re.compile(r"/manage(?:/[A-Za-z0-9_./-]*)?")


@bp.errorhandler(CSRFError)
def asked_again(_: CSRFError) -> Page:
    """A form without the token of this visit: the page anew, with one. Anybody can have sent it, so nothing of it is shown."""
    form = LoginForm(formdata=None)
    form.csrf_token.errors = [without_token()]  # nothing is wrong with what was typed
    return render_template("identity/login.html", form=form), 400


@bp.route("/login", methods=["GET", "POST"])
def login() -> Page:
    form = LoginForm()
    if not form.validate_on_submit():
        return render_template("identity/login.html", form=form)
    user = form.user.data
    try:
        held = current_passwords().hold(user, form.password.data, sessions.device(user))
    except RateLimitError as error:
        form.password.errors = [_told(error)]
        return _wait(render_template("identity/login.html", form=form), error)
    if held and current_store().factors.any(user):
        sessions.half_way(user)
        return redirect(url_for(".code", next=request.args.get("next")))
    if not held or not sessions.log_in(user):
        form.password.errors = ["Name or password is wrong."]
        return render_template("identity/login.html", form=form), 401
    return _entered(user)


@bp.route("/login/code", methods=["GET", "POST"])
def code() -> Page:
    """Asks whoever has just shown the password of an account for its second factor."""
    form, user = CodeForm(), sessions.half_way_user()
    if user is None:
        return redirect(url_for(".login", next=request.args.get("next")))
    if not form.validate_on_submit():
        return _ask_factor(form, user)
    who = sessions.device(user) or user
    try:
        current_rates().codes.begin(who)
    except RateLimitError as error:
        form.code.errors = [_told(error)]
        return _wait(_ask_factor(form, user), error)
    answer = form.credential.data
    held = _passkey_held(user, answer) if answer else proved(current_store().factors, user, form.code.data)
    if not held or not sessions.log_in(user):
        form.code.errors = ["This passkey is none of yours." if answer else "This code is wrong, or was used before."]
        return _ask_factor(form, user), 401
    current_rates().codes.forgive(who)
    return _entered(user)


def _ask_factor(form: CodeForm, user: str) -> str:
    factors = current_store().factors
    known = factors.passkeys(user)
    options = passkeys.request_options(known) if known and passkeys.site() else ""
    return render_template("identity/code.html", form=form, options=options, has_app=factors.secret(user) is not None)


def _passkey_held(user: str, answer: str) -> bool:
    """Whether this is an answer of one of the user's passkeys to the challenge of this visit, for the first time."""
    factors = current_store().factors
    found = passkeys.shown(answer, factors.passkeys(user))
    return found is not None and factors.use_passkey(user, *found)


def _entered(user: str) -> AnyResponse:
    response: AnyResponse = redirect(_own_path(request.args.get("next")))
    sessions.remember_device(response, user)
    return response


def _told(error: RateLimitError) -> str:
    wait = "1 second" if error.seconds == 1 else f"{error.seconds} seconds"
    return f"Too many tries. Wait {wait}, then try again."


def _wait(page: str, error: RateLimitError) -> AnyResponse:
    response = make_response(page, 429)
    response.retry_after = error.seconds
    return response


def _own_path(path: str | None) -> str:
    """Where to go after login: a plain path of these pages, nothing else."""
    return path if path and _OWN_PATH.fullmatch(path) else url_for("researchers.surveys")
