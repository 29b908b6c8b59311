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
from werkzeug.wsgi import FileWrapper

from deniable_server.web.limits import BODY, REFUSED

Environ = dict[str, Any]


class Sent(FileWrapper):
    """The file that an application replies with, where it has one."""

    @property
    def path(self) -> str:
        """Where it is."""
        return str(self.file.name)


class Reply(NamedTuple):
    """Status, headers and body, as `response_bytes` takes them. file: instead of the body; whoever sends it closes it."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    file: Sent | None = None


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
        "wsgi.file_wrapper": Sent,
    }


def environ_of(scope: Scope, headers: Iterable[tuple[str, str]], base: Mapping[str, Any]) -> Environ:
    """The environ of a request whose body is still to come."""
    environ = {
        **base,
        "REQUEST_METHOD": scope.method,
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
    }
    for name, value in headers:
        if "_" in name:  # would be taken for another header's name
            continue
        key = name.upper().replace("-", "_")
        if key not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
            key = f"HTTP_{key}"
        environ[key] = value if key not in environ else f"{environ[key]}{';' if key == 'HTTP_COOKIE' else ','}{value}"
    return environ


def with_body(environ: Environ, body: bytes) -> Environ:
    """The environ of the whole request."""
    environ["wsgi.input"] = io.BytesIO(body)  # copies nothing
    environ[BODY] = body
    environ["CONTENT_LENGTH"] = str(len(body))
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    return environ


def call(app: Flask, environ: Environ) -> Reply:
    """The application's reply to a request. Anything that goes wrong in there is a reply, too."""
    started: list[tuple[int, list[tuple[str, str]]]] = []

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Any:
        started.append((int(status.split(" ", 1)[0]), headers))

    chunks: Iterable[bytes] = app(environ, start_response)
    if isinstance(chunks, Sent):
        return Reply(*started[-1], b"", chunks)
    try:
        body = b"".join(chunks)
    finally:
        if close := getattr(chunks, "close", None):
            close()
    return Reply(*started[-1], body)


def answer(app: Flask, environ: Environ, proto: RSGIHTTPProtocol) -> Reply | None:
    """Sends the application's reply, from the thread that made it: the event loop may be busy.

    Gives back what is more than that: a "too many" to be held back, and a file, which is on its way and to be closed.
    """
    reply = call(app, environ)
    if reply.status == 429:
        return reply
    if reply.file:
        proto.response_file(reply.status, reply.headers, reply.file.path)  # as fast as the client takes it, without a thread of ours
        return reply
    proto.response_bytes(reply.status, reply.headers, reply.body)
    return None


def refuse(app: Flask, environ: Environ, why: HTTPException) -> Reply:
    """What the application says of a request that it shall not handle, with all its headers and in its form. The connection ends then."""
    bare = {name: value for name, value in environ.items() if name not in ("HTTP_COOKIE", "HTTP_TRANSFER_ENCODING", "CONTENT_LENGTH")}
    status, headers, body, _ = call(app, {**bare, REFUSED: why})
    _let_go(why)
    return Reply(status, [*headers, ("Connection", "close")], body)


def explain(app: Flask, environ: Environ, why: Exception, proto: RSGIHTTPProtocol) -> Reply | None:
    """Sends what the application says of a request that failed before it; as `answer` does."""
    held = answer(app, {**environ, REFUSED: why}, proto)
    _let_go(why)
    return held


def _let_go(why: Exception) -> None:
    """Its frames hold the body, and that the connection, until garbage is collected."""
    why.__traceback__ = why.__context__ = None
