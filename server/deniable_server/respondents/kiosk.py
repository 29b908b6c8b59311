"""Kiosk page: one loaded page on a shared device, for many people one after the other, in every language and without a network."""

from __future__ import annotations

from flask import render_template
from markupsafe import Markup

from deniable_server.store.protocol import Published
from deniable_server.web import languages, page_cache
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.compression import compressed
from deniable_server.web.lanes import Lane

bp = Routes("kiosk", __name__, Audience(login=False, forms=False, csrf=False, translated=True), Lane.RESPONDENTS)


@bp.get("/s/<survey_id>/kiosk")
@page_cache.cacheable()
@compressed
def page(survey_id: str) -> str:
    """Serves the kiosk: the survey's page in each language, from which the browser takes a fresh copy for each person."""
    published = page_cache.published(survey_id)
    languages.about(published.survey)
    copies = [(language, _copy(published, language)) for language in languages.LANGUAGES.values()]
    return render_template("respondents/kiosk.html", published=published, copies=copies)


def _copy(published: Published, language: languages.Language) -> Markup:
    """Returns the page's content in one language."""
    with languages.speaking(language):
        return Markup(render_template("respondents/kiosk_copy.html", published=published, kiosk=True))  # noqa: S704 - a template's output
