"""Downloads: files that computing processes write, sent while they grow.

Clients who request the same file of the same records share one build. A complete file is kept for a while, so that an interrupted
download can be resumed (RFC 9110, section 14). A build that no client waits for any more is ended.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any, Literal, cast

from flask import Response, request

from deniable_server.context import current_services, current_store
from deniable_server.store.errors import UnavailableError
from deniable_server.web.offload import (
    GONE,
    SECONDS,
    Gone,
    GoneError,
    Processes,
    ProcessReply,
    RemovedFile,
    Task,
    file_response,
    result_of,
    task_of,
)
from deniable_server.web.outlet import Outlet

KEPT_SECONDS = 300.0
"""How long a complete file is kept after its last use."""
KEPT_FILES = 4
"""The most files that are kept without a client."""
MOST_BUILDS = 8
"""The most files that are written, or wait for a process, at a time."""
MOST_FOLLOWERS = 64
"""The most clients that follow growing files; others wait for the end. Each takes one of granian's 512 threads for files."""

DESCRIPTORS = Path("/dev/fd")
"""The descriptors of this process; the front needs them to end a reply visibly incomplete."""

Make = Callable[..., None]
"""Writes a file: of a store, with arguments, to an outlet."""


def reply(make: Make, version: str, *args: str) -> Response:
    """Returns the response with the file that `make(store, *args, outlet)` writes, in a computing process if there is one.

    Args:
        make: A function of a module.
        version: The state of the records, for clients who may share the file.
        args: The arguments, which must determine the file of these records, together with the request's survey.

    Raises:
        GoneError: The client has disconnected.
        UnavailableError: Too many files are being written.
        Exception: `make` raises it before it has written much.
    """
    name = f"{make.__module__}:{make.__qualname__}"
    downloads = current_services().find(Downloads)
    if downloads is None:
        return make_whole(name, *args)
    build = downloads.join((name, *args), version, task_of(f"{__name__}:make_whole", (name, *args), {}, SECONDS))
    try:
        downloads.wait(build, request.environ.get(GONE) or Gone(), whole=not (_may_grow() and downloads.has_room))
        return downloads.growing(build) if not build.is_complete else downloads.complete(build)
    except BaseException:
        downloads.leave(build)
        raise


def make_whole(name: str, *args: str) -> Response:
    """Returns the response with a complete file, made in this process. `name` is the function, as `module:name`."""
    module, function = name.split(":")
    make: Make = getattr(import_module(module), function)
    outlet = Outlet()
    try:
        make(current_store(), *args, outlet)
        return outlet.finish()
    except BaseException:
        outlet.discard()
        raise


def _may_grow() -> bool:
    """Returns whether the client can be sent a growing file and notices if it fails: that takes a chunked reply, so HTTP/1.1."""
    is_plain = request.method == "GET" and "Range" not in request.headers
    return is_plain and request.environ["SERVER_PROTOCOL"] == "HTTP/1.1"


def _requested_part(tag: str, size: int) -> tuple[int, int] | None:
    """Returns the first byte that the request asks for and the byte behind the last, or an empty part if there is no such byte.

    None for the whole file: without a range, for several ranges, and if the client has the beginning of another file (If-Range).
    """
    requested = request.range
    if request.method != "GET" or requested is None or requested.units != "bytes" or len(requested.ranges) != 1:
        return None
    if request.headers.get("If-Range", f'"{tag}"') != f'"{tag}"':
        return None
    return requested.range_for_length(size) or (0, 0)


