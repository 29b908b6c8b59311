"""Health checks for operators: whether the server runs, and whether its database answers."""

from __future__ import annotations

from flask import Response, abort, jsonify

from deniable_server.context import current_store
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.lanes import Lane

bp = Routes("health", __name__, Audience(login=False, forms=False, csrf=False, translated=True), Lane.RESPONDENTS)


@bp.get("/healthz")
def healthz() -> Response:
    """Replies 200 while the server runs, even without its database; the front caches the reply and needs no thread for it."""
    return jsonify(status="ok")


@bp.get("/readyz")
def readyz() -> Response:
    """Replies 200 if the database answers and was not moved, otherwise 503."""
    try:
        current_store().accounts.users()  # cheap: reading surveys would parse thousands of definitions in each probe
        is_moved = current_store().moved_to() is not None
    except Exception:
        abort(503, "the database cannot be read now")
    if is_moved:
        abort(503, "the database was moved, and another server uses it")
    return jsonify(status="ok")
