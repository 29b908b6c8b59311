"""Codes that an app shows and that change every 30 seconds: RFC 6238, with six digits and SHA-1, which all apps know.

SHA-1 is no weakness here: HMAC needs no resistance against collisions.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from urllib.parse import quote

STEP = 30  # seconds
DIGITS = 6
SECRET_BYTES = 20  # as RFC 4226 recommends


def code_at(secret: bytes, step: int) -> str:
    """The code of one time step: HOTP of RFC 4226, section 5.3, whose counter is the step."""
    mac = hmac.digest(secret, step.to_bytes(8, "big"), hashlib.sha1)
    offset = mac[-1] & 15
    number = int.from_bytes(mac[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**DIGITS:0{DIGITS}d}"


def step_of(secret: bytes, code: str, now: float) -> int | None:
    """The time step whose code this is: the one of `now`, in Unix seconds, or one beside it, since clocks differ; else None."""
    here = int(now) // STEP
    sent = code.encode(errors="replace")
    steps = [step for step in (here - 1, here, here + 1) if hmac.compare_digest(code_at(secret, step).encode(), sent)]
    return steps[-1] if steps else None


def written(secret: bytes) -> str:
    """The secret as apps take it: base32, without padding."""
    return base64.b32encode(secret).decode().rstrip("=")


def read(text: str) -> bytes | None:
    """What `written` gave, or None for what is no secret of SECRET_BYTES bytes."""
    try:
        secret = base64.b32decode(text)
    except ValueError:
        return None
    return secret if len(secret) == SECRET_BYTES else None


def address(secret: bytes, user: str, issuer: str) -> str:
    """The otpauth address that apps read from a QR code."""
    label = quote(f"{issuer}:{user}", safe="")
    return f"otpauth://totp/{label}?secret={written(secret)}&issuer={quote(issuer, safe='')}"
