"""Access control of the API: API keys, and researchers' passwords (HTTP Basic)."""

from __future__ import annotations

from flask import abort, request
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Forbidden, Unauthorized

from deniable_server.access import api_keys
from deniable_server.context import current_store
from deniable_server.identity.passwords import current_passwords
from deniable_server.identity.sso.provider import is_required
from deniable_server.store.accounts import ApiKey
from deniable_server.store.roles import Role
from deniable_server.web.rate_limiter import RateLimitError

OWN = "own"  # a right that no key grants: a survey's owners use their names and passwords
_LEAST = {"results": Role.VIEWER, "reports": Role.ANALYST}
"""The least role that grants, with a password, the rights of an API key with this scope."""


def refuse_other_types() -> None:
    """Aborts with 415 for anything but plain JSON."""
    if request.content_encoding:
        abort(415, "the body must not be compressed: random bits do not shrink")
    if request.mimetype != "application/json":
        abort(415, "the body must be JSON, with Content-Type: application/json")


def key_for(scope: str, survey_id: str | None) -> ApiKey | None:
    """Returns the request's API key, or None. Aborts with 401 for an unknown key, with 403 for one without this scope or survey.

    `survey_id` is None for routes without a survey.
    """
    key = _key()
    if key is None:
        return None
    if scope not in key.scopes or key.survey not in (None, survey_id):
        raise Forbidden(f"the key must have the scope {scope}{'' if survey_id is None else ' for this survey'}")
    return key


def require(scope: str, survey_id: str) -> None:
    """Requires an API key with a scope, or a researcher's name and password and the necessary role. Aborts with 401 or 403.

    Raises:
        UnknownSurveyError: There is no such survey, or the researcher has no role in it.
    """
    if key_for(scope, survey_id) is not None:
        return
    needed = _LEAST.get(scope, Role.OWNER)
    if current_store().roles.role(_researcher(f"a key with the scope {scope}"), survey_id) < needed:
        raise Forbidden(f"this needs the role {needed.word} or a higher one in the survey")


def visible_surveys() -> list[str]:
    """Returns the ids of the surveys that the caller's key or account may see, sorted. Aborts with 401 or 403."""
    store, key = current_store(), _key()
    if key is None:
        return list(store.roles.seen_by(_researcher("a key")))
    if not set(key.scopes) & set(api_keys.OF_SURVEYS):
        raise Forbidden(f"the key must have one of the scopes {', '.join(api_keys.OF_SURVEYS)}")
    return store.surveys.ids() if key.survey is None else [key.survey]


def _key() -> ApiKey | None:
    """Returns the request's API key, or None. Aborts with 401 for an unknown key."""
    credentials = request.authorization
    if credentials is None or credentials.type != "bearer":
        return None
    key = api_keys.find(current_store(), credentials.token or "")
    if key is None:
        raise Unauthorized("the key must be one that this server made and did not revoke", www_authenticate=bearer("invalid_token"))
    return key


def _researcher(otherwise: str) -> str:
    """Returns the researcher whose name and password were sent.

    Aborts with 401, naming the alternative `otherwise`, and with 403 if the account needs more than a password.
    """
    if is_required():
        raise Unauthorized(f"passwords do not log in here; a program needs {otherwise}", www_authenticate=bearer())
    credentials = request.authorization
    name = credentials.username or "" if credentials is not None and credentials.type == "basic" else None
    if name is None or credentials is None or not _verify(name, credentials.password or ""):
        challenge = WWWAuthenticate("basic", {"realm": "deniable"})
        rule = "the name or the password is wrong" if name is not None else f"a researcher's name and password are needed, or {otherwise}"
        raise Unauthorized(rule, www_authenticate=challenge)
    if current_store().factors.any(name):
        raise Forbidden("this account has a second factor: a program needs a key in place of the password")
    return name


def _verify(name: str, password: str) -> bool:
    """Returns whether a password is the account's. Raises RateLimitError with a hint for programs."""
    try:
        return current_passwords().verify(name, password)
    except RateLimitError as error:
        raise RateLimitError(error.seconds, "A program that sends a key in place of a password does not wait.") from None


def key_needed(message: str) -> Unauthorized:
    """Returns the error for a request without a key, with how to get one."""
    command = "`deniable-server key make --scope submit --name NAME`"
    return Unauthorized(f"{message}; the server's operator makes one with {command}", www_authenticate=bearer())


def bearer(error: str | None = None) -> WWWAuthenticate:
    """Returns the WWW-Authenticate header; `error` is the fault of the key that was sent, in a word of RFC 6750."""
    return WWWAuthenticate("bearer", {"realm": "deniable", **({"error": error} if error else {})})
