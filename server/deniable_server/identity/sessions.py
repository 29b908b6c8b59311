"""Researchers' sessions: a random token in the signed cookie, and its hash in the store.

The cookie expires after IDLE without a request; the store ends a session after LONGEST, at logout, at a password change and with the
account. A second cookie marks a device on which a researcher has logged in before: it opens nothing, but lets its owner enter a password
while guessers exhaust the rate limit.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from datetime import timedelta

from flask import Flask, current_app, request, session
from flask.sessions import SecureCookieSessionInterface, SessionMixin
from itsdangerous import BadSignature, TimestampSigner
from werkzeug.wrappers import Response

from deniable_server.context import current_store
from deniable_server.web.audience import current_audience

IDLE = timedelta(hours=2)
LONGEST = timedelta(hours=12)
DEVICE = timedelta(days=180)
SECOND_FACTOR = timedelta(minutes=5)
_HALF = "half"  # the cookie's field for a login that still needs its second factor
_TOKEN = "token"  # noqa: S105 - the name of the cookie's field


class _Cookies(SecureCookieSessionInterface):
    """Flask's signed cookie, which only the researchers' pages set."""

    def should_set_cookie(self, app: Flask, session: SessionMixin) -> bool:
        return current_audience().csrf and super().should_set_cookie(app, session)


def register(app: Flask, *, https: bool) -> None:
    """Configures the session cookie; over HTTPS a browser accepts it from this host only."""
    app.config.update(
        SESSION_COOKIE_NAME="__Host-deniable" if https else "deniable",
        SESSION_COOKIE_SECURE=https,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        PERMANENT_SESSION_LIFETIME=IDLE,
    )
    app.session_interface = _Cookies()


def log_in(user: str) -> bool:
    """Opens a new session. Returns False if the account no longer exists."""
    end()
    token, now = secrets.token_urlsafe(32), int(time.time())
    session.permanent = True
    session[_TOKEN] = token
    return current_store().accounts.open_session(user, _hash(token), now, now + int(LONGEST.total_seconds()))


def begin_second_factor(user: str) -> None:
    """Records in the signed cookie that this visit has entered an account's password and needs its second factor."""
    end()
    session[_HALF] = [user, int(time.time()), _password_mark(user)]


def second_factor_user() -> str | None:
    """Returns the account whose password was entered in the last minutes and has not changed since, or None."""
    entry = session.get(_HALF)
    if not isinstance(entry, list):
        return None
    user, since, mark = entry
    is_recent = time.time() - since < SECOND_FACTOR.total_seconds()
    return str(user) if is_recent and hmac.compare_digest(mark, _password_mark(user)) else None


def user() -> str | None:
    """Returns the logged-in researcher, or None."""
    token = session.get(_TOKEN)
    return current_store().accounts.session_user(_hash(token), int(time.time())) if isinstance(token, str) else None


def end() -> None:
    """Ends this session, if there is one."""
    token = session.get(_TOKEN)
    session.clear()
    if isinstance(token, str):
        current_store().accounts.end_session(_hash(token))


def device_id(user: str) -> str | None:
    """Returns the id of this device if the user has logged in on it before, else None."""
    try:
        return str(_signer(user).unsign(request.cookies.get(_device_cookie(), ""), max_age=int(DEVICE.total_seconds())).decode())
    except BadSignature:
        return None


def remember_device(response: Response, user: str) -> None:
    """Gives this device an id that is valid for the user only; the cookie does not contain the name."""
    signed = _signer(user).sign(device_id(user) or secrets.token_urlsafe(16)).decode()
    secure = bool(current_app.config["SESSION_COOKIE_SECURE"])
    response.set_cookie(_device_cookie(), signed, max_age=DEVICE, httponly=True, secure=secure, samesite="Strict")


def _device_cookie() -> str:
    return f"{current_app.config['SESSION_COOKIE_NAME']}-device"


def _signer(user: str) -> TimestampSigner:
    return TimestampSigner(str(current_app.secret_key), salt=f"device of {user}", digest_method=hashlib.sha256)


def _password_mark(user: str) -> str:
    """Returns a MAC of the stored password hash, which changes with the password and reveals nothing without the server's key."""
    stored = current_store().accounts.password_hash(user) or ""
    return hmac.new(str(current_app.secret_key).encode(), f"half way {stored}".encode(), "sha256").hexdigest()


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
