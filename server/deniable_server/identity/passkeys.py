"""Passkeys (WebAuthn): key pairs on people's devices; the server has the public keys.

py_webauthn verifies them. It is slow to load, so it is imported on first use. A challenge is signed into the session cookie, is
valid for five minutes and begins with its time. A passkey must answer a newer challenge each time, which prevents replays.
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
    """Returns the host name of passkeys, or None for an IP address, where browsers refuse passkeys."""
    host = urlsplit(server_address()).hostname or ""
    try:
        ip_address(host)
    except ValueError:
        return host
    return None


def creation_options(user: str, stored: Sequence[Passkey]) -> str:
    """Returns the options to create a passkey, as JSON; a device with a stored one is excluded."""
    import webauthn

    options = webauthn.generate_registration_options(
        rp_id=site() or "",
        rp_name="deniable",
        user_name=user,
        user_id=hashlib.sha256(user.encode()).digest(),
        challenge=_new_challenge(),
        exclude_credentials=[webauthn.helpers.structs.PublicKeyCredentialDescriptor(id=passkey.id) for passkey in stored],
    )
    return webauthn.options_to_json(options)


def register(answer: str, name: str, made_on: str) -> Passkey | None:
    """Returns the new passkey of a browser, or None if the answer does not match this visit's challenge."""
    import webauthn

    challenge = _take_challenge()
    if challenge is None:
        return None
    try:
        result = webauthn.verify_registration_response(
            credential=answer, expected_challenge=challenge, expected_rp_id=site() or "", expected_origin=server_address()
        )
    except Exception:  # the library may raise anything for invalid input
        return None
    return Passkey(result.credential_id, name, result.credential_public_key, result.sign_count, made_on)


def request_options(stored: Sequence[Passkey]) -> str:
    """Returns the options to log in with one of the stored passkeys, as JSON."""
    import webauthn

    allowed = [webauthn.helpers.structs.PublicKeyCredentialDescriptor(id=passkey.id) for passkey in stored]
    return webauthn.options_to_json(
        webauthn.generate_authentication_options(rp_id=site() or "", challenge=_new_challenge(), allow_credentials=allowed)
    )


def verify(answer: str, stored: Sequence[Passkey]) -> tuple[Passkey, int] | None:
    """Returns the passkey that answered this visit's challenge, with its new count, and the challenge's time in nanoseconds."""
    import webauthn

    challenge = _take_challenge()
    if challenge is None:
        return None
    try:
        credential_id = webauthn.helpers.parse_authentication_credential_json(answer).raw_id
        passkey = next(passkey for passkey in stored if passkey.id == credential_id)
        result = webauthn.verify_authentication_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=site() or "",
            expected_origin=server_address(),
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.count,
        )
    except Exception:  # likewise
        return None
    counted = Passkey(passkey.id, passkey.name, passkey.public_key, result.new_sign_count, passkey.made_on)
    return counted, int.from_bytes(challenge[:8], "big")


def _new_challenge() -> bytes:
    challenge = time.time_ns().to_bytes(8, "big") + secrets.token_bytes(24)
    session[_CHALLENGE] = base64.b64encode(challenge).decode()
    return challenge


def _take_challenge() -> bytes | None:
    """Removes and returns this visit's challenge, so that it can be answered only once; None if it has expired or is missing."""
    encoded = session.pop(_CHALLENGE, None)
    challenge = base64.b64decode(encoded) if isinstance(encoded, str) else b""
    is_fresh = 0 <= time.time_ns() - int.from_bytes(challenge[:8], "big") < LASTS * 1e9
    return challenge if challenge and is_fresh else None
