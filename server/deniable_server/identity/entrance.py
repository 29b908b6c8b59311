"""Entrance after a login: the device's cookie, and the page to open, which is always one of the researchers' pages."""

from __future__ import annotations

import re

from flask import redirect, url_for
from werkzeug.wrappers import Response

from deniable_server.identity import sessions

_OWN_PATH = re.compile(r"/manage(?:/[A-Za-z0-9_./-]*)?")


def enter(user: str, path: str | None) -> Response:
    """Opens a page after a login, and remembers the device.

    Args:
        user: The account that has logged in.
        path: The page to open, as the browser sent it.
    """
    response: Response = redirect(own_path(path))
    sessions.remember_device(response, user)
    return response


def own_path(path: str | None) -> str:
    """Returns the path to open after a login: only a path of the researchers' pages."""
    return path if path and _OWN_PATH.fullmatch(path) else url_for("researchers.surveys")
