"""Whom routes are for. Each blueprint says it once, and who has to know reads it here; what nobody declared is open to nobody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Flask, abort, current_app, g, redirect, request, url_for
from werkzeug.wrappers import Response


@dataclass(frozen=True)
class Audience:
    """login: only a researcher who is logged in may come. forms: the browser may send the pages' forms, to this server only.

    csrf: what is sent needs the token of a session, and replies may set its cookie. translated: texts are in the language that the
    browser asks for, and else in English.
    """

    login: bool
    forms: bool
    csrf: bool
    translated: bool


NOBODY = Audience(login=True, forms=False, csrf=False, translated=True)
"""For what has no audience; also that of a page that is not there, which is told in the language of whoever asked for it."""


class Routes(Blueprint):
    """A blueprint whose routes have one audience."""

    def __init__(self, name: str, import_name: str, audience: Audience, **options: Any) -> None:
        super().__init__(name, import_name, **options)
        self.audience = audience


def register(app: Flask, user: Callable[[], str | None], door: str) -> None:
    """Closes what is not declared open. user: gives the name of whoever is logged in; door: the endpoint to send others to."""

    def admit() -> Response | None:
        if request.endpoint is None:
            return None  # there is no such page, which is said in its turn
        if _declared() is None:
            abort(403, "this page is closed: nothing says whom it is for")
        return None if let_in() else redirect(url_for(door, next=request.path))

    app.extensions["deniable_user"] = user
    app.before_request(admit)


def let_in() -> bool:
    """Whether whoever sent the current request may come to where it goes; `g.user` is the name of a researcher from then on."""
    if not current_audience().login:
        return True
    g.user = current_app.extensions["deniable_user"]()
    return g.user is not None


def current_audience() -> Audience:
    """The audience of the route that the current request is for."""
    return _declared() or NOBODY


def _declared() -> Audience | None:
    routes = current_app.blueprints.get(request.blueprint or "")
    return routes.audience if isinstance(routes, Routes) else None
