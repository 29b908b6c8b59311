"""What all pages have in common that a researcher opens after logging in."""

from __future__ import annotations

from typing import Any

from flask import g
from werkzeug.wrappers import Response

from deniable_server.researchers import figures
from deniable_server.researchers.chart import SHARE_TICKS, SHARES, mark, share_mark
from deniable_server.web.audience import Audience, Routes

Page = str | Response | tuple[str, int]
LOGGED_IN = Audience(login=True, forms=True, csrf=True, translated=False)


def routes(name: str, import_name: str) -> Routes:
    """A blueprint for whoever is logged in."""
    made = Routes(name, import_name, LOGGED_IN)
    made.context_processor(_shown)
    return made


def _shown() -> dict[str, Any]:
    """Who is logged in, and what writes figures and places marks."""
    marks = {"mark": mark, "share_mark": share_mark, "shares_scale": SHARES, "share_ticks": SHARE_TICKS}
    return {"user": g.get("user"), "figures": figures, **marks}
