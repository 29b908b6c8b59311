"""SQLite schema and its migrations, with sqlite-utils.

A released step never changes; changes are added as new steps.
"""

from __future__ import annotations

import sqlite3

from deniable_server.store.errors import UnavailableError
from deniable_server.store.sqlite.tools import Database, Migrations

_OF_SURVEY = "survey TEXT NOT NULL REFERENCES surveys (id)"
_OF_USER = "user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE"
_TABLES = (
    "CREATE TABLE surveys (id TEXT PRIMARY KEY, definition BLOB NOT NULL, is_open INTEGER NOT NULL, published_on TEXT NOT NULL)",
    # Random keys, so that rows have no order. label: the public group, empty without one; mode: an index of `parts.NUMBERS`.
    f"CREATE TABLE submissions (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, {_OF_SURVEY}, label TEXT NOT NULL, "
    "mode INTEGER NOT NULL, count INTEGER NOT NULL, reports BLOB NOT NULL)",
    f"CREATE TABLE tallies (key INTEGER PRIMARY KEY, {_OF_SURVEY}, label TEXT NOT NULL, mode INTEGER NOT NULL, n INTEGER NOT NULL, "
    "pairs BLOB NOT NULL, UNIQUE (survey, label, mode))",
    # Waiting submissions of each part of a survey, encrypted.
    f"CREATE TABLE intake (key INTEGER PRIMARY KEY, {_OF_SURVEY}, label TEXT NOT NULL, mode INTEGER NOT NULL, sealed BLOB NOT NULL, "
    "UNIQUE (survey, label, mode))",
    f"CREATE TABLE invitations ({_OF_SURVEY}, hash BLOB NOT NULL, spent INTEGER NOT NULL, PRIMARY KEY (survey, hash)) WITHOUT ROWID",
    "CREATE TABLE withdrawn (id BLOB PRIMARY KEY) WITHOUT ROWID",
    # Withdrawals of unknown submissions.
    "CREATE TABLE unmatched (survey TEXT PRIMARY KEY REFERENCES surveys (id), count INTEGER NOT NULL) WITHOUT ROWID",
    # Growth and settings of surveys.
    f"CREATE TABLE spans ({_OF_SURVEY}, since TEXT NOT NULL, until TEXT NOT NULL, n INTEGER NOT NULL, "
    "PRIMARY KEY (survey, since)) WITHOUT ROWID",
    "CREATE TABLE settings (survey TEXT PRIMARY KEY REFERENCES surveys (id), half_width REAL NOT NULL DEFAULT 0.1, expected INTEGER, "
    "least INTEGER NOT NULL DEFAULT 1, close_on TEXT, close_at INTEGER, archived INTEGER NOT NULL DEFAULT 0, delete_on TEXT, "
    "deleted_on TEXT) WITHOUT ROWID",
    "CREATE TABLE users (name TEXT PRIMARY KEY, password_hash TEXT NOT NULL, operator INTEGER NOT NULL DEFAULT 0, "
    "disabled INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID",
    f"CREATE TABLE sessions (hash BLOB PRIMARY KEY, {_OF_USER}, until INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE INDEX sessions_of_user ON sessions (user)",
    # scopes: words with a space between them.
    "CREATE TABLE keys (name TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, scopes TEXT NOT NULL, survey TEXT REFERENCES surveys (id), "
    "made_on TEXT NOT NULL) WITHOUT ROWID",
    f"CREATE TABLE roles ({_OF_SURVEY} ON DELETE CASCADE, {_OF_USER}, role INTEGER NOT NULL, PRIMARY KEY (survey, user)) WITHOUT ROWID",
    "CREATE INDEX roles_of_user ON roles (user)",
    # Account links: the SHA-256 of their tokens.
    "CREATE TABLE user_invitations (hash BLOB PRIMARY KEY, operator INTEGER NOT NULL, until INTEGER NOT NULL, made_by TEXT) WITHOUT ROWID",
    # TOTP secrets, encrypted. last: the time step of the latest used code.
    "CREATE TABLE second_factors (user TEXT PRIMARY KEY REFERENCES users (name) ON DELETE CASCADE, sealed BLOB NOT NULL, "
    "last INTEGER NOT NULL) WITHOUT ROWID",
    f"CREATE TABLE recovery_codes ({_OF_USER}, hash BLOB NOT NULL, PRIMARY KEY (user, hash)) WITHOUT ROWID",
    # challenged: the time of the last challenge that the passkey answered.
    f"CREATE TABLE passkeys (id BLOB PRIMARY KEY, {_OF_USER}, name TEXT NOT NULL, public_key BLOB NOT NULL, count INTEGER NOT NULL, "
    "challenged INTEGER NOT NULL, made_on TEXT NOT NULL) WITHOUT ROWID",
    # The audit log (`store.audit`); the number of entries, and the hash of the last one.
    "CREATE TABLE audit (number INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE audit_head (count INTEGER PRIMARY KEY, hash TEXT NOT NULL)",
    # Random ids, so that rows have no order. author: the name of an account that may be gone.
    "CREATE TABLE drafts (id TEXT PRIMARY KEY, author TEXT NOT NULL, text BLOB NOT NULL, changed_on TEXT NOT NULL) WITHOUT ROWID",
    f"CREATE TABLE webhooks (id TEXT PRIMARY KEY, {_OF_SURVEY}, url TEXT NOT NULL, events TEXT NOT NULL, made_on TEXT NOT NULL, "
    "failing_since TEXT, sealed BLOB NOT NULL, is_open INTEGER NOT NULL, reached INTEGER NOT NULL, n INTEGER NOT NULL) WITHOUT ROWID",
    # Messages to webhooks that were not delivered yet. due: Unix seconds.
    "CREATE TABLE messages (id TEXT PRIMARY KEY, webhook TEXT NOT NULL, body TEXT NOT NULL, tries INTEGER NOT NULL, "
    "due INTEGER NOT NULL) WITHOUT ROWID",
)

migrations = Migrations("deniable_server")


@migrations(name="0.1.0")
def first_release(db: Database) -> None:
    """Creates the tables of version 0.1.0."""
    for statement in _TABLES:
        db.execute(statement)


def migrate(connection: sqlite3.Connection) -> None:
    """Migrates a file to the newest version, all or nothing; processes that open it together do it once.

    Raises:
        UnavailableError: A newer server made the tables.
        sqlite3.Error: The file cannot be migrated; it stays as it was.
    """
    db = Database(connection)
    steps = {step.name for step in migrations.pending(Database(memory=True))}
    if newer := {step.name for step in migrations.applied(db)} - steps:
        raise UnavailableError(f"the tables must be of version {max(steps)} at most, got {max(newer)}: a newer server made them")
    if not migrations.pending(db):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        migrations.apply(db)
    except BaseException:
        connection.rollback()
        raise
    connection.execute("COMMIT")
