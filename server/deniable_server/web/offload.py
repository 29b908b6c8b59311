"""Computation offload: a function that computes for researchers runs in a process of lower priority, and its request waits for it.

The process is killed when the client has gone. The request is admitted before, in the server's own process, where the limits of passwords
are counted; the other process only reads. Where there is none, as in tests of the application alone, the function runs where it is.
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
SECONDS = 300
"""Of computing, for one request."""
UPLOAD_SECONDS = 20
"""Of computing, for what somebody has sent to be parsed."""
_SENT = (str, int, float, bool, tuple, type(None))
_KNOWN = ("user", "role", "operator")


class TooMuchError(DeniableError):
    """It takes more computing, or more memory, than a request may have."""


class GoneError(Exception):
    """The client of a request has gone; nobody waits for the reply."""


class Gone:
    """Whether the client of a request has gone, and what to do when it goes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._happened = False
        self._act: Callable[[], None] | None = None

    @property
    def happened(self) -> bool:
        """Whether the client has gone."""
        return self._happened

    def set(self) -> None:
        """The client has gone."""
        with self._lock:
            self._happened, act = True, self._act
            if act:
                act()

    def when(self, act: Callable[[], None] | None) -> None:
        """Does this when the client goes; None: nothing any more. Raises GoneError where it has gone."""
        with self._lock:
            if self._happened and act:
                raise GoneError
            self._act = act


@dataclass(frozen=True)
class Task:
    """A call for another process. function: `module:name`; seconds: of computing; environ, session, known: what its request has."""

    function: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    seconds: int
    environ: dict[str, Any]
    session: dict[str, Any] = field(repr=False)
    known: dict[str, Any]


@dataclass(frozen=True)
class Made:
    """A reply that another process made. path: of the file that is its body, which whoever sends it removes."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    path: str | None = None


@dataclass(frozen=True)
class Failure:
    """An error on its way from another process, whatever its constructor wants."""

    kind: type[Exception]
    arguments: tuple[Any, ...]
    state: dict[str, Any]

    @classmethod
    def of(cls, error: Exception) -> Failure:
        return cls(type(error), error.args, error.__dict__)

    def error(self) -> Exception:
        """The error, to be raised here."""
        error: Exception = self.kind.__new__(self.kind, *self.arguments)
        error.__dict__.update(self.state)
        return error


@dataclass(frozen=True)
class Broken:
    """The reply to an error that nobody expects, which the other process has logged."""

    reply: Made


class Processes(Protocol):
    """Processes that do tasks."""

    def run(self, task: Task, gone: Gone) -> Any:
        """Returns what the function returned, a response as Made, an error as Failure or Broken. Raises TooMuchError and GoneError."""


@dataclass(frozen=True)
class Offload:
    """The processes that compute for an application's requests."""

    processes: Processes


def computed(seconds: int = SECONDS) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Marks a function, such as a view, that runs in another process. What it is given and returns must be picklable, or a response.

    seconds: of computing, after which it is ended.
    """

    def mark(function: Callable[P, T]) -> Callable[P, T]:
        name = f"{function.__module__}:{function.__qualname__}"

        @wraps(function)
        def elsewhere(*args: P.args, **kwargs: P.kwargs) -> T:
            offload = current_services().find(Offload) if has_request_context() else None
            if offload is None:
                return function(*args, **kwargs)
            done = offload.processes.run(_task(name, args, kwargs, seconds), request.environ.get(GONE) or Gone())
            if isinstance(done, Failure):
                raise done.error()
            if isinstance(done, Broken):
                raise HTTPException(response=_response(done.reply))
            return cast(T, _response(done) if isinstance(done, Made) else done)

        return computing(elsewhere)

    return mark


def _task(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], seconds: int) -> Task:
    if current_audience().csrf:
        generate_csrf()  # in the session of this process, which sets the cookie
    environ = {key: value for key, value in request.environ.items() if type(value) in _SENT}
    known = {key: g.get(key) for key in _KNOWN}
    return Task(name, args, kwargs, seconds, environ, dict(session), known)


def _response(made: Made) -> Response:
    if made.path is None:
        return Response(made.body, made.status, made.headers)
    response = send_file(_Removed(made.path), "application/octet-stream", conditional=False, etag=False)
    response.headers.clear()
    response.headers.extend(made.headers)
    return response


class _Removed(FileIO):
    """A file that is removed when it is closed."""

    def close(self) -> None:
        super().close()
        Path(str(self.name)).unlink(missing_ok=True)
