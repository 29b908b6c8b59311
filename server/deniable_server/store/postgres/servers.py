"""Count of the servers that use a database: each holds a shared advisory lock of PostgreSQL while it runs.

The locks are in PostgreSQL's memory. They end with the connections of their holders, also of a server that was killed.
"""

from __future__ import annotations

import threading
from typing import Any

import psycopg

from deniable_server.store.postgres import schema

LOCK = schema.LOCK + 2
_COUNT = """
    SELECT count(*) FROM pg_locks
    WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND ((classid::bigint << 32) | objid::bigint) = %s
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class ServerCount:
    """The servers on the database at `url`. This one is among them from the first count on, until `close`."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._raw: psycopg.Connection[Any] | None = None
        self._lock = threading.Lock()

    def count(self) -> int:
        """Returns the number of servers, at least 1. Raises psycopg.Error; the next call connects again."""
        with self._lock:
            try:
                if self._raw is None:
                    self._raw = psycopg.connect(self._url, autocommit=True)
                    self._raw.execute("SELECT pg_advisory_lock_shared(%s::bigint)", [LOCK])
                (servers,) = self._raw.execute(_COUNT, [LOCK]).fetchone() or (1,)
            except psycopg.Error:
                self._close()
                raise
            return max(1, int(servers))

    def close(self) -> None:
        """Closes the connection, and with it gives the lock back."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._raw is not None:
            self._raw.close()
        self._raw = None
