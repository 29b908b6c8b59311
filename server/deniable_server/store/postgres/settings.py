"""Settings of the database's server that break a promise: whoever has one of them is told so, and not served."""

from __future__ import annotations

from deniable_server.store.errors import UnavailableError
from deniable_server.store.sql.connection import Connection

LEAST_VERSION = 130000
DURABLE = {"fsync": "on", "full_page_writes": "on"}
SILENT = {"track_commit_timestamp": "off", "log_parameter_max_length_on_error": "0"}
LOGGED = {"log_statement": ("none", "ddl"), "log_min_duration_statement": ("-1",), "log_min_duration_sample": ("-1",)}
"""Where a statement is logged, so are its values, unless log_parameter_max_length is 0."""


def problems(connection: Connection) -> list[str]:
    """What is set so that a power cut would lose what was acknowledged, or a log would show what came when; one line each."""

    def setting(name: str) -> str:
        return str(connection.execute("SELECT current_setting(?)", [name]).fetchone()[0])

    wrong = [(name, right, setting(name)) for name, right in {**DURABLE, **SILENT}.items() if setting(name) != right]
    if setting("log_parameter_max_length") not in ("0", "0B"):
        wrong += [(name, right[0], setting(name)) for name, right in LOGGED.items() if setting(name) not in right]
    told = [f"{name} must be {right}, got {found}" for name, right, found in wrong]
    if int(setting("server_version_num")) < LEAST_VERSION:
        told.append(f"the version must be at least {LEAST_VERSION // 10000}, got {setting('server_version')}")
    return told


def require(connection: Connection) -> None:
    """Raises UnavailableError with all problems."""
    if told := problems(connection):
        raise UnavailableError("PostgreSQL is set so that the promise would be broken: " + "; ".join(told))
