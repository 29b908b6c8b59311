"""Account page: password change and logout."""

from __future__ import annotations

from flask import g, redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from deniable_server.context import current_store
from deniable_server.identity import sessions
from deniable_server.identity.forms import PasswordForm
from deniable_server.identity.passwords import current_passwords, set_password
from deniable_server.identity.sso.provider import current_provider
from deniable_server.pages.routes import Page, done, routes
from deniable_server.store.identities import NO_PASSWORD
from deniable_server.web.rate_limiter import RateLimitError

bp = routes("account", __name__)


@bp.get("/manage/account")
def page() -> Page:
    """Shows the account."""
    return _page(PasswordForm())


@bp.post("/manage/account/password")
def password() -> Page:
    """Changes the password, which ends all sessions but this visit's."""
    form = PasswordForm()
    if form.validate():
        try:
            if current_passwords().verify(g.user, form.current.data, sessions.device_id(g.user)):
                set_password(current_store().accounts, g.user, form.password.data)
                sessions.log_in(g.user)
                return done("Your password is changed, and all other sessions have ended.", ".page")
            form.current.errors = ["This is not your password."]
        except RateLimitError as error:
            form.current.errors = [f"Too many tries. Wait {error.seconds} seconds, then try again."]
    return _page(form), 422


def _page(form: PasswordForm) -> str:
    store = current_store()
    context = {"has_factor": store.factors.any(g.user), "bindings": store.identities.of(g.user)}
    context["has_password"] = store.accounts.password_hash(g.user) != NO_PASSWORD
    return render_template("identity/account.html", form=form, sso=current_provider(), **context)


@bp.post("/logout")
def logout() -> AnyResponse:
    """Ends this session."""
    sessions.end()
    return redirect(url_for("auth.login"))


@bp.post("/logout/everywhere")
def logout_everywhere() -> AnyResponse:
    """Ends all sessions of this account, on all devices."""
    current_store().accounts.end_sessions(g.user)
    return logout()
