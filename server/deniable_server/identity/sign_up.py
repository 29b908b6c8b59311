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
from deniable_server.store.errors import ConflictError, InvitationError
from deniable_server.store.people import Invitation
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.rate_limiter import current_rates

bp = Routes("joining", __name__, Audience(login=False, forms=True, csrf=True, translated=False))
_INVALID = "this link was used, has expired or never existed; ask its sender for a new one"


@bp.get("/join/<token>")
def page(token: str) -> str:
    """Shows the form for a new account."""
    return render_template("identity/sign_up.html", form=SignUpForm(), invitation=_find_invitation(token))


@bp.post("/join/<token>")
def accept(token: str) -> AnyResponse | tuple[str, int]:
    """Creates the account and logs its owner in."""
    invitation, form = _find_invitation(token), SignUpForm()
    if not form.validate_on_submit():
        return render_template("identity/sign_up.html", form=form, invitation=invitation), 422
    people, name = current_store().people, form.user.data
    if people.person(name) is not None:
        return _name_in_use(form, invitation)
    try:
        check_new_name(current_store().accounts, name)
    except ValueError as error:
        form.user.errors = [f"{str(error)[:1].upper()}{str(error)[1:]}."]
        return render_template("identity/sign_up.html", form=form, invitation=invitation), 422
    try:
        people.accept(invitation.hash, name, hash_password(name, form.password.data), int(time.time()))
    except ConflictError:
        return _name_in_use(form, invitation)
    except InvitationError:  # another request was faster
        abort(404, _INVALID)
    sessions.log_in(name)
    response: AnyResponse = redirect(url_for("researchers.surveys"))
    sessions.remember_device(response, name)
    return response


def _find_invitation(token: str) -> Invitation:
    """Returns the invitation of a link; aborts with 404 if the link is invalid.

    Raises:
        RateLimitError: There were too many invalid links recently.
    """
    invitation = current_store().people.invitation(hash_of(token), int(time.time()))
    if invitation is None:
        current_rates().wrong_links.take()
        abort(404, _INVALID)
    return invitation


def _name_in_use(form: SignUpForm, invitation: Invitation) -> tuple[str, int]:
    form.user.errors = ["Another account has this name. Choose another one."]
    return render_template("identity/sign_up.html", form=form, invitation=invitation), 422
