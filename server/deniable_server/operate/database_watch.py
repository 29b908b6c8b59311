"""Database monitoring: logs when the database stops answering, and when it answers again, once for each change of state.

It polls at regular times: a line with a failed request would show when a respondent answered.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from deniable_server.operate import logs
from deniable_server.store.protocol import Store

SECONDS = 10.0

logger = logging.getLogger(logs.OWN)


def watch(store: Store, wait: Callable[[float], bool]) -> None:
    """Logs each change of the database's state, until `wait` returns True."""
    before: str | None = None
    while not wait(SECONDS):
        now = store.trouble()
        if now != before:
            logger.warning("%s", now or "the database answers again")
        before = now


def begin(store: Store) -> threading.Event:
    """Starts `watch` in a thread, which ends when the returned event is set."""
    over = threading.Event()
    threading.Thread(target=watch, args=(store, over.wait), name="deniable-database-watch", daemon=True).start()
    return over
