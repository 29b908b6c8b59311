"""What waits to be counted is sealed with the server's key: a file without the key says nothing about it.

The key comes from the one beside the database, for this purpose alone (BLAKE2b with a personalisation). A nonce is random and 24 bytes
long, so none comes twice (XChaCha20-Poly1305, of libsodium).
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from nacl.exceptions import CryptoError
from nacl.secret import Aead

from deniable_server.config import make_key
from deniable_server.store.errors import UnavailableError


class Seal:
    """Seals and opens with a key made of `secret`, the server's."""

    def __init__(self, secret: str) -> None:
        self._box = Aead(blake2b(secret.encode(), digest_size=32, person=b"deniable intake").digest())

    @classmethod
    def of(cls, key: Path) -> Seal:
        """The seal of the server whose key is in this file, which is made if it is not there."""
        make_key(key)
        return cls(key.read_text().strip())

    def close(self, content: bytes, place: str) -> bytes:
        """Sealed, and bound to its place; never twice the same bytes."""
        return bytes(self._box.encrypt(content, place.encode()))

    def open(self, sealed: bytes, place: str) -> bytes:
        """What was sealed for this place. Raises UnavailableError where it was not, or with another key."""
        try:
            return bytes(self._box.decrypt(sealed, place.encode()))
        except (CryptoError, ValueError, TypeError):
            raise UnavailableError(
                "what waits to be counted cannot be opened: the key file beside the database must be the one that it was written with"
            ) from None
