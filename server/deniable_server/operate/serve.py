"""Server process: runs the application behind its front on granian, with one event loop, threads, and no access log."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import os
import resource
import signal
import socket
import ssl
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import uvloop
from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces, SSLProtocols
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server

from deniable_server import create_app
from deniable_server.api.metrics import OWN_ADDRESS
from deniable_server.api.submissions import DirectSubmissions
from deniable_server.config import Config, Database
from deniable_server.context import services_of
from deniable_server.front import Front, Scraped
from deniable_server.front.application import COMPUTATIONS
from deniable_server.front.processes import Pool
from deniable_server.operate import computing, database_watch, logs, server_lock, upkeep
from deniable_server.operate.sending import posting
from deniable_server.store import open_store
from deniable_server.store.errors import StoreError
from deniable_server.store.protocol import Store
from deniable_server.trials.folder import make_folder
from deniable_server.trials.runs import TrialRuns
from deniable_server.web.downloads import Downloads
from deniable_server.web.offload import Offload
from deniable_server.web.rate_limiter import ServerShare

HEAD_SECONDS = 10  # for a request's head, and between two requests of a connection
HEAD_BYTES = 64 << 10
MOST_CONNECTIONS = 8192
FINISH_SECONDS = 4.0  # for running requests when the server stops
STOP_SECONDS = 9.0  # for the whole shutdown
LARGE_BYTES = 1 << 20  # blocks of memory of this size go back to the system as soon as they are free
_M_MMAP_THRESHOLD = -3  # malloc.h

logger = logging.getLogger(logs.OWN)


@dataclass(frozen=True)
class Listening:
    """The addresses at which a server listens.

    Attributes:
        certificate: The PEM files of a certificate and its key; None for http, behind a proxy or at home.
        metrics: The host and port for /metrics without a key; None for none.
    """

    host: str
    port: int
    certificate: tuple[Path, Path] | None = None
    metrics: tuple[str, int] | None = None

    @property
    def name(self) -> str:
        """The host name by which this machine reaches it."""
        return _name(self.host)

    @property
    def url(self) -> str:
        """The URL by which this machine reaches it."""
        return f"{'https' if self.certificate else 'http'}://{self.name}:{self.port}"


def serve(config: Config, at: Listening, log: str = "text") -> None:
    """Serves until the process is stopped, and then ends it. `log` is one of logs.FORMS.

    Raises:
        InUseError: Another process has the port or the database.
        UnavailableError: The database cannot be used.
        ValueError, OSError: The certificate is invalid or cannot be read.
    """
    if at.certificate:
        _check_certificate(*at.certificate)
        config = replace(config, public_url=config.public_url or at.url)
    config = replace(config, listening=at.url)
    _give_memory_back()
    if path := Database.at(config.db).path:
        server_lock.lock(path)  # on PostgreSQL several servers may share a database
    listener = server_lock.listen(at.host, at.port)
    scraped = server_lock.listen(*at.metrics) if at.metrics else None
    store = open_store(config.db, config.database_connections)
    store.surveys.headings()  # a damaged file is found now
    logs.begin(log)
    upkeep.begin(store, posting(config.private_webhooks))
    config = replace(config, trials=make_folder())
    app = create_app(config, store)
    processes = Pool(COMPUTATIONS, computing.MODULE, (config, log))
    services = services_of(app)
    database_watch.begin(store, services.get(ServerShare))
    services.add(Offload(processes))
    services.add(Downloads(processes))
    front = Front(app, services.get(DirectSubmissions), at.name, at.port)
    servers = [_granian(front, listener, at.certificate)]
    logger.info("Serving on %s", at.url)
    if scraped and at.metrics:
        servers.append(_granian(Scraped(app, _name(at.metrics[0]), at.metrics[1], OWN_ADDRESS), scraped, None))
    gc.freeze()  # loaded objects stay: collecting garbage among them would delay requests
    uvloop.run(_run(front, servers, store, processes, services.get(TrialRuns)))


def _give_memory_back() -> None:
    """Limits glibc's caching of freed memory: blocks of up to 32 MiB for each thread would stay after large bodies."""
    with suppress(AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)


def _name(host: str) -> str:
    """Returns the host name by which this machine reaches an address that it listens on."""
    every = host in ("0.0.0.0", "::")  # noqa: S104 - compared
    return "localhost" if every else f"[{host}]" if ":" in host else host


def _check_certificate(certificate: Path, key: Path) -> None:
    """Raises ValueError for an invalid certificate or key, since granian would panic."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=lambda: b"")
    except ssl.SSLError as error:
        raise ValueError(
            f"{certificate} and {key} must be a certificate and its key, in PEM and without a password ({error.reason})"
        ) from None


async def _run(front: Front, servers: Sequence[Server], store: Store, processes: Pool, trials: TrialRuns) -> None:
    """Serves until SIGTERM or SIGINT; then the process has STOP_SECONDS."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    serving = [asyncio.create_task(server.serve()) for server in servers]
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait([*serving, stopped], return_when=asyncio.FIRST_COMPLETED)
    _end_after(STOP_SECONDS)
    if not stopped.done():
        await asyncio.gather(*(task for task in serving if task.done()))  # one failed: says why
    if not await front.finish(FINISH_SECONDS):
        logger.warning("requests that took longer than %.0f seconds were cut off", FINISH_SECONDS)
    processes.close()
    trials.close()
    _close(store)
    _end()


def _close(store: Store) -> None:
    """Rewrites the file, if the database allows, so that it shows no order of submissions; and closes it."""
    try:
        store.rewrite()
    except StoreError as error:
        logger.warning("the database was not rewritten, so its newest pages may show the order of submissions: %s", error)
    store.close()


def _granian(front: Front | Scraped, listener: socket.socket, certificate: tuple[Path, Path] | None) -> Server:
    """Returns a granian server on this process's socket; with its own socket, others could listen on the same port."""

    class OnOurs(Server):
        def _init_shared_socket(self) -> None:
            self._shd: Any = SocketHolder(listener.fileno(), False, server_lock.BACKLOG)  # type: ignore[call-arg]

    cert, key = certificate or (None, None)
    return OnOurs(
        front,
        interface=Interfaces.RSGI,
        backpressure=_connections(),
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEAD_SECONDS * 1000, max_buffer_size=HEAD_BYTES),
        websockets=False,
        log_level=LogLevels.error,
        log_dictconfig={"loggers": {"_granian": {"handlers": [], "propagate": True}}},
        log_access=False,
        ssl_cert=cert,
        ssl_key=key,
        ssl_protocol_min=SSLProtocols.tls12,  # old phones have no newer one
    )


def _connections() -> int:
    """Returns the most connections at a time: the process's file limit, less what the database needs."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_CONNECTIONS if hard == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, hard - 256)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most + 256, hard))
    return most


def _end_after(seconds: float) -> None:
    """Ends the process after a time, whatever it does. Acknowledged data is on the disk; the rest is rolled back."""

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
