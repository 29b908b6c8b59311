"""Survey page and consent for respondents: no cookie, no ETag, no caching."""

from __future__ import annotations

from flask import abort, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from deniable_server.respondents.damaged_links import repaired
from deniable_server.store.errors import UnknownSurveyError
from deniable_server.store.protocol import Published
from deniable_server.web import languages, page_cache
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.compression import compressed
from deniable_server.web.lanes import Lane

bp = Routes("respondents", __name__, Audience(login=False, forms=False, csrf=False, translated=True), Lane.RESPONDENTS)


@bp.get("/s/<survey_id>")
@page_cache.cacheable()
@compressed
def survey(survey_id: str) -> str | AnyResponse:
    """Serves the page, which is the same for every survey except for its id: the browser shows the definition after checking it."""
    try:
        published = page_cache.published(survey_id)
    except UnknownSurveyError:
        if (address := repaired(survey_id)) is None:
            raise
        return _redirect(address)
    taking = published.state == "open"
    return page("respondents/survey.html" if taking else "respondents/closed.html", published)


@bp.get("/s/<path:survey_id>")
def damaged(survey_id: str) -> AnyResponse:
    """Redirects an address that mail programs or messengers have damaged, or aborts with 404 if it cannot be repaired."""
    address = repaired(survey_id)
    return _redirect(address) if address else abort(404)


def _redirect(address: str) -> AnyResponse:
    """Redirects to an address of this server, with the query: the page names the parameters that it ignores."""
    path, sign, fragment = address.partition("#")
    query = f"?{request.query_string.decode('ascii', 'ignore')}" if request.query_string else ""
    return redirect(path + query + sign + fragment)


def page(template: str, published: Published) -> str:
    """Renders one of the pages that run the scripts."""
    languages.about(published.survey)
    return render_template(template, published=published)
