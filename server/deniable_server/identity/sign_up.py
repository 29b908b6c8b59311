"""Sign-up page of an account link. Opening it does not use up the link, since chat programs fetch links."""

from __future__ import annotations

import time

from flask import abort, redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from deniable_server.context import current_store
from deniable_server.identity import sessions
from deniable_server.identity.account_links import hash_of
from deniable_server.identity.forms import SignUpForm
from deniable_server.identity.passwords import check_new_name, hash_password
from deniable_server.identity.sso.provider import current_provider, is_required
from deniable_server.store.errors import AccountLinkError, ConflictError
from deniable_server.store.people import AccountLink
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.rate_limiter import current_rates

bp = Routes("joining", __name__, Audience(login=False, forms=True, csrf=True, translated=False))
_INVALID = "this link was used, has expired or never existed; ask its sender for a new one"


@bp.get("/join/<token>")
def page(token: str) -> str:
    """Shows the form for a new account."""
    return _page(SignUpForm(), _find_link(token))


@bp.post("/join/<token>")
def accept(token: str) -> AnyResponse | tuple[str, int]:
    """Creates the account and logs its owner in."""
    link, form = _find_link(token), SignUpForm()
    if is_required():
        form.password.errors = ["Passwords do not log in here. Use the button."]
        return _page(form, link), 403
    if not form.validate_on_submit():
        return _page(form, link), 422
    people, name = current_store().people, form.user.data
    if people.person(name) is not None:
        return _name_in_use(form, link)
    try:
        check_new_name(current_store().accounts, name)
    except ValueError as error:
        form.user.errors = [f"{str(error)[:1].upper()}{str(error)[1:]}."]
        return _page(form, link), 422
    try:
        people.accept(link.hash, name, hash_password(name, form.password.data), int(time.time()))
    except ConflictError:
        return _name_in_use(form, link)
    except AccountLinkError:  # another request was faster
        abort(404, _INVALID)
    sessions.log_in(name)
    response: AnyResponse = redirect(url_for("researchers.surveys"))
    sessions.remember_device(response, name)
    return response


def _page(form: SignUpForm, link: AccountLink) -> str:
    return render_template("identity/sign_up.html", form=form, link=link, sso=current_provider())


def _find_link(token: str) -> AccountLink:
    """Returns the account link with this token; aborts with 404 if it is invalid.

    Raises:
        RateLimitError: There were too many invalid links recently.
    """
    link = current_store().people.link(hash_of(token), int(time.time()))
    if link is None:
        current_rates().wrong_links.take()
        abort(404, _INVALID)
    return link


def _name_in_use(form: SignUpForm, link: AccountLink) -> tuple[str, int]:
    form.user.errors = ["Another account has this name. Choose another one."]
    return _page(form, link), 422
