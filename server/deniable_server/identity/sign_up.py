"""The page behind a link that makes an account. Looking at it spends nothing: chat programs fetch links."""

from __future__ import annotations

import time

from flask import abort, redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from deniable_server.context import current_store
from deniable_server.identity import sessions
from deniable_server.identity.account_links import hash_of
from deniable_server.identity.forms import JoinForm
from deniable_server.identity.passwords import check_new_name, hashed
from deniable_server.store.errors import ConflictError, InvitationError
from deniable_server.store.people import Invitation
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.rate_limiter import current_rates

bp = Routes("joining", __name__, Audience(login=False, forms=True, csrf=True, translated=False))
_OVER = "this link was used, has ended, or was never made; ask whoever sent it for another one"


@bp.get("/join/<token>")
def page(token: str) -> str:
    return render_template("identity/sign_up.html", form=JoinForm(), invitation=_invitation(token))


@bp.post("/join/<token>")
def accept(token: str) -> AnyResponse | tuple[str, int]:
    """Makes the account and opens a session of it."""
    invitation, form = _invitation(token), JoinForm()
    if not form.validate_on_submit():
        return render_template("identity/sign_up.html", form=form, invitation=invitation), 422
    people, name = current_store().people, form.user.data
    if people.person(name) is not None:
        return _taken(form, invitation)
    try:
        check_new_name(current_store().accounts, name)
    except ValueError as error:
        form.user.errors = [f"{str(error)[:1].upper()}{str(error)[1:]}."]
        return render_template("identity/sign_up.html", form=form, invitation=invitation), 422
    try:
        people.accept(invitation.hash, name, hashed(name, form.password.data), int(time.time()))
    except ConflictError:
        return _taken(form, invitation)
    except InvitationError:  # somebody was faster
        abort(404, _OVER)
    sessions.log_in(name)
    response: AnyResponse = redirect(url_for("researchers.surveys"))
    sessions.remember_device(response, name)
    return response


def _invitation(token: str) -> Invitation:
    """What a link is for. Aborts with 404 where it is for nothing; raises RateLimitError where too many were wrong lately."""
    found = current_store().people.invitation(hash_of(token), int(time.time()))
    if found is None:
        current_rates().wrong_links.take()
        abort(404, _OVER)
    return found


def _taken(form: JoinForm, invitation: Invitation) -> tuple[str, int]:
    form.user.errors = ["Somebody has this name: choose another one."]
    return render_template("identity/sign_up.html", form=form, invitation=invitation), 422
