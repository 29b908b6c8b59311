"""One-time forms: sent again, by a reload or a double click, a form makes nothing new."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict

from flask import render_template, request, session
from markupsafe import Markup

FIELD = "once"
MOST_IN_COOKIE = 16
MOST_IN_MEMORY = 10_000
_SESSION = "used"
_used: OrderedDict[str, None] = OrderedDict()
_lock = threading.Lock()


def once_field() -> Markup:
    """Returns the hidden field that makes a form act once. Each page has a new one."""
    return Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, secrets.token_urlsafe(12))


def repeated(title: str, back: str) -> tuple[str, int] | None:
    """Returns the page for a form that was sent before, or None for one that is new.

    Used forms are remembered in this process, for two clicks at once, and in the session's cookie, for reloads after a restart.

    Args:
        title: The heading of the page: "These codes were made already".
        back: The address of the form.
    """
    token = request.form.get(FIELD)
    if not token or _is_new(token):
        return None
    return render_template("pages/repeated.html", title=title, back=back), 409


def _is_new(token: str) -> bool:
    with _lock:
        is_new = token not in _used and token not in session.get(_SESSION, [])
        _used[token] = None
        while len(_used) > MOST_IN_MEMORY:
            _used.popitem(last=False)
    session[_SESSION] = [*session.get(_SESSION, []), token][-MOST_IN_COOKIE:]
    return is_new
