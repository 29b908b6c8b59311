"""The second factor of an account: an app that shows codes, or passkeys; and recovery codes for the day on which they are lost."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from datetime import UTC, datetime
from urllib.parse import urlsplit

from flask import g, render_template

from deniable_server.context import current_store
from deniable_server.identity import passkeys, sessions, totp
from deniable_server.identity.forms import ConfirmForm, FactorForm, PasskeyForm
from deniable_server.identity.passwords import current_passwords
from deniable_server.pages.routes import Page, done, routes
from deniable_server.store.factors import Factors
from deniable_server.web.links import server_address
from deniable_server.web.rate_limiter import RateLimitError

bp = routes("second_factor", __name__)
RECOVERY_CODES = 10


@bp.get("/manage/account/second-factor")
def page() -> Page:
    return _page(_new_secret(), PasskeyForm())


@bp.post("/manage/account/second-factor")
def begin() -> Page:
    """Sets up the app whose code proves that it has the secret, and shows the recovery codes: this once."""
    form, now = FactorForm(), time.time()
    secret = totp.read(form.secret.data or "")
    if secret is None:
        form = _new_secret()
        form.code.errors = ["Begin again with this new secret."]
    elif form.validate() and _password_holds(form):
        step = totp.step_of(secret, form.code.data, now)
        if step is not None:
            codes = [recovery_code() for _ in range(RECOVERY_CODES)]
            current_store().factors.set_secret(g.user, secret, step, [hash_of(code) for code in codes])
            return render_template("identity/recovery.html", codes=codes)
        form.code.errors = ["This is not the code that the app shows now. Check the clock of the device."]
    return _page(form, PasskeyForm(formdata=None)), 422


@bp.post("/manage/account/passkeys")
def add_passkey() -> Page:
    """Keeps a passkey that the browser has just made, and shows new recovery codes: this once."""
    form, store = PasskeyForm(), current_store()
    if form.validate() and _password_holds(form):
        passkey = passkeys.made(form.credential.data, form.name.data, datetime.now(UTC).date().isoformat())
        if passkey is not None:
            codes = [recovery_code() for _ in range(RECOVERY_CODES)]
            store.factors.add_passkey(g.user, passkey, [hash_of(code) for code in codes])
            return render_template("identity/recovery.html", codes=codes)
        form.name.errors = ["The device gave no passkey for this page. Try again."]
    return _page(_new_secret(), form), 422


@bp.post("/manage/account/second-factor/remove")
def remove() -> Page:
    form = ConfirmForm()
    if form.validate() and _password_holds(form):
        current_store().factors.remove(g.user)
        return done("You log in with your password alone now.", "account.page")
    return _page(_new_secret(), PasskeyForm(formdata=None), form), 422


def _new_secret() -> FactorForm:
    form = FactorForm(formdata=None)
    form.secret.data = totp.written(secrets.token_bytes(totp.SECRET_BYTES))
    return form


def _page(form: FactorForm, passkey: PasskeyForm, remove: ConfirmForm | None = None) -> str:
    factors, issuer = current_store().factors, f"deniable {urlsplit(server_address()).hostname}"
    known = factors.passkeys(g.user)
    removing = ConfirmForm(formdata=None) if remove is None else remove
    shown = {
        "has_app": factors.secret(g.user) is not None,
        "known": known,
        "left": factors.recovery_left(g.user),
        "address": totp.address(totp.read(form.secret.data) or b"", g.user, issuer),
        "options": passkeys.creation_options(g.user, known) if passkeys.site() else "",
        "errors": [told for one in (form, passkey, removing) for errors in one.errors.values() for told in errors],
    }
    return render_template("identity/second_factor.html", form=form, passkey=passkey, remove=removing, **shown)


def _password_holds(form: ConfirmForm) -> bool:
    try:
        if current_passwords().hold(g.user, form.current.data, sessions.device(g.user)):
            return True
        form.current.errors = ["This is not your password."]
    except RateLimitError as error:
        form.current.errors = [f"Too many tries. Wait {error.seconds} seconds, then try again."]
    return False


def proved(factors: Factors, user: str, written: str) -> bool:
    """Whether this is a code of the user's app that was not used before, or a recovery code; it is used up then."""
    secret, code = factors.secret(user), "".join(written.split())
    step = None if secret is None else totp.step_of(secret, code, time.time())
    if step is not None:
        return factors.take_step(user, step)
    return factors.take_recovery(user, hash_of(code))


def recovery_code() -> str:
    """80 random bits, as people copy them."""
    text = base64.b32encode(secrets.token_bytes(10)).decode().lower()
    return "-".join(text[place : place + 4] for place in range(0, len(text), 4))


def hash_of(code: str) -> bytes:
    """What the store has of a recovery code, however it was typed."""
    plain = "".join(code.split()).replace("-", "").lower()
    return hashlib.sha256(plain.encode(errors="surrogatepass")).digest()
