"""Whom routes are for. Each blueprint says it once, and each route of a survey the least role; who has to know reads it here.

What nobody declared is closed: a route without an audience to everybody, a route of a survey without a role to all but its owners.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from flask import Blueprint, Flask, abort, current_app, g, redirect, request, url_for
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from deniable_server.context import current_services, current_store, services_of
from deniable_server.store.audit import set_actor
from deniable_server.store.protocol import Heading, Published
from deniable_server.store.roles import Role
from deniable_server.web.lanes import Lane

View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True)
class Audience:
    """login: only a researcher who is logged in may come. forms: the browser may send the pages' forms, to this server only.

    csrf: what is sent needs the token of a session, and replies may set its cookie. translated: texts are in the language that the
    browser asks for, and else in English. operator: only an operator may come.
    """

    login: bool
    forms: bool
    csrf: bool
    translated: bool
    operator: bool = False


NOBODY = Audience(login=True, forms=False, csrf=False, translated=True)
"""For what has no audience; also that of a page that is not there, which is told in the language of whoever asked for it."""
ASTRAY = Audience(login=True, forms=True, csrf=True, translated=False)
"""That of a page that is not there, below researchers' addresses."""
_LEAST: dict[Callable[..., Any] | None, Role] = {}


class Routes(Blueprint):
    """A blueprint whose routes have one audience, and one lane where a view declares no other."""

    def __init__(self, name: str, import_name: str, audience: Audience, lane: Lane = Lane.RESEARCHERS, **options: Any) -> None:
        super().__init__(name, import_name, **options)
        self.audience, self.lane = audience, lane


def least(role: Role) -> Callable[[View], View]:
    """Says that the view of a survey, `survey_id` in its address, is for whoever has this role in it, or a higher one."""

    def mark(view: View) -> View:
        _LEAST[view] = role
        return view

    return mark


def least_role(endpoint: str) -> Role:
    """The least role for the route of a survey."""
    return _LEAST.get(current_app.view_functions.get(endpoint), Role.OWNER)


@dataclass(frozen=True)
class Return:
    """What somebody gets in place of the door who was logged in before. known: whether it is one of those; page: what they get."""

    known: Callable[[], bool]
    page: Callable[[], Response]


@dataclass(frozen=True)
class Entrance:
    """How requests for researchers' pages are admitted.

    Attributes:
        user: Returns the name of the researcher who is logged in, or None.
        back: What people get who were logged in before.
    """

    user: Callable[[], str | None]
    back: Return


def register_blueprints(app: Flask, *blueprints: Routes) -> None:
    """Registers blueprints; those that read no cookie need no CSRF token."""
    for blueprint in blueprints:
        app.register_blueprint(blueprint)
        if not blueprint.audience.csrf:
            app.extensions["csrf"].exempt(blueprint)


def register(app: Flask, user: Callable[[], str | None], door: str, back: Return) -> None:
    """Closes what is not declared open. user: gives the name of whoever is logged in; door: the endpoint to send others to.

    back: for those who are to get something else.
    Templates get `may_open` and `may_do`.
    """

    def admit() -> Response | None:
        set_actor(None)  # this thread has served others
        if request.endpoint is None:
            if current_audience() is ASTRAY and let_in():
                _ask_operator()
            return None  # there is no such page, which is said in its turn
        if _declared() is None:
            abort(403, "this page is closed: nothing says whom it is for")
        if not let_in():
            return back.page() if back.known() else redirect(_to(door))
        _ask_role()
        return None

    services_of(app).add(Entrance(user, back))
    app.before_request(admit)
    app.teardown_request(lambda _: set_actor(None))
    app.add_template_global(may_open)
    app.add_template_global(may_do)


def _to(door: str) -> str:
    """The address of the door, which leads back; `unread` where something was sent, which has to be sent again."""
    if request.method in ("GET", "HEAD"):
        return url_for(door, next=request.path)
    return url_for(door, next=_readable(request.path), unread=1)


def _readable(path: str) -> str:
    """The path itself where it can be read, else the nearest above it that can: many addresses only take forms."""
    bound = current_app.url_map.bind("")
    while path and "GET" not in bound.allowed_methods(path):
        path = path.rpartition("/")[0]
    return path


def let_in() -> bool:
    """Whether whoever sent the current request may come to where it goes; `g.user` is the name of a researcher from then on."""
    if not current_audience().login:
        return True
    g.user = current_services().get(Entrance).user()
    return g.user is not None


def known() -> bool:
    """Whether whoever sent it is let in, or gets what they sent back."""
    return let_in() or bool(current_services().get(Entrance).back.known())


def _ask_role() -> None:
    """Aborts for whoever is logged in and has no right to come here; `g.role` is the role in the survey that it is about, else None.

    Raises UnknownSurveyError where there is no role: who sees nothing of a survey does not learn that it is there.
    """
    audience, survey_id = current_audience(), (request.view_args or {}).get("survey_id")
    g.role = None
    if not audience.login:
        return
    set_actor(g.user)
    _ask_operator()
    if audience.operator and not g.operator:
        abort(403, "this page is for operators: those who manage the accounts")
    if survey_id is not None:
        g.role = current_store().roles.role(g.user, survey_id)
        needed = least_role(request.endpoint or "")
        if g.role < needed:
            abort(403, f"this is for those who are {needed.word} of the survey, or more; you are {g.role.word}")


def _ask_operator() -> None:
    g.operator = (person := current_store().people.person(g.user)) is not None and person.operator


def may_open(address: str) -> bool:
    """Whether the researcher of the current request may open an address of the survey that it is about."""
    try:
        endpoint = _endpoint(address.partition("?")[0])
    except HTTPException:
        return False
    return may_do(endpoint)


def may_do(endpoint: str, survey_id: str | None = None) -> bool:
    """Whether the researcher of the current request may go to an endpoint of the survey that it is about, or of another one.

    survey_id: one of those that `seen_headings` has named.
    """
    role = g.get("role") if survey_id is None else g.seen[survey_id]
    return role is not None and role >= least_role(endpoint)


def _endpoint(path: str) -> str:
    """The endpoint of a path: that of reading it where it can be read. Raises HTTPException where there is none."""
    bound = current_app.url_map.bind("")
    allowed = sorted(bound.allowed_methods(path))
    return str(bound.match(path, method="GET" if "GET" in allowed else next(iter(allowed), "GET"))[0])


def seen_surveys() -> list[Published]:
    """The published surveys in which the researcher of the current request has a role, by id."""
    seen = current_store().roles.seen_by(g.get("user") or "")
    return [published for published in current_store().surveys.all() if published.survey.id in seen]


def seen_headings() -> list[Heading]:
    """The same surveys as a list names them."""
    seen = g.seen = current_store().roles.seen_by(g.get("user") or "")
    return [heading for heading in current_store().surveys.headings() if heading.id in seen]


def current_audience() -> Audience:
    """The audience of the route that the current request is for."""
    return _declared() or (ASTRAY if request.endpoint is None and request.path.startswith("/manage/") else NOBODY)


def _declared() -> Audience | None:
    routes = current_app.blueprints.get(request.blueprint or "")
    return routes.audience if isinstance(routes, Routes) else None
