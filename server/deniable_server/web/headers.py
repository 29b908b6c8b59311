"""Security headers of every reply: load nothing from elsewhere, store nothing, send no referrer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Flask, Response, current_app, request

from deniable_server.context import current_config
from deniable_server.web.audience import current_audience

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; form-action "
)
_FIXED = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


View = TypeVar("View", bound=Callable[..., Any])
_FRAMED: set[Callable[..., Any] | None] = set()
_HOLDERS: set[Callable[..., Any] | None] = set()
_CACHED: set[Callable[..., Any] | None] = set()
CACHED_SECONDS = 60
"""How long a browser may show a page of public results without asking for it again."""


def framed(view: View) -> View:
    """Marks a view whose page this server's own pages may show in a frame. It must accept no input."""
    _FRAMED.add(view)
    return view


def holds_frames(view: View) -> View:
    """Marks a view whose page shows another page of this server in a frame."""
    _HOLDERS.add(view)
    return view


def cached(view: View) -> View:
    """Marks a view whose page is the same for everyone, so that browsers and proxies may keep it for a while."""
    _CACHED.add(view)
    return view


def register(app: Flask) -> None:
    """Adds the headers to every reply of the application."""
    app.after_request(secure)


def secure(response: Response) -> Response:
    """Adds the headers to a reply. The browser cannot submit forms with true answers; other forms go to this server only."""
    response.headers.update(_FIXED)
    forms = "'self'" if current_audience().forms else "'none'"
    response.headers["Content-Security-Policy"] = _POLICY + forms
    view = current_app.view_functions.get(request.endpoint or "")
    if view in _FRAMED:
        response.headers["X-Frame-Options"] = "SAMEORIGIN"
        response.headers["Content-Security-Policy"] = (_POLICY + forms).replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    if view in _HOLDERS:
        response.headers["Content-Security-Policy"] += "; frame-src 'self'"
    if view in _CACHED and response.status_code in (200, 304):
        response.headers["Cache-Control"] = f"public, max-age={CACHED_SECONDS}"
    if current_config().https:
        response.headers["Strict-Transport-Security"] = "max-age=31536000"
    return response
