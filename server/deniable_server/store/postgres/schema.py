"""PostgreSQL schema and its migrations. A released step never changes; changes are added as new steps."""

from __future__ import annotations

from deniable_server.store.errors import UnavailableError
from deniable_server.store.sql.connection import Connection

LOCK = 0x64656E6961626C65  # "deniable": the advisory lock that a process must hold to write
ORDERED = {
    "submissions": "key",
    "tallies": "key",
    "intake": "key",
    "invitations": "survey, hash",
    "withdrawn": "id",
    "unmatched": "survey",
    "spans": "survey, since",
    "settings": "survey",
    "sessions": "hash",
    "keys": "name",
    "roles": 'survey, "user"',
    "user_invitations": "hash",
    "passkeys": "id",
    "audit": "number",
    "audit_head": "count",
    "second_factors": '"user"',
    "recovery_codes": '"user", hash',
    "users": "name",
    "drafts": "id",
    "webhooks": "id",
    "messages": "id",
}
"""The tables whose rows are added and changed over time, and the sort order of their rewrite."""

_TEXT = 'TEXT COLLATE "C"'
_FIRST = (
    f"CREATE TABLE surveys (id {_TEXT} PRIMARY KEY, definition BYTEA NOT NULL, is_open INTEGER NOT NULL, published_on TEXT NOT NULL)",
    f"CREATE TABLE submissions (key BIGINT PRIMARY KEY, id BYTEA NOT NULL UNIQUE, survey {_TEXT} NOT NULL REFERENCES surveys (id), "
    f"label {_TEXT} NOT NULL, mode INTEGER NOT NULL, count INTEGER NOT NULL, reports BYTEA NOT NULL)",
    "CREATE INDEX submissions_of_part ON submissions (survey, label, mode)",
    f"CREATE TABLE tallies (key BIGINT PRIMARY KEY, survey {_TEXT} NOT NULL REFERENCES surveys (id), label {_TEXT} NOT NULL, "
    "mode INTEGER NOT NULL, n BIGINT NOT NULL, pairs BYTEA NOT NULL, UNIQUE (survey, label, mode))",
    "CREATE TABLE intake (key BIGINT PRIMARY KEY DEFAULT (random() * 9007199254740991)::bigint, "
    f"survey {_TEXT} NOT NULL REFERENCES surveys (id), label {_TEXT} NOT NULL, mode INTEGER NOT NULL, sealed BYTEA NOT NULL, "
    "UNIQUE (survey, label, mode))",
    f"CREATE TABLE invitations (survey {_TEXT} NOT NULL REFERENCES surveys (id), hash BYTEA NOT NULL, spent INTEGER NOT NULL, "
    "PRIMARY KEY (survey, hash))",
    "CREATE TABLE withdrawn (id BYTEA PRIMARY KEY)",
    f"CREATE TABLE unmatched (survey {_TEXT} PRIMARY KEY REFERENCES surveys (id), count INTEGER NOT NULL)",
    f"CREATE TABLE users (name {_TEXT} PRIMARY KEY, password_hash TEXT NOT NULL, operator INTEGER NOT NULL DEFAULT 0, "
    "disabled INTEGER NOT NULL DEFAULT 0)",
    f'CREATE TABLE sessions (hash BYTEA PRIMARY KEY, "user" {_TEXT} NOT NULL REFERENCES users (name) ON DELETE CASCADE, '
    "until BIGINT NOT NULL)",
    'CREATE INDEX sessions_of_user ON sessions ("user")',
    f"CREATE TABLE keys (name {_TEXT} PRIMARY KEY, hash BYTEA NOT NULL UNIQUE, scopes TEXT NOT NULL, "
    f"survey {_TEXT} REFERENCES surveys (id), made_on TEXT NOT NULL)",
    f"CREATE TABLE roles (survey {_TEXT} NOT NULL REFERENCES surveys (id) ON DELETE CASCADE, "
    f'"user" {_TEXT} NOT NULL REFERENCES users (name) ON DELETE CASCADE, role INTEGER NOT NULL, PRIMARY KEY (survey, "user"))',
    'CREATE INDEX roles_of_user ON roles ("user")',
    "CREATE TABLE user_invitations (hash BYTEA PRIMARY KEY, operator INTEGER NOT NULL, until BIGINT NOT NULL, made_by TEXT)",
    f'CREATE TABLE second_factors ("user" {_TEXT} PRIMARY KEY REFERENCES users (name) ON DELETE CASCADE, '
    "sealed BYTEA NOT NULL, last BIGINT NOT NULL)",
    f'CREATE TABLE recovery_codes ("user" {_TEXT} NOT NULL REFERENCES users (name) ON DELETE CASCADE, hash BYTEA NOT NULL, '
    'PRIMARY KEY ("user", hash))',
    f'CREATE TABLE passkeys (id BYTEA PRIMARY KEY, "user" {_TEXT} NOT NULL REFERENCES users (name) ON DELETE CASCADE, '
    f"name {_TEXT} NOT NULL, public_key BYTEA NOT NULL, count BIGINT NOT NULL, challenged BIGINT NOT NULL, made_on TEXT NOT NULL)",
    "CREATE TABLE audit (number BIGINT PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE audit_head (count BIGINT PRIMARY KEY, hash TEXT NOT NULL)",
    f"CREATE TABLE spans (survey {_TEXT} NOT NULL REFERENCES surveys (id), since TEXT NOT NULL, until TEXT NOT NULL, n BIGINT NOT NULL, "
    "PRIMARY KEY (survey, since))",
    f"CREATE TABLE settings (survey {_TEXT} PRIMARY KEY REFERENCES surveys (id), half_width DOUBLE PRECISION NOT NULL DEFAULT 0.1, "
    "expected BIGINT, least BIGINT NOT NULL DEFAULT 1, close_on TEXT, close_at BIGINT, archived INTEGER NOT NULL DEFAULT 0, "
    "delete_on TEXT, deleted_on TEXT)",
    f"CREATE TABLE drafts (id {_TEXT} PRIMARY KEY, author {_TEXT} NOT NULL, text BYTEA NOT NULL, changed_on TEXT NOT NULL)",
    f"CREATE TABLE webhooks (id {_TEXT} PRIMARY KEY, survey {_TEXT} NOT NULL REFERENCES surveys (id), url TEXT NOT NULL, "
    "events TEXT NOT NULL, made_on TEXT NOT NULL, failing_since TEXT, sealed BYTEA NOT NULL, is_open INTEGER NOT NULL, "
    "reached INTEGER NOT NULL, n BIGINT NOT NULL)",
    # no reference to webhooks: a rewrite deletes and inserts their rows, and messages would be deleted with them
    f"CREATE TABLE messages (id {_TEXT} PRIMARY KEY, webhook {_TEXT} NOT NULL, body TEXT NOT NULL, tries INTEGER NOT NULL, "
    "due BIGINT NOT NULL)",
    # Perturbed bits are not compressible; and the statistics must keep no sample of them, which would survive a withdrawal.
    "ALTER TABLE submissions ALTER COLUMN reports SET STORAGE EXTERNAL",
    "ALTER TABLE intake ALTER COLUMN sealed SET STORAGE EXTERNAL",
    *(
        f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0"
        for table, column in (
            *(("submissions", "key"), ("submissions", "id"), ("submissions", "reports"), ("intake", "sealed"), ("tallies", "pairs")),
            *(("invitations", "hash"), ("withdrawn", "id"), ("sessions", "hash")),
        )
    ),
)
STEPS = (_FIRST,)
"""The statements of each version, which change the tables of the previous version."""


def migrate(connection: Connection) -> None:
    """Migrates a database to the newest version, all or nothing; processes that open it together do it once.

    Raises:
        UnavailableError: A newer server made the tables.
        psycopg.Error: The database cannot be migrated; it stays as it was.
    """
    connection.execute("BEGIN")
    connection.execute("SELECT pg_advisory_xact_lock(?::bigint)", [LOCK])
    connection.execute("CREATE TABLE IF NOT EXISTS deniable (version INTEGER NOT NULL, due INTEGER NOT NULL, proof BYTEA)")
    if (row := connection.execute("SELECT version FROM deniable").fetchone()) is None:
        connection.execute("INSERT INTO deniable VALUES (0, 0, NULL)")
    version = row[0] if row else 0
    if version > len(STEPS):
        raise UnavailableError(f"the tables must be of version {len(STEPS)} at most, got {version}: a newer server made them")
    for step in STEPS[version:]:
        for statement in step:
            connection.execute(statement)
    connection.execute("UPDATE deniable SET version = ?", [len(STEPS)])
    connection.execute("COMMIT")
