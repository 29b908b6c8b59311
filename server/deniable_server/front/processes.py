"""Worker processes for computations: few, of lower priority, started on demand, and killed when the client disconnects."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from deniable_server.temporary_folder import make_folder
from deniable_server.web.offload import Begun, Gone, GoneError, ProcessReply, Task, TooMuchError

logger = logging.getLogger(__name__.partition(".")[0])

PREFIX = "deniable-computing-"
"""The beginning of the name of a folder with the files of these processes."""
TOO_MUCH = "this takes more than the {seconds} seconds of computing that a request may use: ask for less, or use the command line"
FAILED = "the computation ended without a result: ask for less, or use the command line"


def _ignore(reply: ProcessReply) -> None:
    """Returns at once: the caller waits for the result."""


class Worker:
    """A worker process. `command` starts it, `beginning` is sent to it first, and `folder` has its files."""

    def __init__(self, command: list[str], beginning: Any, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [*command, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.PIPE,  # the worker ends when this end is closed, or when this process ends
                process_group=0,
            )
        self._connection = Connection(ours.detach())
        self._connection.send((beginning, str(folder)))

    def run(self, task: Task, begun: Callable[[ProcessReply], None]) -> Any:
        """Runs a task and returns its result. Raises EOFError or OSError if the process has ended."""
        self._connection.send(task)
        while isinstance(message := self._connection.recv(), Begun):
            begun(message.reply)
        return message

    def kill(self) -> None:
        """Ends the process and those that it started, by SIGKILL."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> int:
        """Ends the process, removes its files and returns its exit code."""
        running = self._process.poll() is None
        if running:
            self.kill()
        self._connection.close()
        code = self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        return code


class Pool:
    """Up to `size` worker processes. `module` is what each runs; `beginning` is sent to each first, and must be picklable.

    Attributes:
        folder: The folder of their files, readable by its owner only.
    """

    def __init__(self, size: int, module: str, beginning: Any) -> None:
        self._command, self._beginning = [sys.executable, "-m", module], beginning
        self._room = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._closed = False
        self.folder = make_folder(PREFIX)

    def run(self, task: Task, gone: Gone, begun: Callable[[ProcessReply], None] = _ignore) -> Any:
        """Runs a task, as `Processes.run` says."""
        with self._room:
            if gone.happened:
                raise GoneError
            worker = self._acquire()
            try:
                gone.when(worker.kill)
                result = worker.run(task, begun)
                gone.when(None)
                if gone.happened:  # it was killed after its result
                    raise GoneError
            except BaseException as error:
                gone.when(None)
                code = self._ended(worker)
                if isinstance(error, EOFError | OSError):
                    raise self._why(code, task, gone) from None
                raise
            with self._lock:
                self._idle.append(worker)
        return result

    def close(self) -> None:
        """Ends all processes."""
        with self._lock:
            self._closed = True
            workers = set(self._all)
        for worker in workers:
            worker.kill()
        for worker in self._idle:
            worker.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _acquire(self) -> Worker:
        with self._lock:
            if self._closed:
                raise GoneError
            if self._idle:
                return self._idle.pop()
            worker = Worker(self._command, self._beginning, self.folder / secrets.token_hex(8))
            self._all.add(worker)
            return worker

    def _ended(self, worker: Worker) -> int:
        with self._lock:
            self._all.discard(worker)
        return worker.end()

    def _why(self, code: int, task: Task, gone: Gone) -> Exception:
        """Returns the error for a process that ended before it had a result."""
        if gone.happened or self._closed:
            return GoneError()
        if code == -signal.SIGXCPU:
            return TooMuchError(TOO_MUCH.format(seconds=task.seconds))
        logger.error("a computing process ended without a result, with exit code %d", code)
        return TooMuchError(FAILED)
