"""What every reply says to the browser: load nothing from elsewhere, keep nothing, tell nobody."""

from __future__ import annotations

import base64
import hashlib

from flask import Flask, Response

from deniable_server.context import current_config
from deniable_server.web.audience import current_audience
from deniable_server.web.files import IMPORT_MAP

_IMPORT_MAP = "sha256-" + base64.b64encode(hashlib.sha256(IMPORT_MAP.encode()).digest()).decode()  # inline, but no code
_POLICY = (
    f"default-src 'none'; script-src 'self' '{_IMPORT_MAP}'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
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


def register(app: Flask) -> None:
    """Adds the headers to every reply of the application."""
    app.after_request(secure)


def secure(response: Response) -> Response:
    """No form that takes true answers can be submitted by the browser itself; other forms go to this server only."""
    response.headers.update(_FIXED)
    forms = "'self'" if current_audience().forms else "'none'"
    response.headers["Content-Security-Policy"] = _POLICY + forms
    if current_config().https:
        response.headers["Strict-Transport-Security"] = "max-age=31536000"
    return response
