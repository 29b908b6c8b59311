"""Authentication: login with a password and, if set up, a second factor."""

from __future__ import annotations

from flask import make_response, redirect, render_template, request, url_for
from flask_wtf.csrf import CSRFError
from werkzeug.wrappers import Response as AnyResponse

from deniable_server.context import current_store
from deniable_server.identity import passkeys, sessions
from deniable_server.identity.entrance import enter
from deniable_server.identity.forms import CodeForm, LoginForm
from deniable_server.identity.passwords import current_passwords
from deniable_server.identity.second_factor import use_code
from deniable_server.identity.sso.provider import current_provider, is_required
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.errors import without_token
from deniable_server.web.rate_limiter import RateLimitError, current_rates

bp = Routes("auth", __name__, Audience(login=False, forms=True, csrf=True, translated=False))
Page = str | AnyResponse | tuple[str, int]


@bp.errorhandler(CSRFError)
def show_form_again(_: CSRFError) -> Page:
    """Shows an empty form again after a missing token: any site can have sent it, so its values are not shown."""
    form = LoginForm(formdata=None)
    form.csrf_token.errors = [without_token()]  # the values may be correct
    return _door(form), 400


@bp.route("/login", methods=["GET", "POST"])
def login() -> Page:
    """Logs a researcher in, or asks for the second factor."""
    form = LoginForm()
    if is_required() and request.method == "POST":
        form.password.errors = ["Passwords do not log in here. Use the button."]
        return _door(form), 403
    if not form.validate_on_submit():
        return _door(form)
    user = form.user.data
    try:
        is_correct = current_passwords().verify(user, form.password.data, sessions.device_id(user))
    except RateLimitError as error:
        form.password.errors = [_too_many(error)]
        return _wait(_door(form), error)
    if is_correct and current_store().factors.any(user):
        sessions.begin_second_factor(user)
        return redirect(url_for(".code", next=request.args.get("next")))
    if not is_correct or not sessions.log_in(user):
        form.password.errors = ["Name or password is wrong."]
        return _door(form), 401
    return enter(user, request.args.get("next"))


@bp.route("/login/code", methods=["GET", "POST"])
def code() -> Page:
    """Asks for the second factor after a correct password."""
    form, user = CodeForm(), sessions.second_factor_user()
    if user is None:
        return redirect(url_for(".login", next=request.args.get("next")))
    if not form.validate_on_submit():
        return _ask_factor(form, user)
    who = sessions.device_id(user) or user
    try:
        current_rates().codes.begin(who)
    except RateLimitError as error:
        form.code.errors = [_too_many(error)]
        return _wait(_ask_factor(form, user), error)
    answer = form.credential.data
    is_valid = _use_passkey(user, answer) if answer else use_code(current_store().factors, user, form.code.data)
    if not is_valid or not sessions.log_in(user):
        form.code.errors = ["This passkey does not belong to your account." if answer else "This code is wrong or was already used."]
        return _ask_factor(form, user), 401
    current_rates().codes.forgive(who)
    return enter(user, request.args.get("next"))


def _door(form: LoginForm) -> str:
    return render_template("identity/login.html", form=form, sso=current_provider())


def _ask_factor(form: CodeForm, user: str) -> str:
    factors = current_store().factors
    stored = factors.passkeys(user)
    options = passkeys.request_options(stored) if stored and passkeys.site() else ""
    return render_template("identity/code.html", form=form, options=options, has_app=factors.secret(user) is not None)


def _use_passkey(user: str, answer: str) -> bool:
    """Returns whether one of the user's passkeys has answered this visit's challenge, for the first time."""
    factors = current_store().factors
    match = passkeys.verify(answer, factors.passkeys(user))
    return match is not None and factors.use_passkey(user, *match)


def _too_many(error: RateLimitError) -> str:
    wait = "1 second" if error.seconds == 1 else f"{error.seconds} seconds"
    return f"Too many tries. Wait {wait}, then try again."


def _wait(page: str, error: RateLimitError) -> AnyResponse:
    response = make_response(page, 429)
    response.retry_after = error.seconds
    return response
