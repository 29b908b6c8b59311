"""Cross-origin request check: a browser's request must come from a page of this server.

The rules are the same as in Go's `net/http.CrossOriginProtection`: Sec-Fetch-Site, which pages cannot forge, or the Origin for browsers
that do not send it. A program sends neither.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import abort, request

from deniable_server.context import current_config


def refuse_other_sites(*, null_origin: bool = False) -> None:
    """Aborts with 403 if a page of another site sent this request.

    Args:
        null_origin: Whether to accept `Origin: null`, which browsers send for forms of pages without a referrer.
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
