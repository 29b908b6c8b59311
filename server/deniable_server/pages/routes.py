"""Blueprints and replies of researchers' pages, which need a login."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import flash, g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from deniable_server.pages import figures
from deniable_server.pages.chart import SHARE_TICKS, mark, share_mark
from deniable_server.pages.one_time_forms import once_field
from deniable_server.web.audience import Audience, Routes

Page = str | Response | tuple[str, int]
LOGGED_IN = Audience(login=True, forms=True, csrf=True, translated=False)
OPERATORS = replace(LOGGED_IN, operator=True)


def routes(name: str, import_name: str, audience: Audience = LOGGED_IN) -> Routes:
    """Returns a blueprint for logged-in researchers, or for operators. Each of its survey routes declares its `least` role."""
    blueprint = Routes(name, import_name, audience)
    blueprint.context_processor(_context)
    blueprint.add_app_template_filter(figures.text, "text")
    return blueprint


def _context() -> dict[str, Any]:
    """Returns what every template may use: the account, number formatting and chart geometry."""
    charts = {"mark": mark, "share_mark": share_mark, "share_ticks": SHARE_TICKS}
    return {"user": g.get("user"), "operator": g.get("operator", False), "figures": figures, "once_field": once_field, **charts}


def done(message: str, endpoint: str, **values: Any) -> Response:
    """Redirects to a page that shows a message of one sentence, such as "Saved."."""
    flash(message)
    return redirect(url_for(endpoint, **values))


def confirmation(question: str, consequence: str, button: str, back: str) -> str | None:
    """Returns a page that asks before an act that cannot be undone, or None if the request has the confirmation.

    Args:
        question: The heading, which names the thing: "Remove eve?".
        consequence: The effect of the act, in one or two sentences.
        button: The words of the button, a verb and its object.
        back: The address of the previous page.
    """
    if request.form.get("sure") == "1":
        return None
    fields = [(name, value) for name, value in request.form.items(multi=True) if name not in ("csrf_token", "sure")]
    context = {"question": question, "consequence": consequence, "button": button, "back": back, "fields": fields}
    return render_template("pages/confirmation.html", **context)
