"""For respondents: the survey's page. No cookie, no ETag, nothing kept by the browser."""

from __future__ import annotations

from flask import render_template

from deniable_server.context import current_store
from deniable_server.store.protocol import Published
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.compression import compressed
from deniable_server.web.lanes import Lane

bp = Routes("respondents", __name__, Audience(login=False, forms=False, csrf=False, translated=True), Lane.RESPONDENTS)


@bp.get("/s/<survey_id>")
@compressed
def survey(survey_id: str) -> str:
    """The same page for every survey but for its id: what it shows comes from the definition, once the browser has checked it."""
    published = current_store().surveys.published(survey_id)
    taking = published.is_open and not published.paused
    return page("respondents/survey.html" if taking else "respondents/closed.html", published)


def page(template: str, published: Published) -> str:
    """One of the pages that run the scripts."""
    return render_template(template, published=published)
