"""Exchange of invitation codes for tokens, once each: a token is drawn and stored before the server signs it.

So a lost reply costs nothing: the same blinded token is sent again, after a restart too. A code is deleted once its token is signed, and a
token once it is part of a submission.
"""

from __future__ import annotations

import base64
import binascii
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from deniable.delivery.outbox import Outbox
from deniable.delivery.token_table import StoredToken
from deniable.delivery.transport import Transport
from deniable.errors import RefusedError
from deniable.survey import Survey
from deniable.wire.access_codes import invitation_hash
from deniable.wire.blind_rsa import BlindSignatureError
from deniable.wire.tokens import NONCE_BYTES, SALT_BYTES, BlindedToken, Token, modulus_of


@dataclass(frozen=True)
class TokenExchange:
    """Exchanges codes at a server.

    Attributes:
        transport: The connection to the server.
        outbox: Returns the outbox, which stores tokens.
    """

    transport: Transport
    outbox: Callable[[], Outbox] = field(repr=False)

    def prepare(self, survey: Survey, code: bytes) -> None:
        """Draws the token of a code and stores it, unless that was done before. Raises RefusedError if the survey's key is unusable."""
        code_hash = invitation_hash(survey.id, code)
        if self.outbox().tokens.find(self.transport.url, code_hash) is None:
            self.outbox().tokens.add(self.transport.url, code_hash, code, draw(survey))

    def token(self, survey_id: str, code: bytes) -> Token | None:
        """Returns the signed token of a prepared code, from the server if it is not signed yet; None if a submission already has it.

        Raises:
            RefusedError: The server's signature is not by the survey's key.
            RejectedError: The code is not one of the survey's, or was used for another token.
            DeliveryError: The server could not be reached.
        """
        stored = self.outbox().tokens.find(self.transport.url, invitation_hash(survey_id, code))
        if stored is None:
            return None
        return stored.token or self._sign(survey_id, code, stored)

    def _sign(self, survey_id: str, code: bytes, stored: StoredToken) -> Token:
        body = json.dumps({"code": _encode64(code), "blinded": _encode64(stored.blinded.blinded)}, separators=(",", ":"))
        reply = self.transport.post_for(f"/api/v1/surveys/{survey_id}/tokens", body.encode(), "signature")
        try:
            token = stored.blinded.finish(base64.urlsafe_b64decode(reply + "=="))
        except (BlindSignatureError, binascii.Error, ValueError):
            raise RefusedError(
                f"survey {survey_id}: the server must sign the token of an invitation code with the survey's key, got another signature; "
                "no answer was sent"
            ) from None
        self.outbox().tokens.sign(self.transport.url, invitation_hash(survey_id, code), token)
        return token


def draw(survey: Survey) -> BlindedToken:
    """Returns a new token, blinded with the operating system's randomness. Raises RefusedError if the survey's key is unusable."""
    modulus = modulus_of(survey.issuer)
    nonce, salt = secrets.token_bytes(NONCE_BYTES), secrets.token_bytes(SALT_BYTES)
    try:
        return BlindedToken.of(survey, nonce, salt, secrets.randbelow(modulus - 1) + 1)
    except BlindSignatureError:
        raise RefusedError(f"survey {survey.id}: the survey's key for invitation codes must be the product of two large primes") from None


def _encode64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