class Build:
    """A file that a computing process writes; `Downloads` has the lock for its attributes.

    Attributes:
        what: The function and its arguments.
        version: The state of the records.
        gone: Ends the process when it is set.
        reply: The response with the file, once the file has a beginning.
        outcome: The result of the process, or the error by which it ended; None before.
        clients: How many clients wait for it or follow it.
        used: When the last client left, in seconds of the system's clock.
    """

    def __init__(self, what: tuple[str, ...], version: str) -> None:
        self.what, self.version, self.gone = what, version, Gone()
        self.reply: ProcessReply | None = None
        self.outcome: Any = None
        self.clients, self.used = 0, 0.0

    @property
    def is_complete(self) -> bool:
        """Whether the file is complete."""
        return isinstance(self.outcome, ProcessReply)

    @property
    def has_failed(self) -> bool:
        """Whether the process ended without a complete file."""
        return self.outcome is not None and not self.is_complete

    @property
    def path(self) -> Path:
        """The file."""
        return Path(cast(str, cast(ProcessReply, self.reply).path))

    def remove(self) -> None:
        """Deletes the file's name. Clients that have opened it keep its content."""
        if self.reply is not None:
            self.path.unlink(missing_ok=True)


class GrowingFile:
    """The body of a response: a file that is sent while it grows.

    Attributes:
        path: Its name, in a folder that only this server may use.
    """

    def __init__(self, downloads: Downloads, build: Build) -> None:
        self._downloads, self._build = downloads, build
        self.path = build.path
        self._file = open(self.path, "rb", buffering=0)  # noqa: SIM115 - closed by the sender

    def progress(self) -> tuple[Literal["growing", "complete", "failed"], int]:
        """Returns the state of the file and how many bytes it has now."""
        build = self._build
        state: Any = "complete" if build.is_complete else "failed" if build.has_failed else "growing"  # before the size, which may grow
        return state, os.fstat(self._file.fileno()).st_size

    def read(self, first: int, most: int) -> bytes:
        """Returns at most so many bytes from the byte `first`."""
        return os.pread(self._file.fileno(), most, first)

    def close(self) -> None:
        """Ends the use of the file."""
        if not self._file.closed:
            self._file.close()
            self._downloads.unfollow(self._build)


class FilePart(RemovedFile):
    """A part of a file, which is deleted when it is closed.

    Attributes:
        first: The first byte.
        end: The byte behind the last.
    """

    def __init__(self, path: str, first: int, end: int) -> None:
        super().__init__(path)
        self.select(first, end)

    def select(self, first: int, end: int) -> None:
        """Chooses another part."""
        self.first, self.end = first, end
        self.seek(first)

    def read(self, size: int | None = -1, /) -> bytes:
        """Returns bytes up to the end of the part."""
        left = self.end - self.tell()
        return super().read(left if size is None or size < 0 else min(size, left))


