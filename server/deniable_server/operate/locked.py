"""Password-locked backups: database and key in one encrypted file, which can be stored anywhere.

A header, then the key and the database in pieces, each encrypted and bound to its position by libsodium's secretstream
(XChaCha20-Poly1305), with a key that argon2id derives from the password. A file that was cut, changed or spliced is refused.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import IO

from nacl import bindings as sodium
from nacl.exceptions import CryptoError
from nacl.pwhash import argon2id

MAGIC = b"deniable backup 1\n"
_KEY_BYTES, _PIECE = 256, 1 << 20  # of the server's key, padded with blanks, and of a piece of the database
_MORE, _LAST = sodium.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE, sodium.crypto_secretstream_xchacha20poly1305_TAG_FINAL
_MAC = sodium.crypto_secretstream_xchacha20poly1305_ABYTES
_REFUSED = "the password must be the one that the backup was locked with, and the file whole"


def is_locked(path: Path) -> bool:
    """Returns whether a file is a locked backup. Raises OSError as `open` does."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def lock(db: Path, key: Path, password: str, target: Path) -> None:
    """Encrypts a database and its key to a new file. Raises FileExistsError and OSError; no file is left then."""
    salt, state = secrets.token_bytes(argon2id.SALTBYTES), sodium.crypto_secretstream_xchacha20poly1305_state()
    header = sodium.crypto_secretstream_xchacha20poly1305_init_push(state, _derived(password, salt))
    with db.open("rb") as database, new_file(target) as file:
        try:
            file.write(MAGIC + salt + header)
            file.write(sodium.crypto_secretstream_xchacha20poly1305_push(state, key.read_bytes().ljust(_KEY_BYTES), MAGIC, _MORE))
            piece = database.read(_PIECE)
            while piece:
                following = database.read(_PIECE)
                tag = _MORE if following else _LAST
                file.write(sodium.crypto_secretstream_xchacha20poly1305_push(state, piece, MAGIC, tag))
                piece = following
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            target.unlink()
            raise


def unlock(path: Path, password: str, db: Path, key: Path) -> None:
    """Decrypts a locked backup to two new files.

    Raises:
        ValueError: The password is wrong, or the file is incomplete or was changed.
        FileExistsError, OSError: The files cannot be created.
    """
    with path.open("rb") as file, new_file(db) as database, new_file(key) as secret:
        file.seek(len(MAGIC))
        salt, header = file.read(argon2id.SALTBYTES), file.read(sodium.crypto_secretstream_xchacha20poly1305_HEADERBYTES)
        state = sodium.crypto_secretstream_xchacha20poly1305_state()
        try:
            sodium.crypto_secretstream_xchacha20poly1305_init_pull(state, header, _derived(password, salt))
            content, tag = sodium.crypto_secretstream_xchacha20poly1305_pull(state, file.read(_KEY_BYTES + _MAC), MAGIC)
            secret.write(content.rstrip() + b"\n")
            while tag != _LAST:
                content, tag = sodium.crypto_secretstream_xchacha20poly1305_pull(state, file.read(_PIECE + _MAC), MAGIC)
                database.write(content)
        except (CryptoError, ValueError, TypeError, RuntimeError):  # libsodium's wrapper raises all of these for short or forged input
            raise ValueError(_REFUSED) from None
        if file.read(1):
            raise ValueError(_REFUSED)


def new_file(path: Path) -> IO[bytes]:
    """Creates a new file, readable by its owner only. Raises FileExistsError, and OSError as `open` does."""
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")


def _derived(password: str, salt: bytes) -> bytes:
    size = sodium.crypto_secretstream_xchacha20poly1305_KEYBYTES
    return bytes(argon2id.kdf(size, password.encode(), salt, argon2id.OPSLIMIT_MODERATE, argon2id.MEMLIMIT_MODERATE))
