"""A file is rewritten soon after something was erased from it, or came to a small one: now and then, and for a small part of the time.

SQLite overwrites what is deleted, but not the copies that it leaves in unused parts of pages when it moves rows from page to
page; and inside a page, what came last stands last. Only writing the whole file anew removes both.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from deniable_server.store.errors import StoreError

PAUSE_SECONDS = 0.5
PART = 0.02  # of the time, at most, since nobody can write meanwhile


class Rewriting:
    """Calls `rewrite` in a thread of its own some time after `due`, once for all that came due meanwhile."""

    def __init__(self, rewrite: Callable[[], None]) -> None:
        self._rewrite = rewrite
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._stopped = False
        self._took = 0.0  # seconds, the last time

    def due(self) -> None:
        """Something was erased, or came."""
        with self._lock:
            if self._timer is None and not self._stopped:
                self._timer = threading.Timer(max(PAUSE_SECONDS, self._took / PART), self._run)
                self._timer.daemon = True
                self._timer.start()

    def stop(self) -> None:
        """Rewrites nothing more."""
        with self._lock:
            self._stopped = True
            if self._timer:
                self._timer.cancel()

    def _run(self) -> None:
        with self._lock:
            self._timer = None  # what is erased from now on is for the next time
        begun = time.monotonic()
        try:
            self._rewrite()
        except StoreError:
            self.due()  # there is no room for it now
        self._took = time.monotonic() - begun
