"""Pages of single sign-on: login at the provider, the way back, and the binding of an account.

The login's state is in the session's cookie, which browsers do not send when another site leads here (SameSite=Strict). So the way
back has two steps: the first, without a cookie, leads to the second from a page of this server.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from typing import Any

from flask import abort, g, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from deniable_server.context import current_services, current_store
from deniable_server.identity import sessions
from deniable_server.identity.account_links import hash_of
from deniable_server.identity.entrance import enter, own_path
from deniable_server.identity.forms import ConfirmForm
from deniable_server.identity.names import check_name
from deniable_server.identity.passwords import check_new_name, current_passwords
from deniable_server.identity.sso.access import access_of, apply
from deniable_server.identity.sso.outcomes import SsoOutcomes
from deniable_server.identity.sso.provider import LoginRequest, Provider, SsoError, current_provider
from deniable_server.pages.routes import Page, confirmation, done, routes
from deniable_server.store.errors import AccountLinkError, ConflictError, LastError
from deniable_server.store.identities import NO_PASSWORD, Identity
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.errors import reply
from deniable_server.web.links import server_address
from deniable_server.web.rate_limiter import RateLimitError, current_rates

bp = Routes("sso", __name__, Audience(login=False, forms=True, csrf=True, translated=False))
account_bp = routes("sso_account", __name__)

LASTS = 600.0  # seconds between the button and the way back
_LOGIN = "sso"  # the cookie's field for a login that has begun
_STEP = ("code", "state", "iss", "error")  # of the provider's reply
_MOST = 2000  # characters of a part of it


@bp.errorhandler(SsoError)
@account_bp.errorhandler(SsoError)
def show_error(error: SsoError) -> Response:
    """Shows why the login failed, and counts it."""
    current_services().get(SsoOutcomes).add(error.outcome)
    return reply(403, "sso", str(error))


@bp.get("/login/sso")
def start() -> Page:
    """Redirects to the provider. With `invitation`, the token of an account link, the login creates an account."""
    token = request.args.get("invitation") or ""
    if token and current_store().people.link(hash_of(token), int(time.time())) is None:
        current_rates().wrong_links.take()
        abort(404, "this link was used, has expired or never existed; ask its sender for a new one")
    return redirect(_begin(_provider(), next=own_path(request.args.get("next")), invitation=token))


@bp.get("/login/sso/back")
def back() -> Page:
    """Ends a login that `start` or `bind` has begun, in this browser."""
    provider = _provider()
    if "step" not in request.args:
        values: dict[str, Any] = {name: request.args[name][:_MOST] for name in _STEP if name in request.args}
        return render_template("identity/sso_back.html", address=url_for(".back", step=2, **values))
    begun = _take_login()
    if request.args.get("iss", provider.settings.issuer) != provider.settings.issuer:  # RFC 9207
        raise SsoError("the reply must come from this server's login provider")
    if "error" in request.args:
        word = request.args["error"]
        raise SsoError(
            f"the login provider did not log you in ({word if re.fullmatch('[a-z_]{1,40}', word) else 'no reason given'})", "cancelled"
        )
    fields = {name: begun[name] for name in ("state", "nonce", "verifier")}
    claims = provider.claims(request.args.get("code", ""), LoginRequest(redirect_uri=_redirect_uri(), **fields))
    access = access_of(provider.settings, claims)
    identity = Identity(provider.settings.issuer, claims["sub"])
    if begun["user"]:
        return _bind(begun["user"], identity)
    user = current_store().identities.user(identity) or _new_account(provider, claims, identity, begun["invitation"])
    apply(current_store(), user, access)
    if current_store().factors.any(user):
        sessions.begin_second_factor(user)
        current_services().get(SsoOutcomes).add("success")
        return redirect(url_for("auth.code", next=begun["next"]))
    if not sessions.log_in(user):
        raise SsoError("your account on this server is disabled; ask its operator", "refused")
    current_services().get(SsoOutcomes).add("success")
    return enter(user, begun["next"])


def _new_account(provider: Provider, claims: dict[str, Any], identity: Identity, invitation: str) -> str:
    """Creates the account of a person who logs in for the first time. An existing account is never taken over."""
    store = current_store()
    if not invitation and not provider.settings.create_accounts:
        raise SsoError(
            "no account on this server is connected to your login. If you have an account, log in with its password and connect it under "
            "Your account; otherwise ask the server's operator for an invitation",
            "refused",
        )
    name = _name_of(provider, claims)
    try:
        if invitation:
            store.people.accept(hash_of(invitation), name, NO_PASSWORD, int(time.time()))
            store.identities.bind(name, identity)
        else:
            store.identities.create(name, identity)
    except ConflictError:
        raise SsoError(_TAKEN, "refused") from None
    except AccountLinkError:
        raise SsoError("the invitation was used or has expired; ask its sender for a new one", "refused") from None
    return name


_TAKEN = (
    "an account on this server has your name already. If it is yours, log in with its password and connect it under Your account; "
    "otherwise ask the server's operator"
)


def _name_of(provider: Provider, claims: dict[str, Any]) -> str:
    """Returns the name of a new account. Raises SsoError if it is not suitable, or is like another account's."""
    value = claims.get(provider.settings.name_claim)
    try:
        name = check_name("the name", value if isinstance(value, str) else "")
    except ValueError:
        raise SsoError(
            f"the login provider must send a name of 1 to 64 characters for you ({provider.settings.name_claim})", "refused"
        ) from None
    if current_store().people.person(name) is not None:
        raise SsoError(_TAKEN, "refused")
    try:
        check_new_name(current_store().accounts, name)
    except ValueError as error:
        raise SsoError(f"your name at the login provider cannot be used here: {error}", "refused") from None
    return name


