"""A draft as respondents will meet it: their own page and script, fed with the draft, whose sends go nowhere.

The page stands in a frame of the researchers' pages. Before its script runs, `preview.mjs` puts a network and a storage of its own
in their place: what is answered stays in that frame, and is forgotten with it. The survey that is tried has an id that
is never published, so its digest is none of a real survey, and no record of it is taken anywhere.
"""

from __future__ import annotations

from typing import Any

from flask import Response, abort, render_template, request

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.document import parse
from deniable_server.drafts.own_drafts import own
from deniable_server.store.drafts import PREVIEW
from deniable_server.store.protocol import Published
from deniable_server.web import headers, languages
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.offload import computed

bp = Routes("preview", __name__, Audience(login=True, forms=False, csrf=False, translated=True))


@bp.get("/manage/drafts/<draft_id>/preview/page")
@headers.framed
@computed()
def page(draft_id: str) -> str:
    """The respondents' page. With `start` in the address it goes on to the questions by itself, and leaves the focus where it is."""
    shown: dict[str, Any] = {"published": Published(tried(draft_id), True, ""), "draft_id": draft_id, "beside": "start" in request.args}
    languages.about(shown["published"].survey)
    return render_template("drafts/preview_page.html", **shown)


@bp.get("/manage/drafts/<draft_id>/preview/definition")
@computed()
def definition(draft_id: str) -> Response:
    """What that page is fed with."""
    return Response(tried(draft_id).definition, mimetype="application/json")


def tried(draft_id: str) -> Survey:
    """The survey of a draft under an id that is never published. Aborts with 409 where the draft is not right."""
    draft = own(draft_id)
    try:
        source = parse(draft.text)
        right = Survey.from_text(draft.text)
        name = PREVIEW + right.id[: 64 - len(PREVIEW)]
        return Survey.from_dict({**source.value, "id": name})
    except SurveyError:
        abort(409, "the draft has mistakes, so there is nothing to be shown yet")
