"""Audit log page, for operators."""

from __future__ import annotations

from flask import render_template, request

from deniable_server.context import current_store
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import OPERATORS, Page, routes

bp = routes("audit", __name__, OPERATORS)
ON_A_PAGE = 100


@bp.get("/manage/audit")
def page() -> Page:
    """Shows the newest entries; with ?before=N those before number N."""
    before = request.args.get("before", type=int)
    entries = current_store().audit.entries(before if before is None else max(1, min(before, 1 << 62)), ON_A_PAGE)
    return render_template("identity/audit.html", entries=entries, form=ActionForm())
