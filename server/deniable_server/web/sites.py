"""Which site's page a request comes from: a browser must be on a page of this server.

It is judged as Go's `net/http.CrossOriginProtection` does: by Sec-Fetch-Site, which no page can forge, and where a browser does not
send that, by the Origin. A program sends neither.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import abort, request

from deniable_server.context import current_config


def refuse_other_sites(*, null_origin: bool = False) -> None:
    """Aborts with 403 where a page of another site sent this request.

    null_origin: whether `Origin: null` passes, as browsers send it with a form of a page that asks for no referrer.
    """
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site in ("same-origin", "none") or (site is None and (origin is None or _own(origin, null_origin))):
        return
    abort(403, "the request must come from a page of this server, or from a program: another site's page may not send it")


def _own(origin: str, null_origin: bool) -> bool:
    if origin == "null":
        return null_origin
    hosts = {request.host, urlsplit(current_config().public_url or "").netloc}
    return urlsplit(origin).netloc in hosts - {""}
