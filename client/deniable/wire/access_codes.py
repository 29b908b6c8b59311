"""Withdrawal codes and invitation codes: secrets that people write down.

A code is 15 random bytes. As text it is 28 characters of Crockford's base32 in groups of four: 24 for the bytes, and 4 of their SHA-256
as a check against typing errors. A submission's id is a hash of its withdrawal code, so neither the database nor the published records
let anyone withdraw. A server keeps only a hash of an invitation too.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

SECRET_BYTES = 15
ID_BYTES = 16
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ALIKE = str.maketrans("OIL", "011")
_SPACE = re.compile(r"[\s\-\u2010-\u2015]+")


def format_code(secret: bytes) -> str:
    """Returns a code as people read it: 4TRV-8HZ0-…, seven groups of four. Raises ValueError unless it has 15 bytes."""
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"a code must have {SECRET_BYTES} bytes, got {len(secret)}")
    text = _base32(secret, 24) + _base32(hashlib.sha256(secret).digest(), 4)
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def read(text: Any) -> bytes:
    """Returns the bytes of a typed code: in any case, with or without hyphens, O for 0 and I or L for 1.

    Raises:
        ValueError: It is mistyped. The message does not quote it.
    """
    plain = _SPACE.sub("", text).upper().translate(_ALIKE) if isinstance(text, str) else ""
    if len(plain) == 28 and set(plain) <= set(_ALPHABET):
        secret = sum(_ALPHABET.index(c) << 5 * (23 - index) for index, c in enumerate(plain[:24])).to_bytes(SECRET_BYTES, "big")
        if format_code(secret).replace("-", "") == plain:
            return secret
    raise ValueError("the code must be 28 letters and digits, as it was shown; something in it was mistyped")


def submission_id(secret: bytes) -> bytes:
    """Returns the id of the submission that a withdrawal code erases, 16 bytes."""
    return hashlib.sha256(b"deniable submission\n" + secret).digest()[:ID_BYTES]


def invitation_hash(survey_id: str, secret: bytes) -> bytes:
    """Returns the hash of an invitation to a survey that a server stores, 32 bytes."""
    return hashlib.sha256(f"deniable invitation\n{survey_id}\n".encode() + secret).digest()


def _base32(raw: bytes, length: int) -> str:
    """Returns the first `length` characters, five bits each, the most significant first."""
    bits = int.from_bytes(raw, "big") >> (8 * len(raw) - 5 * length)
    return "".join(_ALPHABET[bits >> 5 * (length - 1 - index) & 31] for index in range(length))
