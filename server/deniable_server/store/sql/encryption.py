"""Encryption of waiting submissions with the server's key: without the key, the file reveals nothing about them.

The key is derived from the server's key, for this purpose alone (BLAKE2b with a personalisation). Nonces are random and 24 bytes
long, so none is used twice (XChaCha20-Poly1305, of libsodium).
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from nacl.exceptions import CryptoError
from nacl.secret import Aead

from deniable_server.config import make_key
from deniable_server.store.errors import UnavailableError


class Seal:
    """Authenticated encryption with a key derived from `secret`, the server's key."""

    def __init__(self, secret: str) -> None:
        self._box = Aead(blake2b(secret.encode(), digest_size=32, person=b"deniable intake").digest())
        self._tag_key = blake2b(secret.encode(), digest_size=32, person=b"deniable tags").digest()

    @classmethod
    def of(cls, key: Path) -> Seal:
        """Returns the encryption for the key in this file, which is created if it is missing."""
        make_key(key)
        return cls(key.read_text().strip())

    def close(self, content: bytes, context: str) -> bytes:
        """Encrypts content and binds it to a context, such as a row of the database; the result is different each time."""
        return bytes(self._box.encrypt(content, context.encode()))

    def tag(self, context: str, content: bytes) -> bytes:
        """Returns a keyed hash of content in a context, 16 bytes: the same each time, and random to readers without the key."""
        return blake2b(b"%d %s %s" % (len(context), context.encode(), content), key=self._tag_key, digest_size=16).digest()

    def open(self, sealed: bytes, context: str) -> bytes:
        """Decrypts content. Raises UnavailableError if it was encrypted for another context or with another key."""
        try:
            return bytes(self._box.decrypt(sealed, context.encode()))
        except (CryptoError, ValueError, TypeError):
            raise UnavailableError(
                "waiting submissions cannot be decrypted: the key file beside the database must be the one that it was written with"
            ) from None
