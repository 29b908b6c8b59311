"""Time-based one-time passwords (TOTP, RFC 6238) of authenticator apps: six digits, 30 seconds, SHA-1, which all apps support.

SHA-1 is not a weakness here, since HMAC does not need collision resistance.
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
    """Returns the code of a time step: HOTP of RFC 4226, section 5.3, with the step as its counter."""
    mac = hmac.digest(secret, step.to_bytes(8, "big"), hashlib.sha1)
    offset = mac[-1] & 15
    number = int.from_bytes(mac[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**DIGITS:0{DIGITS}d}"


def find_step(secret: bytes, code: str, now: float) -> int | None:
    """Returns the time step of a code: the current one, or one before or after it, since clocks differ; None for a wrong code.

    Args:
        secret: The secret that the app has.
        code: The code that a person entered.
        now: The time in Unix seconds.
    """
    current, entered = int(now) // STEP, code.encode(errors="replace")
    steps = [step for step in (current - 1, current, current + 1) if hmac.compare_digest(code_at(secret, step).encode(), entered)]
    return steps[-1] if steps else None


def encode_secret(secret: bytes) -> str:
    """Returns a secret as apps read it: base32, without padding."""
    return base64.b32encode(secret).decode().rstrip("=")


def decode_secret(text: str) -> bytes | None:
    """Returns the secret of a text that `encode_secret` returned, or None for another text."""
    try:
        secret = base64.b32decode(text)
    except ValueError:
        return None
    return secret if len(secret) == SECRET_BYTES else None


def otpauth_uri(secret: bytes, user: str, issuer: str) -> str:
    """Returns the otpauth URI that apps read from a QR code."""
    label = quote(f"{issuer}:{user}", safe="")
    return f"otpauth://totp/{label}?secret={encode_secret(secret)}&issuer={quote(issuer, safe='')}"
