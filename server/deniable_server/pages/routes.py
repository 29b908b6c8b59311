"""What all pages have in common that a researcher opens after logging in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import flash, g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from deniable_server.pages import figures
from deniable_server.pages.chart import SHARE_TICKS, SHARES, mark, share_mark
from deniable_server.pages.one_time_forms import once_field
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
    return {"user": g.get("user"), "operator": g.get("operator", False), "figures": figures, "once_field": once_field, **marks}


def done(message: str, endpoint: str, **values: Any) -> Response:
    """Returns the way back to a page after an act, with one sentence that the page then shows: "Saved."."""
    flash(message)
    return redirect(url_for(endpoint, **values))


def confirmation(question: str, consequence: str, button: str, back: str) -> str | None:
    """Returns the page that asks before an act that cannot be undone, or None if the request has the answer.

    Args:
        question: The page's heading, with the name of the thing: "Remove eve?".
        consequence: What the act does, in one or two sentences.
        button: The button's words, a verb and its object.
        back: The address of the page that the person comes from.
    """
    if request.form.get("sure") == "1":
        return None
    fields = [(name, value) for name, value in request.form.items(multi=True) if name not in ("csrf_token", "sure")]
    shown = {"question": question, "consequence": consequence, "button": button, "back": back, "fields": fields}
    return render_template("pages/confirmation.html", **shown)
