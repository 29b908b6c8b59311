"""People: the accounts of this server, for operators: who has one, links that make one, and what can be done with each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from flask import abort, g, redirect, render_template, request, url_for

from deniable_server.context import current_store
from deniable_server.researchers import account_links
from deniable_server.researchers.forms import ActionForm
from deniable_server.researchers.makers import Remains, remove_account
from deniable_server.researchers.pages import OPERATORS, Page, routes
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


@bp.get("/manage/people")
def page() -> Page:
    return _page()


@bp.post("/manage/people")
def change() -> Page:
    """Does one of ACTS with one account. Raises UnknownAccountError."""
    act = ACTS.get(request.form.get("act", ""))
    if act is None:
        abort(400, f"act must be {', '.join(ACTS)}")
    try:
        done = act(current_store(), request.form.get("name", ""))
    except LastError as error:
        return _page(problem=str(error)), 409
    if isinstance(done, Remains) and done.keys:
        return _page(problem=f"the account is removed, but keys that it made still work: {', '.join(done.keys)}")
    return redirect(url_for(".page"))


@bp.post("/manage/people/links")
def invite() -> Page:
    """Makes a link, and shows it: this once."""
    operator = request.form.get("kind") == "operator"
    link = account_links.make(current_store(), server_address(), operator, g.user)
    return _page(link=link)


@bp.post("/manage/people/links/end")
def take_back() -> Page:
    """Ends a link that was not used."""
    try:
        current_store().people.take_back(bytes.fromhex(request.form.get("link", "")))
    except ValueError:
        abort(400, "link must be one of those on the page")
    return redirect(url_for(".page"))


def _page(problem: str = "", link: str = "") -> str:
    store, now = current_store(), datetime.now(UTC)
    open_links = [
        (invitation, datetime.fromtimestamp(invitation.until, UTC).date()) for invitation in store.people.invitations(int(now.timestamp()))
    ]
    shown = {"people": store.people.all(), "links": open_links, "problem": problem, "link": link}
    return render_template("researchers/people.html", **shown, form=ActionForm())
