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
    # What posts and lists need of a definition (`store.sql.compiled`): a function of it, as JSON.
    "CREATE TABLE compiled (survey TEXT PRIMARY KEY REFERENCES surveys (id), version INTEGER NOT NULL, digest TEXT NOT NULL, "
    "heading TEXT NOT NULL, rules TEXT NOT NULL, items TEXT NOT NULL)",
    # Random keys, so that rows have no order. label: the public group, empty without one; mode: an index of `parts.NUMBERS`.
    f"CREATE TABLE submissions (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, {_OF_SURVEY}, label TEXT NOT NULL, "
    "mode INTEGER NOT NULL, count INTEGER NOT NULL, reports BLOB NOT NULL)",
    f"CREATE TABLE tallies (key INTEGER PRIMARY KEY, {_OF_SURVEY}, label TEXT NOT NULL, mode INTEGER NOT NULL, n INTEGER NOT NULL, "
    "pairs BLOB NOT NULL, UNIQUE (survey, label, mode))",
    # Waiting submissions, encrypted. tag: a keyed hash of the submission's id; NULL for erased records that must leave the counts.
    # part: a keyed hash of the part of erased records; NULL for others.
    f"CREATE TABLE intake (key INTEGER PRIMARY KEY, tag BLOB UNIQUE, {_OF_SURVEY}, bulk INTEGER NOT NULL, part BLOB, sealed BLOB NOT NULL)",
    "CREATE INDEX intake_of_survey ON intake (survey, bulk)",
    "CREATE INDEX intake_erased ON intake (survey) WHERE part IS NOT NULL",
    # Codes that were exchanged for a token, or used by hand: keyed hashes of the codes' hashes, and of the blinded tokens (empty by hand).
    f"CREATE TABLE used_codes (tag BLOB PRIMARY KEY, {_OF_SURVEY}, blinded BLOB NOT NULL) WITHOUT ROWID",
    # The key of each survey by invitation, encrypted, until it closes; keyed hashes of the tokens that were used.
    "CREATE TABLE issuers (survey TEXT PRIMARY KEY REFERENCES surveys (id), sealed BLOB NOT NULL) WITHOUT ROWID",
    f"CREATE TABLE spent_tokens (tag BLOB PRIMARY KEY, {_OF_SURVEY}) WITHOUT ROWID",
    # Numbers of waiting records of people, and of withdrawn submissions. due: Unix seconds.
    "CREATE TABLE arrivals (survey TEXT PRIMARY KEY REFERENCES surveys (id), device INTEGER NOT NULL, by_hand INTEGER NOT NULL, "
    "withdrawn INTEGER NOT NULL, due INTEGER, released_on TEXT) WITHOUT ROWID",
    "CREATE INDEX arrivals_due ON arrivals (due)",
    f"CREATE TABLE invitations ({_OF_SURVEY}, hash BLOB NOT NULL, spent INTEGER NOT NULL, PRIMARY KEY (survey, hash)) WITHOUT ROWID",
    "CREATE TABLE withdrawn (id BLOB PRIMARY KEY) WITHOUT ROWID",
    # Withdrawals of unknown submissions.
    "CREATE TABLE unmatched (survey TEXT PRIMARY KEY REFERENCES surveys (id), count INTEGER NOT NULL) WITHOUT ROWID",
    # Quotas of groups: JSON, and the encrypted numbers of accepted records.
    "CREATE TABLE quotas (survey TEXT PRIMARY KEY REFERENCES surveys (id), most TEXT NOT NULL, sealed BLOB NOT NULL) WITHOUT ROWID",
    # Growth and settings of surveys.
    f"CREATE TABLE spans ({_OF_SURVEY}, since TEXT NOT NULL, until TEXT NOT NULL, n INTEGER NOT NULL, "
    "PRIMARY KEY (survey, since)) WITHOUT ROWID",
    "CREATE TABLE settings (survey TEXT PRIMARY KEY REFERENCES surveys (id), half_width REAL NOT NULL DEFAULT 0.1, expected INTEGER, "
    "least INTEGER NOT NULL DEFAULT 1, close_on TEXT, close_at INTEGER, archived INTEGER NOT NULL DEFAULT 0, delete_on TEXT, "
    "deleted_on TEXT, opens_at TEXT, closes_at TEXT, zone TEXT NOT NULL DEFAULT 'UTC') WITHOUT ROWID",
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
    # What accounts have removed from their pages for good.
    f"CREATE TABLE dismissed ({_OF_USER}, name TEXT NOT NULL, PRIMARY KEY (user, name)) WITHOUT ROWID",
    # Random ids, so that rows have no order. author: the name of an account that may be gone.
    "CREATE TABLE drafts (id TEXT PRIMARY KEY, author TEXT NOT NULL, text BLOB NOT NULL, changed_on TEXT NOT NULL) WITHOUT ROWID",
    # Earlier and later versions of drafts (`store.draft_history`).
    "CREATE TABLE draft_histories (draft TEXT PRIMARY KEY, steps BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE saved_questions (id TEXT PRIMARY KEY, author TEXT NOT NULL, text BLOB NOT NULL, saved_on TEXT NOT NULL) WITHOUT ROWID",
    f"CREATE TABLE webhooks (id TEXT PRIMARY KEY, {_OF_SURVEY}, url TEXT NOT NULL, events TEXT NOT NULL, made_on TEXT NOT NULL, "
    "failing_since TEXT, sealed BLOB NOT NULL, is_open INTEGER NOT NULL, reached INTEGER NOT NULL, n INTEGER NOT NULL) WITHOUT ROWID",
    # Messages to webhooks that were not delivered yet. due: Unix seconds.
    "CREATE TABLE messages (id TEXT PRIMARY KEY, webhook TEXT NOT NULL, body TEXT NOT NULL, tries INTEGER NOT NULL, "
    "due INTEGER NOT NULL) WITHOUT ROWID",
    # The survey file that a survey was published from, with its comments.
    "CREATE TABLE sources (survey TEXT PRIMARY KEY REFERENCES surveys (id), text BLOB NOT NULL) WITHOUT ROWID",
    # Random ids, so that rows have no order.
    "CREATE TABLE studies (id TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE waves (survey TEXT PRIMARY KEY REFERENCES surveys (id), study TEXT NOT NULL, number INTEGER NOT NULL, "
    "UNIQUE (study, number)) WITHOUT ROWID",
    # survey: the draft will be the next wave after it.
    "CREATE TABLE draft_waves (draft TEXT PRIMARY KEY, survey TEXT NOT NULL REFERENCES surveys (id)) WITHOUT ROWID",
    f"CREATE TABLE tags ({_OF_SURVEY}, tag TEXT NOT NULL, PRIMARY KEY (survey, tag)) WITHOUT ROWID",
    "CREATE INDEX surveys_of_tag ON tags (tag)",
    "CREATE TABLE draft_tags (draft TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (draft, tag)) WITHOUT ROWID",
    # Accounts at a provider of single sign-on: the issuer's URL, and the subject, which is unique at that issuer.
    f"CREATE TABLE identities (issuer TEXT NOT NULL, subject TEXT NOT NULL, {_OF_USER}, bound_on TEXT NOT NULL, "
    "PRIMARY KEY (issuer, subject)) WITHOUT ROWID",
    "CREATE INDEX identities_of_user ON identities (user)",
    # No table refers to teams or drafts: a rewrite of PostgreSQL deletes and inserts their rows, and both databases have the same tables.
    "CREATE TABLE teams (name TEXT PRIMARY KEY) WITHOUT ROWID",
    f"CREATE TABLE team_members (team TEXT NOT NULL, {_OF_USER}, manager INTEGER NOT NULL, PRIMARY KEY (team, user)) WITHOUT ROWID",
    "CREATE INDEX team_members_of_user ON team_members (user)",
    f"CREATE TABLE team_roles ({_OF_SURVEY} ON DELETE CASCADE, team TEXT NOT NULL, role INTEGER NOT NULL, "
    "PRIMARY KEY (survey, team)) WITHOUT ROWID",
    f"CREATE TABLE draft_roles (draft TEXT NOT NULL, {_OF_USER}, role INTEGER NOT NULL, PRIMARY KEY (draft, user)) WITHOUT ROWID",
    "CREATE TABLE draft_team_roles (draft TEXT NOT NULL, team TEXT NOT NULL, role INTEGER NOT NULL, "
    "PRIMARY KEY (draft, team)) WITHOUT ROWID",
    # A row marks a database that was moved, or is the unfinished copy of a move (`store.sql.move_marks`).
    "CREATE TABLE move_marks (id TEXT PRIMARY KEY, state TEXT NOT NULL, other TEXT NOT NULL) WITHOUT ROWID",
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
