"""VACUUM scheduling: rewrites a file soon after data was erased, within a bounded share of the run time.

SQLite overwrites deleted rows, but not the copies that remain in unused parts of pages when it moves rows between
pages; and inside a page, the last row to arrive is stored last. Only rewriting the whole file removes both.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from deniable_server.store.errors import StoreError

PAUSE_SECONDS = 0.5
PART = 0.02  # the largest share of the run time, since nobody can write meanwhile


class VacuumScheduler:
    """Calls `rewrite` in a separate thread some time after `due`, once for several calls."""

    def __init__(self, rewrite: Callable[[], None]) -> None:
        self._rewrite = rewrite
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._stopped = False
        self._took = 0.0  # seconds of the last rewrite

    def due(self) -> None:
        """Schedules a rewrite."""
        with self._lock:
            if self._timer is None and not self._stopped:
                self._timer = threading.Timer(max(PAUSE_SECONDS, self._took / PART), self._run)
                self._timer.daemon = True
                self._timer.start()

    def stop(self) -> None:
        """Cancels the scheduled rewrite and schedules no more."""
        with self._lock:
            self._stopped = True
            if self._timer:
                self._timer.cancel()

    def _run(self) -> None:
        with self._lock:
            self._timer = None  # rows erased from now on wait for the next rewrite
        begun = time.monotonic()
        try:
            self._rewrite()
        except StoreError:
            self.due()  # it failed, perhaps for lack of disk space
        self._took = time.monotonic() - begun
