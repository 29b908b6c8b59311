"""Computation offload: a function that computes for researchers runs in a process of lower priority, while its request waits.

The process is killed when the client disconnects. The request is authorized first, in the server's process, which counts wrong
passwords; the other process only reads. Without such processes, as in tests of the application, the function runs in place.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from io import FileIO
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from flask import Response, g, has_request_context, request, send_file, session
from flask_wtf.csrf import generate_csrf
from werkzeug.exceptions import HTTPException

from deniable.errors import DeniableError
from deniable_server.context import current_services
from deniable_server.web.audience import current_audience
from deniable_server.web.lanes import computing

P = ParamSpec("P")
T = TypeVar("T")
GONE = "deniable.gone"  # the key of the environ with the Gone of a request
ANNOUNCE = "deniable.announce"  # in a computing process, the key of the environ with the function that announces a growing file
MESSAGES = "_flashes"  # Flask's key of the session with the messages for the next page
SECONDS = 300
"""The most seconds of computing for one request."""
UPLOAD_SECONDS = 20
"""The most seconds of computing for parsing an upload."""
_SENT = (str, int, float, bool, tuple, type(None))
_IDENTITY = ("user", "role", "operator")


class TooMuchError(DeniableError):
    """A request takes more computing time, or more memory, than allowed."""


class GoneError(Exception):
    """The client has disconnected and does not wait for the reply."""


class Gone:
    """Whether a request's client has disconnected, and what to do when it does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._happened = False
        self._act: Callable[[], None] | None = None

    @property
    def happened(self) -> bool:
        """Whether the client has disconnected."""
        return self._happened

    def set(self) -> None:
        """Records that the client has disconnected, and calls the registered function."""
        with self._lock:
            self._happened, act = True, self._act
            if act:
                act()

    def when(self, act: Callable[[], None] | None) -> None:
        """Registers the function to call when the client disconnects; None for none. Raises GoneError if it already has."""
        with self._lock:
            if self._happened and act:
                raise GoneError
            self._act = act


@dataclass(frozen=True)
class Task:
    """A call for another process.

    Attributes:
        function: The function, as `module:name`.
        arguments: Its arguments.
        keywords: Its keyword arguments.
        seconds: The most seconds of computing.
        environ: The request's WSGI environ, without objects that cannot be pickled.
        session: The request's session.
        identity: The researcher who sent the request, with the role and rights that were checked.
    """

    function: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    seconds: int
    environ: dict[str, Any]
    session: dict[str, Any] = field(repr=False)
    identity: dict[str, Any]


@dataclass(frozen=True)
class ProcessReply:
    """A reply from another process. `path` is the file with its body, which its sender deletes."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    path: str | None = None


@dataclass(frozen=True)
class Begun:
    """Message of a process that has begun to write the file of its reply, before its result."""

    reply: ProcessReply


@dataclass(frozen=True)
class Failure:
    """An error from another process, whatever arguments its constructor requires."""

    kind: type[Exception]
    arguments: tuple[Any, ...]
    state: dict[str, Any]

    @classmethod
    def of(cls, error: Exception) -> Failure:
        """Returns a picklable copy of an error."""
        return cls(type(error), error.args, error.__dict__)

    def error(self) -> Exception:
        """Returns the error, to be raised here."""
        error: Exception = self.kind.__new__(self.kind, *self.arguments)
        error.__dict__.update(self.state)
        return error


@dataclass(frozen=True)
class Broken:
    """The reply to an unexpected error, which the other process has logged."""

    reply: ProcessReply


@dataclass(frozen=True)
class MessagesShown:
    """A result whose page has shown the messages of the session; they are removed from it, so that no other page repeats them."""

    result: Any


class Processes(Protocol):
    """Interface of a pool of computing processes."""

    def run(self, task: Task, gone: Gone, begun: Callable[[ProcessReply], None] = ...) -> Any:
        """Runs a task. Returns the function's result, a response as ProcessReply, or an error as Failure or Broken.

        `begun` is called with the reply as soon as its file has a beginning, if the function announces that.

        Raises:
            TooMuchError: It took too much computing.
            GoneError: The client has disconnected.
        """


@dataclass(frozen=True)
class Offload:
    """The computing processes of an application."""

    processes: Processes


def computed(seconds: int = SECONDS) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Marks a function, such as a view, that runs in another process.

    Its arguments and its result must be picklable; the result may be a response.

    Args:
        seconds: The most seconds of computing.
    """

    def mark(function: Callable[P, T]) -> Callable[P, T]:
        name = f"{function.__module__}:{function.__qualname__}"

        @wraps(function)
        def elsewhere(*args: P.args, **kwargs: P.kwargs) -> T:
            offload = current_services().find(Offload) if has_request_context() else None
            if offload is None:
                return function(*args, **kwargs)
            done = result_of(offload.processes.run(task_of(name, args, kwargs, seconds), request.environ.get(GONE) or Gone()))
            return cast(T, _response(done) if isinstance(done, ProcessReply) else done)

        return computing(elsewhere)

    return mark


def result_of(outcome: Any) -> Any:
    """Returns what a process has returned; raises the error that it sent instead."""
    if isinstance(outcome, MessagesShown):
        session.pop(MESSAGES, None)
        outcome = outcome.result
    if isinstance(outcome, Failure):
        raise outcome.error()
    if isinstance(outcome, Broken):
        raise HTTPException(response=_response(outcome.reply))
    return outcome


def task_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], seconds: int) -> Task:
    """Returns a call of the function `module:name` for the current request."""
    if current_audience().csrf:
        generate_csrf()  # in the session of this process, which sets the cookie
    environ = {key: value for key, value in request.environ.items() if type(value) in _SENT}
    identity = {key: g.get(key) for key in _IDENTITY}
    return Task(name, args, kwargs, seconds, environ, dict(session), identity)


def _response(reply_file: ProcessReply) -> Response:
    if reply_file.path is None:
        return Response(reply_file.body, reply_file.status, reply_file.headers)
    return file_response(RemovedFile(reply_file.path), reply_file.headers)


def file_response(file: RemovedFile, headers: list[tuple[str, str]]) -> Response:
    """Returns a response whose body is a file."""
    response = send_file(file, "application/octet-stream", conditional=False, etag=False)
    response.headers.clear()
    response.headers.extend(headers)
    return response


class RemovedFile(FileIO):
    """A file that is deleted when it is closed."""

    def close(self) -> None:
        """Closes and deletes it."""
        super().close()
        Path(str(self.name)).unlink(missing_ok=True)
