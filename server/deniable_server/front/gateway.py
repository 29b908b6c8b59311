"""Gateway between granian's RSGI and WSGI: requests to environs, and applications' replies to bytes.

No environ contains a client's address, so no log or file can.
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

from deniable_server.front.pump import PUMP
from deniable_server.web.downloads import FilePart, GrowingFile
from deniable_server.web.limits import BODY, REFUSED

Environ = dict[str, Any]


class Sent(FileWrapper):
    """A file that an application replies with."""

    @property
    def path(self) -> str:
        """The file's path."""
        return str(self.file.name)


class GatewayReply(NamedTuple):
    """Status, headers and body, as `response_bytes` takes them; or instead of the body a file, which its sender closes."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    file: Sent | None = None
    growing: GrowingFile | None = None


def base_environ(host: str, port: int) -> Environ:
    """Returns the part of an environ that all requests of a server share."""
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
    """Returns the environ of a request whose body has not arrived."""
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
    """Adds the body to a request's environ and returns it."""
    environ["wsgi.input"] = io.BytesIO(body)  # copies nothing
    environ[BODY] = body
    environ["CONTENT_LENGTH"] = str(len(body))
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    return environ


def call(app: Flask, environ: Environ) -> GatewayReply:
    """Returns the application's reply to a request. A failure in the application is a reply, too."""
    started: list[tuple[int, list[tuple[str, str]]]] = []

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Any:
        started.append((int(status.split(" ", 1)[0]), headers))

    chunks: Iterable[bytes] = app(environ, start_response)
    if isinstance(chunks, Sent):
        return GatewayReply(*started[-1], b"", chunks)
    if isinstance(chunks, GrowingFile):
        return GatewayReply(*started[-1], b"", growing=chunks)
    try:
        body = b"".join(chunks)
    finally:
        if close := getattr(chunks, "close", None):
            close()
    return GatewayReply(*started[-1], body)


def answer(app: Flask, environ: Environ, proto: RSGIHTTPProtocol) -> GatewayReply | None:
    """Sends the application's reply, from the thread that made it, since the event loop may be busy.

    Returns:
        A "too many requests" reply that must be delayed, or a reply whose file must be closed; otherwise None.
    """
    reply = call(app, environ)
    if reply.status == 429:
        return reply
    if reply.growing:
        proto.response_file(reply.status, reply.headers, PUMP.follow(reply.growing))
        return None
    if reply.file:  # as fast as the client takes it, without a thread of ours
        if isinstance(part := reply.file.file, FilePart):
            proto.response_file_range(reply.status, reply.headers, reply.file.path, part.first, part.end)
        else:
            proto.response_file(reply.status, reply.headers, reply.file.path)
        return reply
    proto.response_bytes(reply.status, reply.headers, reply.body)
    return None


def refuse(app: Flask, environ: Environ, error: HTTPException) -> GatewayReply:
    """Returns the application's reply to a request that it must not handle, with all its headers. The connection is closed afterwards."""
    bare = {name: value for name, value in environ.items() if name not in ("HTTP_COOKIE", "HTTP_TRANSFER_ENCODING", "CONTENT_LENGTH")}
    reply = call(app, {**bare, REFUSED: error})
    _clear_frames(error)
    return reply._replace(headers=[*reply.headers, ("Connection", "close")])


def explain(app: Flask, environ: Environ, error: Exception, proto: RSGIHTTPProtocol) -> GatewayReply | None:
    """Sends the application's reply to a request that failed before it reached the application; as `answer` does."""
    reply = answer(app, {**environ, REFUSED: error}, proto)
    _clear_frames(error)
    return reply


def _clear_frames(error: Exception) -> None:
    """Clears an error's frames, which would keep the body and the connection alive until garbage collection."""
    error.__traceback__ = error.__context__ = None
