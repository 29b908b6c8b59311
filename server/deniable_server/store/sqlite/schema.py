"""The tables of the SQLite store, and how a file of an older version gets them: sqlite-utils' migrations.

A migration that has been released never changes; what is new goes into another one.
"""

from __future__ import annotations

import secrets
import sqlite3

from deniable_server.store.sql import tallies
from deniable_server.store.sql.parts import part
from deniable_server.store.sql.published import find
from deniable_server.store.sqlite.tools import Database, Migrations

migrations = Migrations("deniable_server")


@migrations()
def first(db: Database) -> None:
    """Creates tables of surveys, submissions, untallied submissions, tallies and users."""
    for statement in (
        "CREATE TABLE surveys (id TEXT PRIMARY KEY, definition BLOB NOT NULL, is_open INTEGER NOT NULL, published_on TEXT NOT NULL)",
        "CREATE TABLE submissions (id BLOB PRIMARY KEY, survey TEXT NOT NULL REFERENCES surveys (id), "
        "count INTEGER NOT NULL, reports BLOB NOT NULL) WITHOUT ROWID",
        "CREATE TABLE untallied (survey TEXT NOT NULL, id BLOB NOT NULL, PRIMARY KEY (survey, id)) WITHOUT ROWID",
        "CREATE TABLE tallies (survey TEXT PRIMARY KEY REFERENCES surveys (id), n INTEGER NOT NULL, pairs BLOB NOT NULL) WITHOUT ROWID",
        "CREATE TABLE users (name TEXT PRIMARY KEY, password_hash TEXT NOT NULL) WITHOUT ROWID",
    ):
        db.execute(statement)


@migrations()
def second(db: Database) -> None:
    """Adds public groups and records made by hand, counted separately; invitations; and withdrawn ids.

    `label` is the public group, empty if the survey has none. `unmatched` counts withdrawals of unknown submissions.
    """
    for statement in (
        "ALTER TABLE submissions ADD COLUMN label TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE submissions ADD COLUMN by_hand INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE tallies RENAME TO tallies_of_surveys",
        "CREATE TABLE tallies (survey TEXT NOT NULL REFERENCES surveys (id), label TEXT NOT NULL, by_hand INTEGER NOT NULL, "
        "n INTEGER NOT NULL, pairs BLOB NOT NULL, PRIMARY KEY (survey, label, by_hand)) WITHOUT ROWID",
        "INSERT INTO tallies SELECT survey, '', 0, n, pairs FROM tallies_of_surveys WHERE n > 0",
        "DROP TABLE tallies_of_surveys",
        "CREATE TABLE invitations (survey TEXT NOT NULL REFERENCES surveys (id), hash BLOB NOT NULL, spent INTEGER NOT NULL, "
        "PRIMARY KEY (survey, hash)) WITHOUT ROWID",
        "CREATE TABLE withdrawn (id BLOB PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE unmatched (survey TEXT PRIMARY KEY REFERENCES surveys (id), count INTEGER NOT NULL) WITHOUT ROWID",
    ):
        db.execute(statement)


@migrations()
def third(db: Database) -> None:
    """Adds the intake, and stores submissions under random keys, their large bytes separate from the index of ids.

    `sealed` is what a part of a survey has received and not counted yet. `key` is random, so that rows have no order.
    """
    rows = [(secrets.randbits(63), *row) for row in db.execute("SELECT id FROM submissions").fetchall()]
    for statement in (
        "ALTER TABLE submissions RENAME TO submissions_by_id",
        "CREATE TABLE submissions (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, survey TEXT NOT NULL REFERENCES surveys (id), "
        "label TEXT NOT NULL, by_hand INTEGER NOT NULL, count INTEGER NOT NULL, reports BLOB NOT NULL)",
        "DROP TABLE untallied",
        "DROP TABLE tallies",
        "CREATE TABLE tallies (key INTEGER PRIMARY KEY, survey TEXT NOT NULL REFERENCES surveys (id), label TEXT NOT NULL, "
        "by_hand INTEGER NOT NULL, n INTEGER NOT NULL, pairs BLOB NOT NULL, UNIQUE (survey, label, by_hand))",
        "CREATE TABLE intake (key INTEGER PRIMARY KEY, survey TEXT NOT NULL REFERENCES surveys (id), label TEXT NOT NULL, "
        "by_hand INTEGER NOT NULL, sealed BLOB NOT NULL, UNIQUE (survey, label, by_hand))",
    ):
        db.execute(statement)
    move = "INSERT INTO submissions SELECT ?, id, survey, label, by_hand, count, reports FROM submissions_by_id WHERE id = ?"
    for pair in sorted(rows):
        db.execute(move, pair)
    db.execute("DROP TABLE submissions_by_id")


