"""Blind signing keys (RFC 9474): the server signs a token that it cannot see, once for each invitation code."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA384

from deniable.survey.compiled import SurveyRules
from deniable.wire.blind_rsa import EXPONENT, HASH_BYTES
from deniable.wire.tokens import SIGNATURE_BYTES, Token, issuer_of, modulus_of, token_message

_PSS = padding.PSS(padding.MGF1(SHA384()), HASH_BYTES)


@dataclass(frozen=True)
class SigningKey:
    """A private RSA key of 2,048 bits, as its two primes."""

    p: int = field(repr=False)
    q: int = field(repr=False)

    @classmethod
    def generate(cls) -> SigningKey:
        """Generates a key."""
        numbers = rsa.generate_private_key(EXPONENT, 8 * SIGNATURE_BYTES).private_numbers()
        return cls(numbers.p, numbers.q)

    @classmethod
    def from_bytes(cls, raw: bytes) -> SigningKey:
        """Parses a key that `to_bytes` returned."""
        half = len(raw) // 2
        return cls(int.from_bytes(raw[:half], "big"), int.from_bytes(raw[half:], "big"))

    def to_bytes(self) -> bytes:
        """Returns the primes, one after the other."""
        return b"".join(prime.to_bytes(SIGNATURE_BYTES // 2, "big") for prime in (self.p, self.q))

    @property
    def issuer(self) -> str:
        """The public key, as definitions have it."""
        return issuer_of(self.p * self.q)

    def sign(self, blinded: bytes) -> bytes:
        """Returns the signature on a blinded message (RFC 9474, BlindSign).

        The message is blinded once more while it is computed with the private key, so that the time it takes says nothing about the key.

        Raises:
            ValueError: The message is not below the modulus, or has a divisor in common with it.
            ArithmeticError: The result is not a signature, which could reveal the key: memory or processor fail.
        """
        modulus, message = self.p * self.q, int.from_bytes(blinded, "big")
        if len(blinded) != SIGNATURE_BYTES or not 0 < message < modulus:
            raise ValueError("blinded must be a number from 1 to below the modulus of the survey's key")
        factor = secrets.randbelow(modulus - 1) + 1
        signature = self._power(message * pow(factor, EXPONENT, modulus) % modulus) * pow(factor, -1, modulus) % modulus
        if pow(signature, EXPONENT, modulus) != message:
            raise ArithmeticError("a signature must verify, got another number")
        return signature.to_bytes(SIGNATURE_BYTES, "big")

    def _power(self, message: int) -> int:
        """Returns the message to the private exponent, by the Chinese remainder theorem."""
        at_p, at_q = (pow(message % prime, pow(EXPONENT, -1, prime - 1), prime) for prime in (self.p, self.q))
        return at_q + self.q * ((at_p - at_q) * pow(self.q, -1, self.p) % self.p)


def is_signed(survey: SurveyRules, token: Token) -> bool:
    """Returns whether a token has a signature by the survey's key."""
    try:
        _public_key(survey.issuer).verify(token.signature, token_message(survey.digest, token.nonce), _PSS, SHA384())
    except InvalidSignature:
        return False
    return True


@lru_cache(maxsize=256)
def _public_key(issuer: str) -> rsa.RSAPublicKey:
    return rsa.RSAPublicNumbers(EXPONENT, modulus_of(issuer)).public_key()
