"""Tokens of surveys by invitation: blind signatures that let one record in and cannot be joined to the code they were exchanged for.

A client blinds a random nonce and sends it with the invitation code; the server signs it once for each code. The record then carries the
nonce and the signature without the blinding, which the server has never seen. The signed message includes the digest of the definition,
and the definition includes the key, so every person of a survey has a token of the same key.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from deniable.survey import Survey
from deniable.wire import blind_rsa

NONCE_BYTES = blind_rsa.PREFIX_BYTES
SALT_BYTES = blind_rsa.HASH_BYTES
SIGNATURE_BYTES = 256
"""Bytes of a signature, of a blinded message and of the modulus."""


@dataclass(frozen=True)
class Token:
    """The right to submit one record to a survey by invitation."""

    nonce: bytes
    signature: bytes = field(repr=False)


@dataclass(frozen=True)
class BlindedToken:
    """A token that the server has not signed yet: the blinded message to send, and the client's secrets to finish it.

    Attributes:
        survey: The survey's digest.
        issuer: The survey's public key.
        nonce: The nonce of the token.
        blinded: The blinded message.
        inverse: The value that removes the blinding.
    """

    survey: str
    issuer: str
    nonce: bytes = field(repr=False)
    blinded: bytes
    inverse: bytes = field(repr=False)

    @classmethod
    def of(cls, survey: Survey, nonce: bytes, salt: bytes, factor: int) -> BlindedToken:
        """Returns a new blinded token.

        Args:
            survey: A published survey by invitation.
            nonce: NONCE_BYTES random bytes.
            salt: SALT_BYTES random bytes.
            factor: A random whole number from 1 to below the modulus, uniform.

        Raises:
            BlindSignatureError: The factor cannot be used: draw another one.
        """
        blinded, inverse = blind_rsa.blind(modulus_of(survey.issuer), token_message(survey.digest, nonce), salt, factor)
        return cls(survey.digest, survey.issuer, nonce, blinded, inverse)

    def finish(self, signature: bytes) -> Token:
        """Returns the token, from the server's blind signature. Raises BlindSignatureError if it is by another key."""
        message = token_message(self.survey, self.nonce)
        return Token(self.nonce, blind_rsa.finalize(modulus_of(self.issuer), message, signature, self.inverse))


def token_message(digest: str, nonce: bytes) -> bytes:
    """Returns the message that a token's signature is on, prepared as RFC 9474 says: the nonce is its random prefix."""
    return nonce + f"deniable token\n{digest}".encode()


def modulus_of(issuer: str) -> int:
    """Returns the modulus of a definition's key."""
    return int.from_bytes(base64.urlsafe_b64decode(issuer + "=="), "big")


def issuer_of(modulus: int) -> str:
    """Returns a modulus as definitions have it."""
    return base64.urlsafe_b64encode(modulus.to_bytes(SIGNATURE_BYTES, "big")).rstrip(b"=").decode()