# --- bind an account ---------------------------------------------------------------------------------------------------------------


@account_bp.post("/manage/account/sso")
def bind() -> Page:
    """Begins to connect this account, after a check of its password."""
    provider, form = _provider(), ConfirmForm()
    if not form.validate():
        return render_template("identity/sso_bind.html", form=form, provider=provider), 422
    try:
        if current_passwords().verify(g.user, form.current.data, sessions.device_id(g.user)):
            return render_template("identity/sso_away.html", address=_begin(provider, user=g.user))
        form.current.errors = ["This is not your password."]
    except RateLimitError as error:
        form.current.errors = [f"Too many tries. Wait {error.seconds} seconds, then try again."]
    return render_template("identity/sso_bind.html", form=form, provider=provider), 422


@account_bp.post("/manage/account/sso/end")
def unbind() -> Page:
    """Removes the binding of this account."""
    text = "You can connect it again. Your other sessions stay."
    check = confirmation("Disconnect single sign-on?", text, "Disconnect", url_for("account.page"))
    if check is not None:
        return check
    try:
        current_store().identities.unbind(g.user, request.form.get("binding", ""))
    except LastError:
        return done("This account has no password, so it stays connected.", "account.page")
    return done("Your account is disconnected.", "account.page")


def _bind(user: str, identity: Identity) -> Page:
    """Connects the account that began it, if it is still logged in here."""
    if sessions.user() != user:
        raise SsoError("you must still be logged in to connect your account; log in and try again", "expired")
    try:
        current_store().identities.bind(user, identity)
    except ConflictError:
        raise SsoError("another account on this server is connected to this login; disconnect it there first", "refused") from None
    current_services().get(SsoOutcomes).add("success")
    return done("Your account is connected. You can log in with single sign-on.", "account.page")


# --- the login in the session's cookie ---------------------------------------------------------------------------------------------


def _begin(provider: Provider, **more: str) -> str:
    """Notes a new login in the cookie. Returns the address at the provider. `more`: its page, its account, or its invitation."""
    fields = {name: secrets.token_urlsafe(32) for name in ("state", "nonce", "verifier")}
    address = provider.authorization_url(LoginRequest(redirect_uri=_redirect_uri(), **fields))
    session[_LOGIN] = {"next": "", "user": "", "invitation": "", **more, **fields, "since": int(time.time())}
    return address


def _take_login() -> dict[str, Any]:
    """Removes and returns the login of this browser, which has the state of the reply. Raises SsoError."""
    begun = session.pop(_LOGIN, None)
    if (
        not isinstance(begun, dict)
        or not 0 <= time.time() - begun["since"] < LASTS
        or not hmac.compare_digest(begun["state"].encode(), request.args.get("state", "").encode(errors="replace"))
    ):
        raise SsoError("this login began in another window, or too long ago; log in again", "expired")
    return begun


def _redirect_uri() -> str:
    return server_address() + url_for(".back" if request.blueprint == "sso" else "sso.back")


def _provider() -> Provider:
    """Returns the provider; aborts with 404 without single sign-on."""
    provider = current_provider()
    if provider is None:
        abort(404, "this server has no single sign-on")
    return provider