class Downloads:
    """The files that are being written or kept.

    Args:
        processes: Write them.
    """

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._changed = threading.Condition()
        self._builds: dict[tuple[str, ...], Build] = {}
        self._running = self._followers = 0
        self._is_swept = False
        self._salt = secrets.token_bytes(16)  # other releases of this program may write other bytes

    def join(self, what: tuple[str, ...], version: str, task: Task) -> Build:
        """Returns the build of this file of these records, for one more client, who has to leave it.

        Raises:
            UnavailableError: Too many files are being written.
        """
        with self._changed:
            build = self._builds.get(what)
            if build is None or build.version != version or build.has_failed:
                if self._running >= MOST_BUILDS:
                    raise UnavailableError("others are downloading data just now: try again in a moment")
                if build and not build.clients:
                    build.remove()
                build = self._builds[what] = Build(what, version)
                self._running += 1
                threading.Thread(target=self._run, args=(build, task), name="deniable-build", daemon=True).start()
            build.clients += 1
            return build

    @property
    def has_room(self) -> bool:
        """Whether one more client may follow a growing file, and would notice that it failed."""
        return self._followers < MOST_FOLLOWERS and DESCRIPTORS.is_dir()

    def leave(self, build: Build) -> None:
        """Ends a client's use of a build. Without clients, an incomplete one is ended and a complete one is kept for a while."""
        with self._changed:
            build.clients -= 1
            if build.clients:
                return
            if build.is_complete and self._builds.get(build.what) is build:
                self._keep(build)
                return
            if self._builds.get(build.what) is build:
                del self._builds[build.what]
            build.remove()
        build.gone.set()

    def wait(self, build: Build, gone: Gone, *, whole: bool) -> None:
        """Waits until the file has a beginning, or `whole`, is complete.

        Raises:
            GoneError: The client has disconnected.
            Exception: The error by which the build has ended.
        """
        gone.when(self._wake)
        with self._changed:
            self._changed.wait_for(lambda: gone.happened or build.outcome is not None or (build.reply is not None and not whole))
        gone.when(None)
        if gone.happened:
            raise GoneError
        if isinstance(build.outcome, Exception):
            raise build.outcome
        result_of(build.outcome)

    def growing(self, build: Build) -> Response:
        """Returns the response with a growing file. The client leaves the build when the file is closed."""
        with self._changed:
            begun, body = cast(ProcessReply, build.reply), GrowingFile(self, build)
            self._followers += 1
        response = Response(status=begun.status)
        response.headers.clear()
        response.headers.extend(begun.headers)
        response.response = cast(Any, body)
        response.direct_passthrough = True
        self._tag(build, response)
        return response

    def unfollow(self, build: Build) -> None:
        """Ends a client's use of a growing file."""
        with self._changed:
            self._followers -= 1
        self.leave(build)

    def complete(self, build: Build) -> Response:
        """Returns the response with a complete file, or with the part of it that the request asks for; and leaves the build."""
        path, size = f"{build.path}-{secrets.token_hex(8)}", build.path.stat().st_size
        os.link(build.path, path)
        response = file_response(file := FilePart(path, 0, size), cast(ProcessReply, build.reply).headers)
        response.content_length = size
        tag = self._tag(build, response)
        if tag is not None and (part := _requested_part(tag, size)):
            if part[0] < part[1]:
                file.select(*part)
                response.status_code, response.content_length = 206, part[1] - part[0]
                response.headers["Content-Range"] = f"bytes {part[0]}-{part[1] - 1}/{size}"
            else:
                response.close()
                response = Response(status=416, headers={"Content-Range": f"bytes */{size}"})
        self.leave(build)
        return response

    def _run(self, build: Build, task: Task) -> None:
        """Runs the process that writes the file."""

        def begin(begun: ProcessReply) -> None:
            with self._changed:
                build.reply = begun
                self._changed.notify_all()

        try:
            outcome = self._processes.run(task, build.gone, begin)
        except Exception as error:  # raised for each client
            outcome = error
        with self._changed:
            self._running -= 1
            if isinstance(outcome, ProcessReply):
                build.remove()
                build.reply = outcome
            build.outcome = outcome
            if not build.clients:
                build.remove()
            self._changed.notify_all()

    def _tag(self, build: Build, response: Response) -> str | None:
        """Replaces the version of a response by its ETag, and returns that; None without a version."""
        version, _ = response.get_etag()
        if version is None:
            return None
        tag = hashlib.sha256(b"\0".join([self._salt, version.encode(), *(part.encode() for part in build.what)])).hexdigest()[:32]
        response.set_etag(tag)
        response.accept_ranges = "bytes"
        return tag

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _keep(self, build: Build) -> None:
        """Keeps a complete file without a client, and the newest others up to KEPT_FILES."""
        build.used = monotonic()
        self._builds[build.what] = self._builds.pop(build.what)  # the newest
        for each in self._idle()[:-KEPT_FILES]:
            self._drop(each)
        self._plan_sweep()

    def _idle(self) -> list[Build]:
        """Returns the complete files without a client, the newest last."""
        return [build for build in self._builds.values() if build.is_complete and not build.clients]

    def _plan_sweep(self) -> None:
        """Starts a timer for the time at which the oldest file is to be deleted, unless one runs."""
        if (idle := self._idle()) and not self._is_swept:
            timer = threading.Timer(max(0.0, idle[0].used + KEPT_SECONDS - monotonic()), self._sweep)
            timer.daemon = self._is_swept = True
            timer.start()

    def _sweep(self) -> None:
        """Deletes files that were not used for KEPT_SECONDS."""
        with self._changed:
            for build in self._idle():
                if monotonic() >= build.used + KEPT_SECONDS:
                    self._drop(build)
            self._is_swept = False
            self._plan_sweep()

    def _drop(self, build: Build) -> None:
        del self._builds[build.what]
        build.remove()