@migrations()
def fourth(db: Database) -> None:
    """Replaces by_hand by the mode as a number (`parts.NUMBERS`), and adds missing tallies."""
    for table in ("submissions", "tallies", "intake"):
        db.execute(f"ALTER TABLE {table} RENAME COLUMN by_hand TO mode")
    query = "SELECT DISTINCT survey, label, mode FROM submissions EXCEPT SELECT survey, label, mode FROM tallies"
    for name, label, mode in db.execute(query).fetchall():
        tallies.count_again(db.conn, find(db.conn, name).survey, part(label, mode))


accounts = Migrations("deniable_server_accounts")  # after those of the store, which made the table of users


@accounts(name="first")
def sessions_and_keys(db: Database) -> None:
    """Creates tables of sessions and API keys. Removing an account ends its sessions; scopes are words separated by spaces."""
    for statement in (
        "CREATE TABLE sessions (hash BLOB PRIMARY KEY, user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE, "
        "until INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE INDEX sessions_of_user ON sessions (user)",
        "CREATE TABLE keys (name TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, scopes TEXT NOT NULL, survey TEXT REFERENCES surveys (id), "
        "made_on TEXT NOT NULL) WITHOUT ROWID",
    ):
        db.execute(statement)


people = Migrations("deniable_server_people")  # after those of accounts and surveys


_PASSKEYS = (
    "CREATE TABLE IF NOT EXISTS passkeys (id BLOB PRIMARY KEY, user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE, "
    "name TEXT NOT NULL, public_key BLOB NOT NULL, count INTEGER NOT NULL, challenged INTEGER NOT NULL, made_on TEXT NOT NULL) "
    "WITHOUT ROWID"
)


@people(name="first")
def operators_and_roles(db: Database) -> None:
    """Adds operators, and roles in surveys (`Role`). Existing accounts keep all rights, which every account had before."""
    for statement in (
        "ALTER TABLE users ADD COLUMN operator INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE users ADD COLUMN disabled INTEGER NOT NULL DEFAULT 0",
        "CREATE TABLE roles (survey TEXT NOT NULL REFERENCES surveys (id) ON DELETE CASCADE, "
        "user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE, role INTEGER NOT NULL, PRIMARY KEY (survey, user)) WITHOUT ROWID",
        "CREATE INDEX roles_of_user ON roles (user)",
        "UPDATE users SET operator = 1",
        "INSERT INTO roles SELECT surveys.id, users.name, 4 FROM surveys, users",
    ):
        db.execute(statement)


@people(name="second")
def links_that_make_accounts(db: Database) -> None:
    """Creates the table of account links, with the SHA-256 of each token."""
    columns = "hash BLOB PRIMARY KEY, operator INTEGER NOT NULL, until INTEGER NOT NULL, made_by TEXT"
    db.execute(f"CREATE TABLE user_invitations ({columns}) WITHOUT ROWID")


