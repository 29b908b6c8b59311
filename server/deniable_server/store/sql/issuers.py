"""Issuers of tokens: the blind signing key of each survey by invitation, encrypted, and which tokens were used.

A survey's key is deleted when it closes, so it cannot be opened again. Used tokens are stored as keyed hashes; no row leads from a token to
its record or to a code.
"""

from __future__ import annotations

from deniable_server.store.blind_signing import SigningKey
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.encryption import Seal

_SPEND = "INSERT INTO spent_tokens (tag, survey) VALUES (?, ?) ON CONFLICT DO NOTHING"
RESTORE = "INSERT INTO spent_tokens (tag, survey) SELECT ?, ? WHERE EXISTS (SELECT 1 FROM issuers WHERE survey = ?) ON CONFLICT DO NOTHING"


def add(connection: Connection, seal: Seal, survey_id: str, key: SigningKey) -> None:
    """Stores the key of a new survey."""
    connection.execute("INSERT INTO issuers (survey, sealed) VALUES (?, ?)", [survey_id, seal.close(key.to_bytes(), _context(survey_id))])


def find(connection: Connection, seal: Seal, survey_id: str) -> SigningKey | None:
    """Returns the key of a survey; None if it has no key or it was deleted. Raises UnavailableError if the server's key is another one."""
    row = connection.execute("SELECT sealed FROM issuers WHERE survey = ?", [survey_id]).fetchone()
    return SigningKey.from_bytes(seal.open(bytes(row[0]), _context(survey_id))) if row else None


def retire(connection: Connection, survey_id: str) -> None:
    """Deletes the key of a survey that closes, and the list of its used tokens."""
    for table in ("issuers", "spent_tokens"):
        connection.execute(f"DELETE FROM {table} WHERE survey = ?", [survey_id])  # noqa: S608 - our own names


def spend(connection: Connection, seal: Seal, survey_id: str, nonce: bytes) -> bool:
    """Marks a token as used. Returns False if it was used before."""
    return bool(connection.execute(_SPEND, [seal.tag(f"token of {survey_id}", nonce), survey_id]).rowcount)


def _context(survey_id: str) -> str:
    return f"issuer of {survey_id}"
