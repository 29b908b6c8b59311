"""What all pages have in common that a researcher opens after logging in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import g
from werkzeug.wrappers import Response

from deniable_server.researchers import figures
from deniable_server.researchers.chart import SHARE_TICKS, SHARES, mark, share_mark
from deniable_server.web.audience import Audience, Routes

Page = str | Response | tuple[str, int]
LOGGED_IN = Audience(login=True, forms=True, csrf=True, translated=False)
OPERATORS = replace(LOGGED_IN, operator=True)


def routes(name: str, import_name: str, audience: Audience = LOGGED_IN) -> Routes:
    """A blueprint for whoever is logged in, or for operators. Each of its routes of a survey says its `least` role."""
    made = Routes(name, import_name, audience)
    made.context_processor(_shown)
    return made


def _shown() -> dict[str, Any]:
    """Who is logged in, and what writes figures and places marks."""
    marks = {"mark": mark, "share_mark": share_mark, "shares_scale": SHARES, "share_ticks": SHARE_TICKS}
    return {"user": g.get("user"), "operator": g.get("operator", False), "figures": figures, **marks}
