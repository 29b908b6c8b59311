"""Researchers' sessions: a random token in the signed cookie, its hash in the store, and an end to all of them.

The cookie dies by itself after IDLE without a request; the store forgets a session after LONGEST, at logout, at a change of
the password and with the account. A second cookie only says that somebody logged in from this device before: it opens
nothing, but lets its owner try a password while guessers keep the door busy.
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
HALF_WAY = timedelta(minutes=5)
_HALF = "half"
_TOKEN = "token"  # noqa: S105 - the name of the cookie's field


class _Cookies(SecureCookieSessionInterface):
    """Flask's signed cookie, which only the researchers' pages set."""

    def should_set_cookie(self, app: Flask, session: SessionMixin) -> bool:
        return current_audience().csrf and super().should_set_cookie(app, session)


def register(app: Flask, *, https: bool) -> None:
    """Names and closes the cookies; over HTTPS a browser takes them from this very host only."""
    app.config.update(
        SESSION_COOKIE_NAME="__Host-deniable" if https else "deniable",
        SESSION_COOKIE_SECURE=https,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        PERMANENT_SESSION_LIFETIME=IDLE,
    )
    app.session_interface = _Cookies()


def log_in(user: str) -> bool:
    """Opens a new session for the rest of this visit. False if the account is gone meanwhile."""
    end()
    token, now = secrets.token_urlsafe(32), int(time.time())
    session.permanent = True
    session[_TOKEN] = token
    return current_store().accounts.open_session(user, _hash(token), now, now + int(LONGEST.total_seconds()))


def half_way(user: str) -> None:
    """Remembers for a few minutes, in the signed cookie of this visit, that the password of an account was shown."""
    end()
    session[_HALF] = [user, int(time.time()), _password_mark(user)]


def half_way_user() -> str | None:
    """Whose password was shown here lately, and is the same still."""
    found = session.get(_HALF)
    if not isinstance(found, list):
        return None
    user, since, mark = found
    fresh = time.time() - since < HALF_WAY.total_seconds()
    return str(user) if fresh and hmac.compare_digest(mark, _password_mark(user)) else None


def user() -> str | None:
    """Who is logged in here."""
    token = session.get(_TOKEN)
    return current_store().accounts.session_user(_hash(token), int(time.time())) if isinstance(token, str) else None


def end() -> None:
    """Ends this session, if there is one."""
    token = session.get(_TOKEN)
    session.clear()
    if isinstance(token, str):
        current_store().accounts.end_session(_hash(token))


def device(user: str) -> str | None:
    """The id of this device, if this user logged in from it before."""
    try:
        known = _signer(user).unsign(request.cookies.get(_device_cookie(), ""), max_age=int(DEVICE.total_seconds()))
    except BadSignature:
        return None
    return str(known.decode())


def remember_device(response: Response, user: str) -> None:
    """Gives this device an id, tied to the user; the cookie does not tell the name."""
    signed = _signer(user).sign(device(user) or secrets.token_urlsafe(16)).decode()
    secure = bool(current_app.config["SESSION_COOKIE_SECURE"])
    response.set_cookie(_device_cookie(), signed, max_age=DEVICE, httponly=True, secure=secure, samesite="Strict")


def _device_cookie() -> str:
    return f"{current_app.config['SESSION_COOKIE_NAME']}-device"


def _signer(user: str) -> TimestampSigner:
    return TimestampSigner(str(current_app.secret_key), salt=f"device of {user}", digest_method=hashlib.sha256)


def _password_mark(user: str) -> str:
    """It differs for another password, and tells nothing of it without the server's key."""
    stored = current_store().accounts.password_hash(user) or ""
    return hmac.new(str(current_app.secret_key).encode(), f"half way {stored}".encode(), "sha256").hexdigest()


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
