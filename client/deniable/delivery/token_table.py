"""Tokens in the outbox, from the moment they are drawn until a submission has them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from deniable.privacy.private_files import PrivateDatabase
from deniable.wire.tokens import BlindedToken, Token

TABLES = (
    # code: until the token is signed; inverse, too. Then signature is what the server has signed, without its blinding.
    """CREATE TABLE token (
    url TEXT NOT NULL, hash BLOB NOT NULL, code BLOB, digest TEXT NOT NULL, issuer TEXT NOT NULL,
    nonce BLOB NOT NULL, blinded BLOB NOT NULL, inverse BLOB NOT NULL, signature BLOB, PRIMARY KEY (url, hash)
) WITHOUT ROWID""",
    "ALTER TABLE submission ADD COLUMN nonce BLOB",
    "ALTER TABLE submission ADD COLUMN signature BLOB",
)
"""The statements that add tokens to an outbox."""


@dataclass(frozen=True)
class StoredToken:
    """A token of the outbox: as it was drawn, and signed, if it is."""

    blinded: BlindedToken
    token: Token | None


class TokenTable:
    """The tokens of an outbox."""

    def __init__(self, file: PrivateDatabase) -> None:
        self._file = file

    def add(self, url: str, code_hash: bytes, code: bytes, blinded: BlindedToken) -> None:
        """Stores the new token of a code, unless another process was faster."""
        row = [url, code_hash, code, blinded.survey, blinded.issuer, blinded.nonce, blinded.blinded, blinded.inverse]
        with self._file.transaction() as db:
            db.execute("INSERT OR IGNORE INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)", row)

    def find(self, url: str, code_hash: bytes) -> StoredToken | None:
        """Returns the token of a code for the server at `url`, or None."""
        with self._file.transaction() as db:
            query = "SELECT digest, issuer, nonce, blinded, inverse, signature FROM token WHERE url = ? AND hash = ?"
            row = db.execute(query, [url, code_hash]).fetchone()
        if row is None:
            return None
        *values, signature = row
        blinded = BlindedToken(*values)
        return StoredToken(blinded, None if signature is None else Token(blinded.nonce, signature))

    def sign(self, url: str, code_hash: bytes, token: Token) -> None:
        """Stores a signed token, and erases its code and what blinded it."""
        change = "UPDATE token SET signature = ?, code = NULL, blinded = x'', inverse = x'' WHERE url = ? AND hash = ?"
        with self._file.transaction() as db:
            db.execute(change, [token.signature, url, code_hash])

    def put_in(self, submission_id: bytes, token: Token) -> None:
        """Replaces the code of a submission by its token."""
        change = "UPDATE submission SET invitation = NULL, nonce = ?, signature = ? WHERE id = ?"
        with self._file.transaction() as db:
            db.execute(change, [token.nonce, token.signature, submission_id])
            forget(db, token)


def forget(db: sqlite3.Connection, token: Token) -> None:
    """Erases a token that a submission has now, in a transaction."""
    db.execute("DELETE FROM token WHERE nonce = ?", [token.nonce])
