"""Settings check for PostgreSQL servers: settings that would break a promise are refused."""

from __future__ import annotations

from deniable_server.store.errors import UnavailableError
from deniable_server.store.sql.connection import Connection

LEAST_VERSION = 130000
DURABLE = {"fsync": "on", "full_page_writes": "on"}
SILENT = {"track_commit_timestamp": "off", "log_parameter_max_length_on_error": "0"}
LOGGED = {"log_statement": ("none", "ddl"), "log_min_duration_statement": ("-1",), "log_min_duration_sample": ("-1",)}
"""Settings that log statements, and with them their values, unless log_parameter_max_length is 0."""


def problems(connection: Connection) -> list[str]:
    """Returns a line for each setting that could lose acknowledged data in a power cut, or log the time of submissions."""

    def setting(name: str) -> str:
        return str(connection.execute("SELECT current_setting(?)", [name]).fetchone()[0])

    wrong = [(name, right, setting(name)) for name, right in {**DURABLE, **SILENT}.items() if setting(name) != right]
    if setting("log_parameter_max_length") not in ("0", "0B"):
        wrong += [(name, right[0], setting(name)) for name, right in LOGGED.items() if setting(name) not in right]
    lines = [f"{name} must be {right}, got {value}" for name, right, value in wrong]
    if int(setting("server_version_num")) < LEAST_VERSION:
        lines.append(f"the version must be at least {LEAST_VERSION // 10000}, got {setting('server_version')}")
    return lines


def require(connection: Connection) -> None:
    """Raises UnavailableError with all problems."""
    if lines := problems(connection):
        raise UnavailableError("PostgreSQL is set so that the promise would be broken: " + "; ".join(lines))
