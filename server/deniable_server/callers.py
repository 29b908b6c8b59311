"""Who calls the API: a browser must be on a page of this server, and who wants more than a stranger needs a key.

Which site a request comes from is judged as Go's `net/http.CrossOriginProtection` does: by Sec-Fetch-Site, which no page can forge,
and where a browser does not send that, by the Origin. A program sends neither.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import abort, current_app, request
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Forbidden, Unauthorized

from deniable_server import current_store, keys
from deniable_server.store.accounts import Key


def refuse_other_sites(*, null_origin: bool = False) -> None:
    """Aborts with 403 where a page of another site sent this request.

    null_origin: whether `Origin: null` passes, as browsers send it with a form of a page that asks for no referrer.
    """
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site in ("same-origin", "none") or (site is None and (origin is None or _own(origin, null_origin))):
        return
    abort(403, "the request must come from a page of this server, or from a program: another site's page may not send it")


def refuse_other_types() -> None:
    """Aborts with 415 for anything but plain JSON."""
    if request.content_encoding:
        abort(415, "the body must not be compressed: random bits do not shrink")
    if request.mimetype != "application/json":
        abort(415, "the body must be JSON, with Content-Type: application/json")


def key_for(scope: str, survey_id: str) -> Key | None:
    """The key that came with the request, if one did. Aborts with 401 for one that is none, with 403 for one that is for something else."""
    sent = request.authorization
    if sent is None or sent.type != "bearer":
        return None
    key = keys.find(current_store(), sent.token or "")
    if key is None:
        raise Unauthorized("the key must be one that this server made and did not revoke", www_authenticate=_bearer("invalid_token"))
    if scope not in key.scopes or key.survey not in (None, survey_id):
        raise Forbidden(f"the key must have the scope {scope} for this survey")
    return key


def key_needed(message: str) -> Unauthorized:
    """What somebody without a key is told, and how to get one."""
    command = "`deniable-server key make --scope submit --name NAME`"
    return Unauthorized(f"{message}; whoever runs the server makes one with {command}", www_authenticate=_bearer())


def _own(origin: str, null_origin: bool) -> bool:
    if origin == "null":
        return null_origin
    hosts = {request.host, urlsplit(current_app.extensions["deniable_config"].public_url or "").netloc}
    return urlsplit(origin).netloc in hosts - {""}


def _bearer(error: str | None = None) -> WWWAuthenticate:
    return WWWAuthenticate("bearer", {"realm": "deniable", **({"error": error} if error else {})})
