"""Blind RSA signatures (RFC 9474, RSABSSA-SHA384-PSS-Randomized): the client's side, and verification.

A signer signs a blinded message without seeing it; the client removes the blinding and has a signature on its own message. Every blinded
message fits every signature, so a signer that keeps both cannot match them. That holds for any modulus, even one that was made to deceive,
as long as the client uses only signatures that verify.

Randomness comes from the caller. Computing takes a time that depends on secrets, so never compute where others measure each step.
"""

from __future__ import annotations

import hashlib
import math

EXPONENT = 65537
HASH_BYTES = 48
"""Bytes of a SHA-384 hash, and of the salt."""
PREFIX_BYTES = 32
"""Random bytes before each message."""


class BlindSignatureError(Exception):
    """A signature does not verify, or a message cannot be blinded with these random values."""


def blind(modulus: int, message: bytes, salt: bytes, factor: int) -> tuple[bytes, bytes]:
    """Returns a message that is blinded for the signer (RFC 9474, Blind).

    Args:
        modulus: The signer's public modulus; the exponent is EXPONENT.
        message: The prepared message: PREFIX_BYTES random bytes, then the text to sign.
        salt: HASH_BYTES random bytes.
        factor: A random whole number from 1 to below the modulus, uniform.

    Returns:
        The blinded message, and the inverse of the factor, which `finalize` needs.

    Raises:
        BlindSignatureError: The message or the factor has a divisor in common with the modulus.
    """
    encoded = int.from_bytes(_encode(message, salt, modulus.bit_length() - 1), "big")
    if math.gcd(encoded, modulus) != 1 or math.gcd(factor, modulus) != 1:
        raise BlindSignatureError("message and factor must have no divisor in common with the modulus")
    blinded = encoded * pow(factor, EXPONENT, modulus) % modulus
    return _to_bytes(blinded, modulus), _to_bytes(pow(factor, -1, modulus), modulus)


def finalize(modulus: int, message: bytes, signature: bytes, inverse: bytes) -> bytes:
    """Removes the blinding from a signature (RFC 9474, Finalize). Raises BlindSignatureError unless the result verifies."""
    if len(signature) == len(inverse) == size_of(modulus):
        product = int.from_bytes(signature, "big") * int.from_bytes(inverse, "big") % modulus
        unblinded = _to_bytes(product, modulus)
        if verify(modulus, message, unblinded):
            return unblinded
    raise BlindSignatureError("the blind signature must be a signature with the survey's key, got another value")


def verify(modulus: int, message: bytes, signature: bytes) -> bool:
    """Returns whether a signature on a prepared message is valid (RFC 8017, RSASSA-PSS-VERIFY)."""
    number = int.from_bytes(signature, "big")
    if len(signature) != size_of(modulus) or number >= modulus:
        return False
    bits = modulus.bit_length() - 1
    size = -(-bits // 8)
    encoded = pow(number, EXPONENT, modulus)
    if encoded.bit_length() > bits:
        return False
    masked = encoded.to_bytes(size, "big")
    salt = _unmask(masked, bits)[-HASH_BYTES:]
    return _encode(message, salt, bits) == masked


def size_of(modulus: int) -> int:
    """Returns the bytes of a modulus, and of every signature with it."""
    return -(-modulus.bit_length() // 8)


def _encode(message: bytes, salt: bytes, bits: int) -> bytes:
    """Returns EMSA-PSS-ENCODE(message, bits) of RFC 8017, section 9.1.1."""
    size = -(-bits // 8)
    hashed = _hash(bytes(8) + _hash(message) + salt)
    block = (b"\x01" + salt).rjust(size - HASH_BYTES - 1, b"\x00")
    return _masked(block, hashed, bits) + hashed + b"\xbc"


def _unmask(encoded: bytes, bits: int) -> bytes:
    """Returns the block with the salt of an encoded message."""
    return _masked(encoded[: -HASH_BYTES - 1], encoded[-HASH_BYTES - 1 : -1], bits)


def _masked(block: bytes, hashed: bytes, bits: int) -> bytes:
    """Returns a block combined with the mask of a hash (MGF1), without the bits above `bits`."""
    counters = range(-(-len(block) // HASH_BYTES))
    mask = b"".join(_hash(hashed + counter.to_bytes(4, "big")) for counter in counters)[: len(block)]
    combined = bytearray(a ^ b for a, b in zip(block, mask, strict=True))
    combined[0] &= 0xFF >> -bits % 8
    return bytes(combined)


def _hash(content: bytes) -> bytes:
    return hashlib.sha384(content).digest()


def _to_bytes(number: int, modulus: int) -> bytes:
    return number.to_bytes(size_of(modulus), "big")
