"""What somebody typed who is logged out meanwhile: given back in a page that sends it again, for browsers without scripts.

Only to a form of this server's own pages, by what the browser says of where it comes from: a page of another site must not put words into
anybody's draft. And only on a device from which the draft's author has logged in before: strangers get no room for large bodies.
"""

from __future__ import annotations

from flask import Response, g, make_response, render_template, request

from deniable_server.context import current_store
from deniable_server.identity import sessions
from deniable_server.store.errors import UnknownDraftError

KEPT = frozenset({"drafting.change", "drafting.write"})
"""The endpoints that are sent more than anybody wants to type again."""


def sent_by_hand() -> bool:
    """Whether a person has just sent a form of one of these pages to one of them, without a script."""
    told = (request.headers.get("Sec-Fetch-Mode"), request.headers.get("Sec-Fetch-Site"))
    return request.method == "POST" and request.endpoint in KEPT and told == ("navigate", "same-origin")


def by_author() -> bool:
    """Whether that form is of a draft whose author has logged in from this device before."""
    if not sent_by_hand():
        return False
    try:
        author = current_store().drafts.draft((request.view_args or {})["draft_id"]).author
    except UnknownDraftError:
        return False
    return sessions.device(author) is not None


def given_back() -> Response:
    """All that was sent, but for the token, which is a new one, and files, which a page cannot give back."""
    fields = [(name, value) for name, values in request.form.lists() if name != "csrf_token" for value in values]
    files = any(file.filename for file in request.files.values())
    page = render_template("identity/form_recovery.html", fields=fields, user=g.get("user"), files=files)
    return make_response(page, 401 if g.get("user") is None else 400)
