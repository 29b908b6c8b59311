"""Database monitoring: logs when the database stops answering, and when it answers again, once for each change of state.

It also counts the servers on the database, which share the rate limits.

It polls at regular times: a line with a failed request would show when a respondent answered.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from deniable_server.operate import logs
from deniable_server.store.errors import UnavailableError
from deniable_server.store.protocol import Store
from deniable_server.web.rate_limiter import ServerShare

SECONDS = 10.0

logger = logging.getLogger(logs.OWN)


def watch(store: Store, share: ServerShare, wait: Callable[[float], bool]) -> None:
    """Logs each change of the database's state and of the number of servers, until `wait` returns True."""
    before: str | None = None
    while not wait(SECONDS):
        now = store.trouble()
        if now != before:
            logger.warning("%s", now or "the database answers again")
        before = now
        count_servers(store, share)


def count_servers(store: Store, share: ServerShare) -> None:
    """Divides the rate limits among the servers on the database. The old number stays while the database does not answer."""
    try:
        servers = store.count_servers()
    except UnavailableError:
        return  # `trouble` says it
    if servers != share.servers:
        logger.info("servers that share the rate limits: %d", servers)
    share.servers = servers


def begin(store: Store, share: ServerShare) -> threading.Event:
    """Starts `watch` in a thread, which ends when the returned event is set. The servers are counted before it returns."""
    count_servers(store, share)
    over = threading.Event()
    threading.Thread(target=watch, args=(store, share, over.wait), name="deniable-database-watch", daemon=True).start()
    return over
