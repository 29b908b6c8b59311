"""Runs the application behind its front on granian: one process, an event loop, threads, and no access log."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import socket
import sys
import threading
from dataclasses import replace
from typing import Any

import uvloop
from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server

from deniable_server import create_app
from deniable_server.config import Config, Database
from deniable_server.front import Front
from deniable_server.operate import alone, upkeep
from deniable_server.store import open_store
from deniable_server.store.errors import StoreError
from deniable_server.store.protocol import Store

HEAD_SECONDS = 10  # for a request's head, and between two requests of a connection
HEAD_BYTES = 64 << 10
MOST_CONNECTIONS = 8192
FINISH_SECONDS = 4.0  # for the requests that are being answered when the server is to stop
STOP_SECONDS = 9.0  # for all of stopping

logger = logging.getLogger("deniable_server")


def serve(db: Database, host: str, port: int, public_url: str | None, most_per_second: int) -> None:
    """Serves until the process is told to stop, and then ends it.

    Raises FileNotFoundError where `deniable-server init` has not been, alone.InUseError where another process has the port or
    the database, UnavailableError where the file is none that a server can use.
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    shown = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host  # noqa: S104 - compared
    config = replace(Config.for_database(db, public_url, most_per_second), listening=f"http://{shown}:{port}")
    if path := Database.at(config.db).path:
        alone.lock(path)  # on PostgreSQL several servers may share a database
    listener = alone.listen(host, port)
    store = open_store(config.db)
    store.surveys.all()  # a damaged file is found now
    upkeep.begin(store)
    front = Front(create_app(config, store), shown, port)
    print(f"Serving on http://{host}:{port}", file=sys.stderr, flush=True)
    uvloop.run(_run(front, listener, store))


async def _run(front: Front, listener: socket.socket, store: Store) -> None:
    """Serves until SIGTERM or SIGINT; from then on the process has STOP_SECONDS."""
    told = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    server = asyncio.create_task(_granian(front, listener).serve())
    stopped = asyncio.create_task(told.wait())
    await asyncio.wait([server, stopped], return_when=asyncio.FIRST_COMPLETED)
    _end_after(STOP_SECONDS)
    if not stopped.done():
        await server  # it failed: says why
    if not await front.finish(FINISH_SECONDS):
        logger.warning("requests that took longer than %.0f seconds were cut off", FINISH_SECONDS)
    _close(store)
    _end()


def _close(store: Store) -> None:
    """Rewrites the file, so that no order shows in it, if nobody hinders that; and closes it."""
    try:
        store.rewrite()
    except StoreError as error:
        logger.warning("the database was not written anew, so the newest of its pages may show an order: %s", error)
    store.close()


def _granian(front: Front, listener: socket.socket) -> Server:
    """granian on our own socket: the one that it would make lets others listen on the same port."""

    class Listening(Server):
        def _init_shared_socket(self) -> None:
            self._shd: Any = SocketHolder(listener.fileno(), False, alone.BACKLOG)  # type: ignore[call-arg]

    return Listening(
        front,
        interface=Interfaces.RSGI,
        backpressure=_connections(),
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEAD_SECONDS * 1000, max_buffer_size=HEAD_BYTES),
        websockets=False,
        log_level=LogLevels.error,
        log_access=False,
    )


def _connections() -> int:
    """How many connections there may be at a time: what the system lets this process open, less what the database needs."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_CONNECTIONS if hard == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, hard - 256)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most + 256, hard))
    return most


def _end_after(seconds: float) -> None:
    """Ends the process then, whatever it does. What was acknowledged is on the disk; what was not is undone."""

    def end() -> None:
        logger.warning("the server did not close its database within %.0f seconds; nothing that was acknowledged is lost", seconds)
        _end()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def _end() -> None:
    """Ends the process without waiting for threads and connections."""
    logging.shutdown()
    os._exit(0)
