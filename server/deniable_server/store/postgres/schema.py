"""PostgreSQL schema and its migrations. A released step never changes; changes are added as new steps."""

from __future__ import annotations

from deniable_server.store.errors import UnavailableError
from deniable_server.store.sql.connection import Connection

LOCK = 0x64656E6961626C65  # "deniable": the advisory lock that a process must hold to write
ORDERED = {
    "submissions": "key",
    "tallies": "key",
    "intake": "key",
    "used_codes": "tag",
    "issuers": "survey",
    "spent_tokens": "tag",
    "arrivals": "survey",
    "invitations": "survey, hash",
    "withdrawn": "id",
    "unmatched": "survey",
    "spans": "survey, since",
    "quotas": "survey",
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
    "draft_histories": "draft",
    "saved_questions": "id",
    "sources": "survey",
    "studies": "id",
    "waves": "survey",
    "draft_waves": "draft",
    "tags": "survey, tag",
    "draft_tags": "draft, tag",
    "webhooks": "id",
    "messages": "id",
    "dismissed": '"user", name',
    "identities": "issuer, subject",
    "teams": "name",
    "team_members": 'team, "user"',
    "team_roles": "survey, team",
    "draft_roles": 'draft, "user"',
    "draft_team_roles": "draft, team",
}
"""The tables whose rows are added and changed over time, and the sort order of their rewrite."""

