"""What researchers do with their own accounts."""

from __future__ import annotations

from flask import g, redirect, url_for
from werkzeug.wrappers import Response as AnyResponse

from deniable_server.context import current_store
from deniable_server.researchers import sessions
from deniable_server.researchers.pages import routes

bp = routes("account", __name__)


@bp.post("/logout")
def logout() -> AnyResponse:
    sessions.end()
    return redirect(url_for("auth.login"))


@bp.post("/logout/everywhere")
def logout_everywhere() -> AnyResponse:
    """Ends all sessions of this account, on whatever device."""
    current_store().accounts.end_sessions(g.user)
    return logout()
