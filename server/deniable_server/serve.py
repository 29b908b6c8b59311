"""Runs the application on granian: one process that writes, with threads, and no access log."""

from __future__ import annotations

import logging
import os
import threading
import time
from functools import partial
from multiprocessing.util import Finalize
from pathlib import Path

from flask import Flask
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from deniable_server import create_app
from deniable_server.config import Config
from deniable_server.store.sqlite import SqliteStore

THREADS = 16


def serve(db: Path, host: str, port: int, public_url: str | None, most_per_second: int) -> None:
    """Serves until interrupted. Raises FileNotFoundError where `deniable-server init` has not been."""
    config = Config.for_database(db, public_url, most_per_second)
    server = Granian(
        "deniable_server",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=1,
        blocking_threads=THREADS,
        backpressure=1024,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=10_000),
        websockets=False,
        log_level=LogLevels.error,
        log_access=False,
        respawn_failed_workers=True,
        respawn_interval=0.5,
    )
    server.serve(target_loader=partial(_load, config, os.getpid()), wrap_loader=False)


def _load(config: Config, parent: int) -> Flask:
    """Makes the application inside the worker process."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    store = SqliteStore(config.db)
    Finalize(store, _stop, args=(store,), exitpriority=10)
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    return create_app(config, store)


def _stop(store: SqliteStore) -> None:
    store.rewrite()
    store.close()


def _leave_with(parent: int, pause: float = 0.1) -> None:
    """Ends the worker at once when the process that started it is gone, so that no orphan keeps the port."""
    while os.getppid() == parent:
        time.sleep(pause)
    os._exit(1)
