"""Preview of a draft: the respondents' own page and script, which sends nothing.

The page is in a frame of the researchers' pages. Before its script runs, `preview.mjs` replaces the network and the storage:
answers stay in that frame. The survey has an id that is never published, so no published survey has its digest, and no server
accepts its records.
"""

from __future__ import annotations

from typing import Any

from flask import Response, abort, render_template, request

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.document import parse
from deniable_server.drafts.own_drafts import own
from deniable_server.drafts.preview_key import KEY, NUMBERS
from deniable_server.store.drafts import PREVIEW
from deniable_server.store.protocol import Published
from deniable_server.store.roles import Role
from deniable_server.web import headers, languages
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.offload import computed

bp = Routes("preview", __name__, Audience(login=True, forms=False, csrf=False, translated=True))


@bp.get("/manage/drafts/<draft_id>/preview/page")
@headers.framed
@computed()
def page(draft_id: str) -> str:
    """Shows the respondents' page. With `start` in the address it opens the questions and does not take the focus."""
    context: dict[str, Any] = {
        "published": Published(preview_of(draft_id), True, ""),
        "draft_id": draft_id,
        "beside": "start" in request.args,
        "key": NUMBERS,
    }
    languages.about(context["published"].survey)
    return render_template("drafts/preview_page.html", **context)


@bp.get("/manage/drafts/<draft_id>/preview/definition")
@computed()
def definition(draft_id: str) -> Response:
    """Returns the definition of the preview."""
    return Response(preview_of(draft_id).definition, mimetype="application/json")


def preview_of(draft_id: str) -> Survey:
    """Returns the survey of a draft under an id that is never published. Aborts with 409 if the draft has problems."""
    draft = own(draft_id, Role.VIEWER)
    try:
        source = parse(draft.text)
        survey_id = PREVIEW + Survey.from_text(draft.text).id[: 64 - len(PREVIEW)]
        survey = Survey.from_dict({**source.value, "id": survey_id})
    except SurveyError:
        abort(409, "the draft must have no problems to be shown")
    return survey.with_issuer(KEY.issuer) if survey.access == "invited" else survey
