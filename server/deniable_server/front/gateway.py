"""From a request of granian's RSGI to the environ of WSGI, and from the reply of a WSGI application to bytes.

No address of a client gets into an environ, so none can get into a log or a file.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from flask import Flask
from granian._granian import RSGIHTTPProtocol
from granian.rsgi import Scope
from werkzeug.exceptions import HTTPException

from deniable_server.web.limits import REFUSED

Environ = dict[str, Any]


class Reply(NamedTuple):
    """Status, headers and body, as `response_bytes` takes them."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


def base_environ(host: str, port: int) -> Environ:
    """What all requests of a server have in common."""
    return {
        "SCRIPT_NAME": "",
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.input": io.BytesIO(),
        "wsgi.input_terminated": True,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }


def environ_of(scope: Scope, base: Mapping[str, Any]) -> Environ:
    """The environ of a request whose body is still to come."""
    environ = {
        **base,
        "REQUEST_METHOD": scope.method,
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
    }
    for name, value in scope.headers.items():
        if "_" in name:  # would be taken for another header's name
            continue
        key = name.upper().replace("-", "_")
        if key not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
            key = f"HTTP_{key}"
        environ[key] = value if key not in environ else f"{environ[key]}{';' if key == 'HTTP_COOKIE' else ','}{value}"
    return environ


def with_body(environ: Environ, body: bytes) -> Environ:
    """The environ of the whole request."""
    environ["wsgi.input"] = io.BytesIO(body)
    environ["CONTENT_LENGTH"] = str(len(body))
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    return environ


def call(app: Flask, environ: Environ) -> Reply:
    """The application's reply to a request. Anything that goes wrong in there is a reply, too."""
    started: list[tuple[int, list[tuple[str, str]]]] = []

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Any:
        started.append((int(status.split(" ", 1)[0]), headers))

    chunks: Iterable[bytes] = app(environ, start_response)
    try:
        body = b"".join(chunks)
    finally:
        if close := getattr(chunks, "close", None):
            close()
    return Reply(*started[-1], body)


def answer(app: Flask, environ: Environ, proto: RSGIHTTPProtocol) -> Reply | None:
    """Sends the application's reply, from the thread that made it: the event loop may be busy. Gives a "too many" to be held back."""
    reply = call(app, environ)
    if reply.status == 429:
        return reply
    proto.response_bytes(*reply)
    return None


def refuse(app: Flask, environ: Environ, why: HTTPException) -> Reply:
    """What the application says of a request that it shall not handle, with all its headers and in its form. The connection ends then."""
    bare = {name: value for name, value in environ.items() if name not in ("HTTP_COOKIE", "HTTP_TRANSFER_ENCODING", "CONTENT_LENGTH")}
    status, headers, body = call(app, {**bare, REFUSED: why})
    why.__traceback__ = why.__context__ = None  # their frames hold the body, and that the connection, until garbage is collected
    return Reply(status, [*headers, ("Connection", "close")], body)
