"""Requests byte by byte, as no well-behaved client sends them."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable
from typing import Any

from tests.kit.patience import PATIENCE

SUBMIT = "/api/v1/surveys/study/submissions"
POST = f"POST {SUBMIT} HTTP/1.1\r\nHost: study\r\nContent-Type: application/json\r\n".encode()
FORM = b"POST /login HTTP/1.1\r\nHost: study\r\nContent-Type: application/x-www-form-urlencoded\r\n"
JSON = {"Content-Type": "application/json"}


class Raw:
    """A connection of which every byte is ours."""

    def __init__(self, server: Any, sent: bytes) -> None:
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        self.socket.sendall(sent)

    def send(self, more: bytes) -> None:
        self.socket.sendall(more)

    def close(self) -> None:
        self.socket.close()

    def all(self, trickle: bytes = b"") -> bytes:
        """All that comes until the server ends the connection; meanwhile we send `trickle` again and again."""
        got, deadline = b"", time.monotonic() + PATIENCE
        with self.socket:
            while time.monotonic() < deadline:
                self.socket.settimeout(0.5 if trickle else PATIENCE)
                try:
                    part = self.socket.recv(1 << 16)
                except TimeoutError:
                    self.send(trickle)
                    continue
                except ConnectionResetError:  # what we had sent last was not read any more
                    return got
                if not part:
                    return got
                got += part
        raise AssertionError("the server did not end the connection")

    def reply(self, trickle: bytes = b"") -> tuple[int, dict[str, str], bytes]:
        """The reply after which the server ends the connection: status, headers, body."""
        head, _, body = self.all(trickle).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n").partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        return int(status.split()[1]), dict(line.split(": ", 1) for line in lines), body


def comparable(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """All but what the server adds, and the length, which is left out where there is no body."""
    own = [(name.lower(), value) for name, value in headers if name.lower() not in ("server", "date", "connection", "content-length")]
    return sorted((name, ", ".join(sorted(value.split(", "))) if name == "allow" else value) for name, value in own)
