"""Form recovery: a form whose session has ended comes back in a page that sends it again, for browsers without scripts.

Only a form that this server's own pages sent, as the browser's Sec-Fetch headers prove: another site's page must not write into a draft.
And only on a device on which the draft's author or an editor has logged in before: strangers may not send large bodies.
"""

from __future__ import annotations

from flask import Response, g, make_response, render_template, request

from deniable_server.context import current_store
from deniable_server.identity import sessions
from deniable_server.store.errors import UnknownDraftError

RECOVERABLE = frozenset({"drafting.change", "drafting.write"})
"""The endpoints of forms that are too long to type again."""


def is_recoverable() -> bool:
    """Returns whether a person, not a script, has sent a recoverable form from a page of this server."""
    origin = (request.headers.get("Sec-Fetch-Mode"), request.headers.get("Sec-Fetch-Site"))
    return request.method == "POST" and request.endpoint in RECOVERABLE and origin == ("navigate", "same-origin")


def is_authors() -> bool:
    """Returns whether a recoverable form is of a draft whose author, or editor, has logged in on this device before."""
    if not is_recoverable():
        return False
    draft_id, store = str((request.view_args or {})["draft_id"]), current_store()
    try:
        authors = [store.drafts.draft(draft_id).author, *store.draft_roles.editors(draft_id)]
    except UnknownDraftError:
        return False
    return any(sessions.device_id(author) is not None for author in authors)


def recovery_page() -> Response:
    """Returns a page with the form's fields and a new token. A page cannot contain files."""
    fields = [(name, value) for name, values in request.form.lists() if name != "csrf_token" for value in values]
    files = any(file.filename for file in request.files.values())
    page = render_template("identity/form_recovery.html", fields=fields, user=g.get("user"), files=files)
    return make_response(page, 401 if g.get("user") is None else 400)