@people(name="third")
def second_factors(db: Database) -> None:
    """Creates tables of encrypted TOTP secrets, recovery codes' hashes, and passkeys.

    `last` is the time step of the latest used code; `challenged` is the time of the challenge that a passkey answered last.
    """
    owner = "REFERENCES users (name) ON DELETE CASCADE"
    for statement in (
        f"CREATE TABLE second_factors (user TEXT PRIMARY KEY {owner}, sealed BLOB NOT NULL, last INTEGER NOT NULL) WITHOUT ROWID",
        f"CREATE TABLE recovery_codes (user TEXT NOT NULL {owner}, hash BLOB NOT NULL, PRIMARY KEY (user, hash)) WITHOUT ROWID",
        _PASSKEYS,
    ):
        db.execute(statement)


@people(name="fourth")
def audit_log(db: Database) -> None:
    """Creates the audit log (`store.audit`), and its number of entries and last hash."""
    db.execute("CREATE TABLE audit (number INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL)")
    db.execute("CREATE TABLE audit_head (count INTEGER PRIMARY KEY, hash TEXT NOT NULL)")


@people(name="fifth")
def passkeys_of_early_files(db: Database) -> None:
    """Creates the table of passkeys in files for which an early third step did not."""
    db.execute(_PASSKEYS)


life = Migrations("deniable_server_life")


@life(name="first")
def spans_and_settings(db: Database) -> None:
    """Creates tables of spans and settings. Existing records become one span if there are enough (life.LEAST)."""
    for statement in (
        "CREATE TABLE spans (survey TEXT NOT NULL REFERENCES surveys (id), since TEXT NOT NULL, until TEXT NOT NULL, n INTEGER NOT NULL, "
        "PRIMARY KEY (survey, since)) WITHOUT ROWID",
        "CREATE TABLE settings (survey TEXT PRIMARY KEY REFERENCES surveys (id), half_width REAL NOT NULL DEFAULT 0.1, expected INTEGER, "
        "least INTEGER NOT NULL DEFAULT 1, close_on TEXT, close_at INTEGER, archived INTEGER NOT NULL DEFAULT 0, delete_on TEXT, "
        "deleted_on TEXT) WITHOUT ROWID",
        "INSERT INTO spans SELECT survey, min(published_on, date('now')), date('now'), sum(n) FROM tallies JOIN surveys ON id = survey "
        "WHERE mode <> 1 GROUP BY survey HAVING sum(n) >= 3",
    ):
        db.execute(statement)


drafts = Migrations("deniable_server_drafts")


@drafts(name="first")
def texts_of_drafts(db: Database) -> None:
    """Creates the table of drafts. `id` is random, so that rows have no order; `author` may name a removed account."""
    db.execute(
        "CREATE TABLE drafts (id TEXT PRIMARY KEY, author TEXT NOT NULL, text BLOB NOT NULL, changed_on TEXT NOT NULL) WITHOUT ROWID"
    )


webhooks = Migrations("deniable_server_webhooks")


@webhooks(name="first")
def addresses_and_messages(db: Database) -> None:
    """Creates tables of webhooks, with what receivers know (`webhooks.ReceiverState`), and of messages. `due` is in Unix seconds."""
    for statement in (
        "CREATE TABLE webhooks (id TEXT PRIMARY KEY, survey TEXT NOT NULL REFERENCES surveys (id), url TEXT NOT NULL, "
        "events TEXT NOT NULL, made_on TEXT NOT NULL, failing_since TEXT, sealed BLOB NOT NULL, is_open INTEGER NOT NULL, "
        "reached INTEGER NOT NULL, n INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE messages (id TEXT PRIMARY KEY, webhook TEXT NOT NULL, body TEXT NOT NULL, tries INTEGER NOT NULL, "
        "due INTEGER NOT NULL) WITHOUT ROWID",
    ):
        db.execute(statement)


def migrate(connection: sqlite3.Connection) -> None:
    """Migrates a file to the newest version, all or nothing; processes that open it together do it once. Raises sqlite3.Error."""
    db, sets = Database(connection), (migrations, accounts, people, life, drafts, webhooks)
    if not any(each.pending(db) for each in sets):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for each in sets:
            each.apply(db)
    except BaseException:
        connection.rollback()
        raise
    connection.execute("COMMIT")
