"""Server lock: one server for each database and port, since neither SQLite nor the network would refuse a second one.

The lock belongs to the process and ends with it, however it ends. Commands such as `publish` and `close` do not take it.
"""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path
from typing import Any

BACKLOG = 4096  # connections that wait to be accepted: clients retry a refused one only a whole second later
UNREAD_SECONDS = 20  # the kernel ends a connection whose client leaves a reply unread for so long


class InUseError(OSError):
    """Another process has the port or serves the database."""


def lock(db: Path) -> int:
    """Locks the database for this process. Returns the descriptor that holds the lock. Raises InUseError, OSError."""
    path = db.with_name(db.name + ".lock")
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(descriptor, 20).decode("ascii", "replace").strip()
        os.close(descriptor)
        raise InUseError(f"{db} is served already, by process {holder or '(unknown)'}; one database has one server") from None
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens exclusively on an address. Raises InUseError, OSError."""
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, kind)
        try:
            _bind(listener, address)
        except OSError:
            listener.close()
            raise
    except UnicodeError:  # a label of more than 63 letters, or an empty one
        raise InUseError(f"cannot listen on {host}:{port}: this is not a host name") from None
    except OSError as error:
        raise InUseError(f"cannot listen on {host}:{port}: {(error.strerror or str(error)).lower()}") from None
    return listener


def _bind(listener: socket.socket, address: Any) -> None:
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections of a server that ended do not count
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_SECONDS * 1000)
    listener.bind(address)
    listener.listen(BACKLOG)
