"""Second-factor page: an authenticator app or passkeys, and recovery codes."""

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
    """Shows the second factor of the account."""
    return _page(_new_secret(), PasskeyForm())


@bp.post("/manage/account/second-factor")
def begin() -> Page:
    """Sets up an app after a correct code, and shows the recovery codes, only once."""
    form, now = FactorForm(), time.time()
    secret = totp.decode_secret(form.secret.data or "")
    if secret is None:
        form = _new_secret()
        form.code.errors = ["Start again with this new secret."]
    elif form.validate() and _verify_password(form):
        step = totp.find_step(secret, form.code.data, now)
        if step is not None:
            codes = [recovery_code() for _ in range(RECOVERY_CODES)]
            current_store().factors.set_secret(g.user, secret, step, [hash_of(code) for code in codes])
            return render_template("identity/recovery.html", codes=codes)
        form.code.errors = ["The code is wrong. Check the clock of the device."]
    return _page(form, PasskeyForm(formdata=None)), 422


@bp.post("/manage/account/passkeys")
def add_passkey() -> Page:
    """Stores a new passkey and shows new recovery codes, only once."""
    form, store = PasskeyForm(), current_store()
    if form.validate() and _verify_password(form):
        passkey = passkeys.register(form.credential.data, form.name.data, datetime.now(UTC).date().isoformat())
        if passkey is not None:
            codes = [recovery_code() for _ in range(RECOVERY_CODES)]
            store.factors.add_passkey(g.user, passkey, [hash_of(code) for code in codes])
            return render_template("identity/recovery.html", codes=codes)
        form.name.errors = ["The device sent no valid passkey. Try again."]
    return _page(_new_secret(), form), 422


@bp.post("/manage/account/second-factor/remove")
def remove() -> Page:
    """Removes the second factor after a check of the password."""
    form = ConfirmForm()
    if form.validate() and _verify_password(form):
        current_store().factors.remove(g.user)
        return done("You now log in with your password alone.", "account.page")
    return _page(_new_secret(), PasskeyForm(formdata=None), form), 422


def _new_secret() -> FactorForm:
    form = FactorForm(formdata=None)
    form.secret.data = totp.encode_secret(secrets.token_bytes(totp.SECRET_BYTES))
    return form


def _page(form: FactorForm, passkey: PasskeyForm, remove: ConfirmForm | None = None) -> str:
    factors, issuer = current_store().factors, f"deniable {urlsplit(server_address()).hostname}"
    stored = factors.passkeys(g.user)
    removing = ConfirmForm(formdata=None) if remove is None else remove
    context = {
        "has_app": factors.secret(g.user) is not None,
        "passkeys": stored,
        "left": factors.recovery_left(g.user),
        "address": totp.otpauth_uri(totp.decode_secret(form.secret.data) or b"", g.user, issuer),
        "options": passkeys.creation_options(g.user, stored) if passkeys.site() else "",
        "errors": [error for each in (form, passkey, removing) for errors in each.errors.values() for error in errors],
    }
    return render_template("identity/second_factor.html", form=form, passkey=passkey, remove=removing, **context)


def _verify_password(form: ConfirmForm) -> bool:
    """Returns whether the form has the account's password; if not, adds the error to the form."""
    try:
        if current_passwords().verify(g.user, form.current.data, sessions.device_id(g.user)):
            return True
        form.current.errors = ["This is not your password."]
    except RateLimitError as error:
        form.current.errors = [f"Too many tries. Wait {error.seconds} seconds, then try again."]
    return False


def use_code(factors: Factors, user: str, text: str) -> bool:
    """Uses up a code of the user's app, or a recovery code. Returns whether it was valid and unused."""
    secret, code = factors.secret(user), "".join(text.split())
    step = None if secret is None else totp.find_step(secret, code, time.time())
    if step is not None:
        return factors.take_step(user, step)
    return factors.take_recovery(user, hash_of(code))


def recovery_code() -> str:
    """Returns a new recovery code of 80 random bits."""
    text = base64.b32encode(secrets.token_bytes(10)).decode().lower()
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def hash_of(code: str) -> bytes:
    """Returns the stored hash of a recovery code, ignoring blanks, hyphens and case."""
    plain = "".join(code.split()).replace("-", "").lower()
    return hashlib.sha256(plain.encode(errors="surrogatepass")).digest()
