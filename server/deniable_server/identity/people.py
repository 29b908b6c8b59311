"""Account administration for operators: accounts, invitation links, roles and removal."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from flask import abort, g, render_template, request, url_for

from deniable_server.context import current_store
from deniable_server.identity import account_links
from deniable_server.identity.makers import Remains, remove_account
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.one_time_forms import repeated
from deniable_server.pages.routes import OPERATORS, Page, confirmation, done, routes
from deniable_server.store.errors import LastError
from deniable_server.store.protocol import Store
from deniable_server.web.links import server_address

bp = routes("people", __name__, OPERATORS)

ACTS: dict[str, Callable[[Store, str], object]] = {
    "operator": lambda store, name: store.people.set_operator(name, True),
    "researcher": lambda store, name: store.people.set_operator(name, False),
    "disable": lambda store, name: store.people.set_disabled(name, True),
    "enable": lambda store, name: store.people.set_disabled(name, False),
    "password only": lambda store, name: store.factors.remove(name),
    "remove": remove_account,
}

_DONE = {
    "operator": "{name} is now an operator.",
    "researcher": "{name} is now a researcher.",
    "disable": "{name} is disabled and logged out.",
    "enable": "{name} can log in again.",
    "password only": "{name} now logs in with the password alone.",
    "remove": "{name} is removed.",
}
_ASKS = {
    "remove": (
        "Remove {name}?",
        "This deletes the account, its roles and its sessions. It cannot be undone.",
        "Remove account",
    ),
    "password only": (
        "Remove the second factor of {name}?",
        "Their app, passkeys and recovery codes stop working.",
        "Remove second factor",
    ),
}


@bp.get("/manage/people")
def page() -> Page:
    """Lists the accounts and the unused links."""
    return _page()


@bp.post("/manage/people")
def change() -> Page:
    """Applies one of ACTS to an account. Raises UnknownAccountError."""
    act, name = request.form.get("act", ""), request.form.get("name", "")
    if act not in ACTS:
        abort(400, f"act must be {', '.join(ACTS)}")
    if act in _ASKS:
        question, consequence, button = _ASKS[act]
        check = confirmation(question.format(name=name), consequence, button, url_for(".page"))
        if check is not None:
            return check
    try:
        result = ACTS[act](current_store(), name)
    except LastError as error:
        return _page(problem=str(error)), 409
    if isinstance(result, Remains) and result.keys:
        return _page(problem=f"the account is removed, but its keys still work: {', '.join(result.keys)}")
    return done(_DONE[act].format(name=name), ".page")


@bp.post("/manage/people/links")
def invite() -> Page:
    """Makes a link and shows it, only once."""
    if again := repeated("Link already made", url_for(".page")):
        return again
    operator = request.form.get("kind") == "operator"
    link = account_links.make(current_store(), server_address(), operator, g.user)
    return _page(link=link)


@bp.post("/manage/people/links/end")
def revoke() -> Page:
    """Revokes an unused link."""
    try:
        current_store().people.revoke(bytes.fromhex(request.form.get("link", "")))
    except ValueError:
        abort(400, "link must be one of the links on the page")
    return done("The link no longer works.", ".page")


def _page(problem: str = "", link: str = "") -> str:
    store, now = current_store(), datetime.now(UTC)
    open_links = [(link, datetime.fromtimestamp(link.until, UTC).date()) for link in store.people.links(int(now.timestamp()))]
    context = {"people": store.people.all(), "links": open_links, "problem": problem, "link": link}
    return render_template("identity/people.html", **context, form=ActionForm())
