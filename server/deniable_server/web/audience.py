"""Authorization: each blueprint declares its audience, and each survey route the permission, its least role.

Undeclared routes are closed: without an audience to everyone, without a role to all but the survey's owners.
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
from deniable_server.store.protocol import Heading
from deniable_server.store.roles import Role
from deniable_server.web.lanes import Lane

View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True)
class Audience:
    """The people who may use a route, and the protection of its forms.

    Attributes:
        login: Only logged-in researchers are admitted.
        forms: The browser may send the pages' forms, to this server only.
        csrf: Requests that send data need the session's CSRF token, and replies may set its cookie.
        translated: Texts are in the language that the browser requests, by default English.
        operator: Only operators are admitted.
    """

    login: bool
    forms: bool
    csrf: bool
    translated: bool
    operator: bool = False


NOBODY = Audience(login=True, forms=False, csrf=False, translated=True)
"""The default for undeclared routes and 404 pages, which are in the reader's language."""
ASTRAY = Audience(login=True, forms=True, csrf=True, translated=False)
"""The audience of 404 pages below researchers' addresses."""
_LEAST: dict[Callable[..., Any] | None, Role] = {}


class Routes(Blueprint):
    """A blueprint whose routes have one audience, and one lane unless a view declares another."""

    def __init__(self, name: str, import_name: str, audience: Audience, lane: Lane = Lane.RESEARCHERS, **options: Any) -> None:
        super().__init__(name, import_name, **options)
        self.audience, self.lane = audience, lane


def least(role: Role) -> Callable[[View], View]:
    """Requires a role, or a higher one, in the survey that is `survey_id` in the view's address."""

    def mark(view: View) -> View:
        _LEAST[view] = role
        return view

    return mark


def least_role(endpoint: str) -> Role:
    """Returns the least role for a survey route."""
    return _LEAST.get(current_app.view_functions.get(endpoint), Role.OWNER)


@dataclass(frozen=True)
class Return:
    """The reply that replaces the login page when a session has just ended.

    Attributes:
        applies: Returns whether the reply is for the current request.
        page: Returns the reply.
    """

    applies: Callable[[], bool]
    page: Callable[[], Response]


@dataclass(frozen=True)
class Entrance:
    """How requests for researchers' pages are admitted.

    Attributes:
        user: Returns the name of the logged-in researcher, or None.
        back: The reply for people whose session has just ended.
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
    """Closes all routes that are not declared open. Templates get `may_open` and `may_do`.

    Args:
        app: The application.
        user: Returns the name of the logged-in researcher, or None.
        door: The endpoint of the login page.
        back: The reply for people whose session has just ended.
    """

    def admit() -> Response | None:
        set_actor(None)  # this thread has served others
        if request.endpoint is None:
            if current_audience() is ASTRAY and let_in():
                _ask_operator()
            return None  # the error handler replies that there is no such page
        if _declared() is None:
            abort(403, "this page is closed: no audience is declared for it")
        if not let_in():
            return back.page() if back.applies() else redirect(_to(door))
        _ask_role()
        return None

    services_of(app).add(Entrance(user, back))
    app.before_request(admit)
    app.teardown_request(lambda _: set_actor(None))
    app.add_template_global(may_open)
    app.add_template_global(may_do)


def _to(door: str) -> str:
    """Returns the address of the login page, which leads back; with `unread` if a form was sent, which must be sent again."""
    if request.method in ("GET", "HEAD"):
        return url_for(door, next=request.path)
    return url_for(door, next=_readable(request.path), unread=1)


def _readable(path: str) -> str:
    """Returns the path if it can be read, otherwise the nearest readable one above it, since many addresses accept forms only."""
    bound = current_app.url_map.bind("")
    while path and "GET" not in bound.allowed_methods(path):
        path = path.rpartition("/")[0]
    return path


def let_in() -> bool:
    """Returns whether the current request is admitted; then `g.user` is the researcher's name."""
    if not current_audience().login:
        return True
    g.user = current_services().get(Entrance).user()
    return g.user is not None


def may_send_forms() -> bool:
    """Returns whether the request is admitted, or is a form whose session has just ended."""
    return let_in() or bool(current_services().get(Entrance).back.applies())


def _ask_role() -> None:
    """Aborts unless the researcher may use the route; sets `g.role` to the role in its survey, or None.

    Raises:
        UnknownSurveyError: The researcher has no role in the survey. The error does not reveal whether it exists.
    """
    audience, survey_id = current_audience(), (request.view_args or {}).get("survey_id")
    g.role = None
    if not audience.login:
        return
    set_actor(g.user)
    _ask_operator()
    if audience.operator and not g.operator:
        abort(403, "this page is for operators, who manage the accounts")
    if survey_id is not None:
        g.role = current_store().roles.role(g.user, survey_id)
        needed = least_role(request.endpoint or "")
        if g.role < needed:
            abort(403, f"this needs the role {needed.word} or a higher one; yours is {g.role.word}")


def _ask_operator() -> None:
    g.operator = (person := current_store().people.person(g.user)) is not None and person.operator


def may_open(address: str) -> bool:
    """Returns whether the current researcher may open an address of the current survey."""
    try:
        endpoint = _endpoint(address.partition("?")[0])
    except HTTPException:
        return False
    return may_do(endpoint)


def may_do(endpoint: str, survey_id: str | None = None) -> bool:
    """Returns whether the current researcher may use an endpoint of the current survey, or of `survey_id`.

    `survey_id` must be one that `seen_headings` has returned.
    """
    role = g.get("role") if survey_id is None else g.roles[survey_id]
    return role is not None and role >= least_role(endpoint)


def _endpoint(path: str) -> str:
    """Returns the endpoint of a path, preferably for reading. Raises HTTPException for an unknown path."""
    bound = current_app.url_map.bind("")
    allowed = sorted(bound.allowed_methods(path))
    return str(bound.match(path, method="GET" if "GET" in allowed else next(iter(allowed), "GET"))[0])


def seen_headings(tag: str = "") -> list[Heading]:
    """Returns the published surveys that the current researcher has a role in, sorted by id; with a tag only those that have it."""
    roles = g.roles = current_store().roles.seen_by(g.get("user") or "")
    return current_store().surveys.headings(roles.keys() & current_store().tags.surveys_with(tag) if tag else roles)


def current_audience() -> Audience:
    """Returns the audience of the current request's route."""
    return _declared() or (ASTRAY if request.endpoint is None and request.path.startswith("/manage/") else NOBODY)


def _declared() -> Audience | None:
    routes = current_app.blueprints.get(request.blueprint or "")
    return routes.audience if isinstance(routes, Routes) else None
