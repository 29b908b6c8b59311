"""Passkeys (WebAuthn): a key pair on somebody's device, of which the server has the public half. py_webauthn reads and verifies them:
it takes long to load, and comes when somebody has one.

A challenge is signed into the cookie of a visit, holds for five minutes, and begins with its time. A passkey takes none that is not newer
than the one it answered last, so nothing that was recorded can be sent again.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from flask import session

from deniable_server.store.factors import Passkey
from deniable_server.web.links import server_address

LASTS = 300.0  # seconds
_CHALLENGE = "challenge"


def site() -> str | None:
    """The host that passkeys are for; None where the server has an address of numbers, for which browsers make none."""
    host = urlsplit(server_address()).hostname or ""
    try:
        ip_address(host)
    except ValueError:
        return host
    return None


def creation_options(user: str, known: Sequence[Passkey]) -> str:
    """What a browser is asked to make, as JSON: not on a device that has one of those that are known."""
    import webauthn

    options = webauthn.generate_registration_options(
        rp_id=site() or "",
        rp_name="deniable",
        user_name=user,
        user_id=hashlib.sha256(user.encode()).digest(),
        challenge=_new_challenge(),
        exclude_credentials=[webauthn.helpers.structs.PublicKeyCredentialDescriptor(id=one.id) for one in known],
    )
    return webauthn.options_to_json(options)


def made(answer: str, name: str, made_on: str) -> Passkey | None:
    """The passkey that a browser says it made, or None where the answer is none to the challenge of this visit."""
    import webauthn

    challenge = _take_challenge()
    if challenge is None:
        return None
    try:
        found = webauthn.verify_registration_response(
            credential=answer, expected_challenge=challenge, expected_rp_id=site() or "", expected_origin=server_address()
        )
    except Exception:  # whatever a library raises for what a stranger sends: it is no answer
        return None
    return Passkey(found.credential_id, name, found.credential_public_key, found.sign_count, made_on)


def request_options(known: Sequence[Passkey]) -> str:
    """What a browser is asked to sign, and with which passkeys, as JSON."""
    import webauthn

    allowed = [webauthn.helpers.structs.PublicKeyCredentialDescriptor(id=one.id) for one in known]
    return webauthn.options_to_json(
        webauthn.generate_authentication_options(rp_id=site() or "", challenge=_new_challenge(), allow_credentials=allowed)
    )


def shown(answer: str, known: Sequence[Passkey]) -> tuple[Passkey, int] | None:
    """Which of these passkeys answered the challenge of this visit, with its new count, and when that was made, in nanoseconds; or None."""
    import webauthn

    challenge = _take_challenge()
    if challenge is None:
        return None
    try:
        sent = webauthn.helpers.parse_authentication_credential_json(answer).raw_id
        passkey = next(one for one in known if one.id == sent)
        found = webauthn.verify_authentication_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=site() or "",
            expected_origin=server_address(),
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.count,
        )
    except Exception:  # likewise
        return None
    counted = Passkey(passkey.id, passkey.name, passkey.public_key, found.new_sign_count, passkey.made_on)
    return counted, int.from_bytes(challenge[:8], "big")


def _new_challenge() -> bytes:
    challenge = time.time_ns().to_bytes(8, "big") + secrets.token_bytes(24)
    session[_CHALLENGE] = base64.b64encode(challenge).decode()
    return challenge


def _take_challenge() -> bytes | None:
    """The challenge of this visit, which is answered once, or None where there is none or it is over."""
    kept = session.pop(_CHALLENGE, None)
    challenge = base64.b64decode(kept) if isinstance(kept, str) else b""
    fresh = 0 <= time.time_ns() - int.from_bytes(challenge[:8], "big") < LASTS * 1e9
    return challenge if challenge and fresh else None
