"""A device with a passkey, in Python, that also does what no honest device does."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass, field

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, WITH_KEY = 1, 4, 64  # flags of WebAuthn, section 6.1


def text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@dataclass
class Device:
    """Each is one key pair for one site. origin: of the page on which it is asked; count: of its uses."""

    origin: str
    count: int = 0
    flags: int = PRESENT | VERIFIED
    id: bytes = field(default_factory=lambda: os.urandom(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def make(self, options: str) -> str:
        """The answer to creation options, as browsers give it."""
        asked = json.loads(options)
        numbers = self.key.public_key().public_numbers()
        cose = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")})
        of_key = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cose
        data = self._data(asked["rp"]["id"], self.flags | WITH_KEY) + of_key
        attested = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._answer({"clientDataJSON": self._client("create", asked), "attestationObject": attested})

    def answer(self, options: str) -> str:
        """The answer to request options."""
        asked = json.loads(options)
        self.count += 1
        data, client = self._data(asked["rpId"], self.flags), self._client("get", asked)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        return self._answer({"clientDataJSON": client, "authenticatorData": data, "signature": signature})

    def _data(self, site: str, flags: int) -> bytes:
        return hashlib.sha256(site.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client(self, kind: str, asked: dict[str, str]) -> bytes:
        return json.dumps({"type": f"webauthn.{kind}", "challenge": asked["challenge"], "origin": self.origin}).encode()

    def _answer(self, response: dict[str, bytes]) -> str:
        written = {name: text(raw) for name, raw in response.items()}
        return json.dumps({"id": text(self.id), "rawId": text(self.id), "type": "public-key", "response": written})