_TEXT = 'TEXT COLLATE "C"'
_OF_USER = f'"user" {_TEXT} NOT NULL REFERENCES users (name) ON DELETE CASCADE'
_FIRST = (
    f"CREATE TABLE surveys (id {_TEXT} PRIMARY KEY, definition BYTEA NOT NULL, is_open INTEGER NOT NULL, published_on TEXT NOT NULL)",
    f"CREATE TABLE compiled (survey {_TEXT} PRIMARY KEY REFERENCES surveys (id), version INTEGER NOT NULL, digest TEXT NOT NULL, "
    "heading TEXT NOT NULL, rules TEXT NOT NULL, items TEXT NOT NULL)",
    f"CREATE TABLE submissions (key BIGINT PRIMARY KEY, id BYTEA NOT NULL UNIQUE, survey {_TEXT} NOT NULL REFERENCES surveys (id), "
    f"label {_TEXT} NOT NULL, mode INTEGER NOT NULL, count INTEGER NOT NULL, reports BYTEA NOT NULL)",
    "CREATE INDEX submissions_of_part ON submissions (survey, label, mode)",
    f"CREATE TABLE tallies (key BIGINT PRIMARY KEY, survey {_TEXT} NOT NULL REFERENCES surveys (id), label {_TEXT} NOT NULL, "
    "mode INTEGER NOT NULL, n BIGINT NOT NULL, pairs BYTEA NOT NULL, UNIQUE (survey, label, mode))",
    f"CREATE TABLE intake (key BIGINT PRIMARY KEY, tag BYTEA UNIQUE, survey {_TEXT} NOT NULL REFERENCES surveys (id), "
    "bulk INTEGER NOT NULL, part BYTEA, sealed BYTEA NOT NULL)",
    "CREATE INDEX intake_of_survey ON intake (survey, bulk)",
    "CREATE INDEX intake_erased ON intake (survey) WHERE part IS NOT NULL",
    f"CREATE TABLE used_codes (tag BYTEA PRIMARY KEY, survey {_TEXT} NOT NULL REFERENCES surveys (id), blinded BYTEA NOT NULL)",
    f"CREATE TABLE issuers (survey {_TEXT} PRIMARY KEY REFERENCES surveys (id), sealed BYTEA NOT NULL)",
    f"CREATE TABLE spent_tokens (tag BYTEA PRIMARY KEY, survey {_TEXT} NOT NULL REFERENCES surveys (id))",
    f"CREATE TABLE arrivals (survey {_TEXT} PRIMARY KEY REFERENCES surveys (id), device BIGINT NOT NULL, by_hand BIGINT NOT NULL, "
    "withdrawn BIGINT NOT NULL, due BIGINT, released_on TEXT)",
    "CREATE INDEX arrivals_due ON arrivals (due)",
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
    f"CREATE TABLE quotas (survey {_TEXT} PRIMARY KEY REFERENCES surveys (id), most TEXT NOT NULL, sealed BYTEA NOT NULL)",
    f"CREATE TABLE spans (survey {_TEXT} NOT NULL REFERENCES surveys (id), since {_TEXT} NOT NULL, until TEXT NOT NULL, n BIGINT NOT NULL, "
    "PRIMARY KEY (survey, since))",
    f"CREATE TABLE settings (survey {_TEXT} PRIMARY KEY REFERENCES surveys (id), half_width DOUBLE PRECISION NOT NULL DEFAULT 0.1, "
    "expected BIGINT, least BIGINT NOT NULL DEFAULT 1, close_on TEXT, close_at BIGINT, archived INTEGER NOT NULL DEFAULT 0, "
    "delete_on TEXT, deleted_on TEXT, opens_at TEXT, closes_at TEXT, zone TEXT NOT NULL DEFAULT 'UTC')",
    f'CREATE TABLE dismissed ("user" {_TEXT} NOT NULL REFERENCES users (name) ON DELETE CASCADE, name {_TEXT} NOT NULL, '
    'PRIMARY KEY ("user", name))',
    f"CREATE TABLE drafts (id {_TEXT} PRIMARY KEY, author {_TEXT} NOT NULL, text BYTEA NOT NULL, changed_on TEXT NOT NULL)",
    f"CREATE TABLE draft_histories (draft {_TEXT} PRIMARY KEY, steps BYTEA NOT NULL)",
    f"CREATE TABLE saved_questions (id {_TEXT} PRIMARY KEY, author {_TEXT} NOT NULL, text BYTEA NOT NULL, saved_on TEXT NOT NULL)",
    f"CREATE TABLE sources (survey {_TEXT} PRIMARY KEY REFERENCES surveys (id), text BYTEA NOT NULL)",
    f"CREATE TABLE studies (id {_TEXT} PRIMARY KEY, name TEXT NOT NULL)",
    f"CREATE TABLE waves (survey {_TEXT} PRIMARY KEY REFERENCES surveys (id), study {_TEXT} NOT NULL, number BIGINT NOT NULL, "
    "UNIQUE (study, number))",
    f"CREATE TABLE draft_waves (draft {_TEXT} PRIMARY KEY, survey {_TEXT} NOT NULL REFERENCES surveys (id))",
    f"CREATE TABLE tags (survey {_TEXT} NOT NULL REFERENCES surveys (id), tag {_TEXT} NOT NULL, PRIMARY KEY (survey, tag))",
    "CREATE INDEX surveys_of_tag ON tags (tag)",
    f"CREATE TABLE draft_tags (draft {_TEXT} NOT NULL, tag {_TEXT} NOT NULL, PRIMARY KEY (draft, tag))",
    f"CREATE TABLE identities (issuer {_TEXT} NOT NULL, subject {_TEXT} NOT NULL, {_OF_USER}, bound_on TEXT NOT NULL, "
    "PRIMARY KEY (issuer, subject))",
    'CREATE INDEX identities_of_user ON identities ("user")',
    # No table refers to teams or drafts: a rewrite deletes and inserts their rows.
    f"CREATE TABLE teams (name {_TEXT} PRIMARY KEY)",
    f'CREATE TABLE team_members (team {_TEXT} NOT NULL, {_OF_USER}, manager INTEGER NOT NULL, PRIMARY KEY (team, "user"))',
    'CREATE INDEX team_members_of_user ON team_members ("user")',
    f"CREATE TABLE team_roles (survey {_TEXT} NOT NULL REFERENCES surveys (id) ON DELETE CASCADE, team {_TEXT} NOT NULL, "
    "role INTEGER NOT NULL, PRIMARY KEY (survey, team))",
    f'CREATE TABLE draft_roles (draft {_TEXT} NOT NULL, {_OF_USER}, role INTEGER NOT NULL, PRIMARY KEY (draft, "user"))',
    f"CREATE TABLE draft_team_roles (draft {_TEXT} NOT NULL, team {_TEXT} NOT NULL, role INTEGER NOT NULL, PRIMARY KEY (draft, team))",
    f"CREATE TABLE webhooks (id {_TEXT} PRIMARY KEY, survey {_TEXT} NOT NULL REFERENCES surveys (id), url TEXT NOT NULL, "
    "events TEXT NOT NULL, made_on TEXT NOT NULL, failing_since TEXT, sealed BYTEA NOT NULL, is_open INTEGER NOT NULL, "
    "reached INTEGER NOT NULL, n BIGINT NOT NULL)",
    # no reference to webhooks: a rewrite deletes and inserts their rows, and messages would be deleted with them
    f"CREATE TABLE messages (id {_TEXT} PRIMARY KEY, webhook {_TEXT} NOT NULL, body TEXT NOT NULL, tries INTEGER NOT NULL, "
    "due BIGINT NOT NULL)",
    # A row marks a database that was moved, or is the unfinished copy of a move (`store.sql.move_marks`).
    "CREATE TABLE move_marks (id TEXT PRIMARY KEY, state TEXT NOT NULL, other TEXT NOT NULL)",
    # Perturbed bits are not compressible; and the statistics must keep no sample of them, which would survive a withdrawal.
    "ALTER TABLE submissions ALTER COLUMN reports SET STORAGE EXTERNAL",
    "ALTER TABLE intake ALTER COLUMN sealed SET STORAGE EXTERNAL",
    *(
        f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0"
        for table, column in (
            *(
                ("submissions", "key"),
                ("submissions", "id"),
                ("submissions", "reports"),
                ("intake", "sealed"),
                ("intake", "tag"),
                ("intake", "part"),
                ("used_codes", "tag"),
                ("used_codes", "blinded"),
                ("spent_tokens", "tag"),
                ("tallies", "pairs"),
            ),
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
    if _version(connection) == len(STEPS):
        return  # without the lock: a server's writer would wait for it
    connection.execute("BEGIN")
    apply_steps(connection)
    connection.execute("COMMIT")


def apply_steps(connection: Connection) -> None:
    """Creates or migrates the tables inside the caller's transaction. Raises as `migrate` does."""
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


def _version(connection: Connection) -> int | None:
    """Returns the version of the tables, or None without tables."""
    if connection.execute("SELECT to_regclass('deniable')").fetchone()[0] is None:
        return None
    row = connection.execute("SELECT version FROM deniable").fetchone()
    return None if row is None else int(row[0])
