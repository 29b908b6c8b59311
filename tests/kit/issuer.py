"""An issuer of tokens for tests: a fixed key, and what a server does with it, in plain integers."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from deniable.delivery.tokens import draw
from deniable.survey import Survey
from deniable.wire.tokens import Token, issuer_of

_VECTORS = Path(__file__).parents[1] / "vectors" / "blind_rsa.json"
_KEY, _OTHER = (
    case for case in json.loads(_VECTORS.read_text(encoding="utf-8")) if case["name"] in ("key 0, message 0", "key 1, message 0")
)
ISSUER = issuer_of(int(_KEY["modulus"], 16))
OTHER_ISSUER = issuer_of(int(_OTHER["modulus"], 16))


def issued(survey: Survey) -> Survey:
    """A survey as a server publishes it: with this key if people are invited."""
    return survey.with_issuer(ISSUER if survey.access == "invited" else "")


def sign(blinded: bytes, *, by_another_key: bool = False) -> bytes:
    """The signature on a blinded token."""
    key = _OTHER if by_another_key else _KEY
    return pow(int.from_bytes(blinded, "big"), int(key["private_key"]["d"], 16), int(key["modulus"], 16)).to_bytes(256, "big")


def new_token(survey: Survey) -> Token:
    """A signed token of a survey with this key."""
    drawn = draw(survey)
    return drawn.finish(sign(drawn.blinded))


def exchanged(invitations: object, survey: Survey, code: bytes) -> Token:
    """The token that a code is exchanged for at a store: `store.invitations`."""
    from deniable.wire.access_codes import invitation_hash

    drawn = draw(survey)
    return drawn.finish(invitations.exchange(survey.id, invitation_hash(survey.id, code), drawn.blinded))  # type: ignore[attr-defined]


@contextlib.contextmanager
def the_same_key_for_all() -> Iterator[None]:
    """Surveys that servers in this process publish have this key: a new one for each takes its time."""
    from deniable_server.store.blind_signing import SigningKey

    key = SigningKey(*(int(_KEY["private_key"][name], 16) for name in "pq"))
    with patch.object(SigningKey, "generate", lambda: key):
        yield


def base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
