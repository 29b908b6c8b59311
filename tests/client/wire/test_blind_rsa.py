"""Blind RSA signatures: the RFC's vectors and an independent implementation's, a blinding that hides, and what is refused."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA384

from deniable.wire import blind_rsa
from deniable.wire.blind_rsa import BlindSignatureError

Vectors = Callable[[str], list[dict[str, Any]]]
PSS = padding.PSS(padding.MGF1(SHA384()), blind_rsa.HASH_BYTES)


def number(text: str) -> int:
    return int(text, 16)


def values(case: dict[str, Any], *names: str) -> list[bytes]:
    return [bytes.fromhex(case[name]) for name in names]


def is_finalized(case: dict[str, Any]) -> bool:
    message, signed, inverse, signature = values(case, "message", "blind_signature", "inverse", "signature")
    try:
        return blind_rsa.finalize(number(case["modulus"]), message, signed, inverse) == signature
    except BlindSignatureError:
        return False


def test_the_vectors_are_those_of_the_rfc_and_of_another_implementation_good_and_bad(vectors: Vectors) -> None:
    cases = vectors("blind_rsa")
    assert [case["name"] for case in cases if case["name"].startswith("RFC")] == [
        f"RFC 9474, RSABSSA-SHA384-{encoding}-{kind}" for kind in ("Randomized", "Deterministic") for encoding in ("PSS", "PSSZERO")
    ]
    assert (len(cases), sum(case["valid"] for case in cases)) == (48, 26)


def test_every_message_is_blinded_as_in_the_vectors(vectors: Vectors) -> None:
    for case in vectors("blind_rsa"):
        modulus, (message, salt, inverse, blinded) = number(case["modulus"]), values(case, "message", "salt", "inverse", "blinded")
        factor = pow(int.from_bytes(inverse, "big"), -1, modulus)
        assert blind_rsa.blind(modulus, message, salt, factor) == (blinded, inverse), case["name"]


def test_every_signature_is_finalized_or_refused_as_in_the_vectors(vectors: Vectors) -> None:
    assert [case["name"] for case in vectors("blind_rsa") if is_finalized(case) != case["valid"]] == []


def test_every_signature_is_verified_or_refused_as_in_the_vectors(vectors: Vectors) -> None:
    for case in vectors("blind_rsa"):
        message, signature = values(case, "message", "signature")
        modulus = number(case["modulus"])
        assert blind_rsa.verify(modulus, message, signature) == case["valid"], case["name"]
        assert not blind_rsa.verify(modulus, message + b"x", signature)


def test_the_control_a_wrong_byte_anywhere_in_a_signature_is_refused(vectors: Vectors) -> None:
    case = next(case for case in vectors("blind_rsa") if case["name"] == "key 0, message 0")
    message, signature = values(case, "message", "signature")
    changed = [signature[:at] + bytes([signature[at] ^ 1]) + signature[at + 1 :] for at in range(len(signature))]
    assert not any(blind_rsa.verify(number(case["modulus"]), message, each) for each in changed)


def test_what_openssl_signs_is_valid_here_and_the_other_way_round() -> None:
    key = rsa.generate_private_key(65537, 2048)
    numbers = key.private_numbers()
    modulus, message = numbers.public_numbers.n, secrets.token_bytes(70)
    assert blind_rsa.verify(modulus, message, key.sign(message, PSS, SHA384()))
    for salt_bytes in (0, 32, 49):
        other = padding.PSS(padding.MGF1(SHA384()), salt_bytes)
        assert not blind_rsa.verify(modulus, message, key.sign(message, other, SHA384())), "another length of the salt"
    blinded, inverse = blind_rsa.blind(modulus, message, secrets.token_bytes(48), secrets.randbelow(modulus - 1) + 1)
    signed = pow(int.from_bytes(blinded, "big"), numbers.d, modulus).to_bytes(256, "big")
    key.public_key().verify(blind_rsa.finalize(modulus, message, signed, inverse), message, PSS, SHA384())


def toy(p: int, q: int) -> tuple[int, int]:
    """A modulus too small for any hash, and its private exponent."""
    return p * q, pow(blind_rsa.EXPONENT, -1, (p - 1) * (q - 1))


def test_every_blinded_message_fits_every_signature_equally_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """All factors of a toy modulus: whatever the message, each unit is its blinded message for exactly one of them."""
    modulus, _ = toy(11, 17)
    seen = []
    for encoded in (2, 3, 100):
        monkeypatch.setattr(blind_rsa, "_encode", lambda *_, encoded=encoded: bytes([encoded]))
        units = [factor for factor in range(1, modulus) if factor % 11 and factor % 17]
        seen.append(sorted(blind_rsa.blind(modulus, b"", b"", factor)[0] for factor in units))
        assert len(set(seen[-1])) == len(units) == 160
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize(("encoded", "factor"), [(22, 2), (2, 34), (0, 2), (2, 0)])
def test_what_has_a_divisor_in_common_with_the_modulus_is_not_blinded(encoded: int, factor: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blind_rsa, "_encode", lambda *_: bytes([encoded]))
    with pytest.raises(BlindSignatureError):
        blind_rsa.blind(11 * 17, b"", b"", factor)
