"""Computations that go wrong, for the processes that compute: each is named by a test as `module:name`."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from flask import request

from deniable.errors import Problem, SurveyError
from deniable_server.context import current_store


def about() -> tuple[int, str]:
    """Its process's niceness, and the address that its request has."""
    return os.getpriority(os.PRIO_PROCESS, 0), request.path


def process() -> int:
    """Which process it runs in."""
    return os.getpid()


def endless(beginning: str) -> None:
    """Never ends, and says in a file that it has begun."""
    Path(beginning).write_text(str(os.getpid()))
    while True:
        time.sleep(1)


def burning() -> None:
    """Computes for ever."""
    while True:
        pass


def hungry() -> int:
    """Takes more memory than there may be."""
    return len(b"x" * (8 << 30))


def refusing() -> None:
    """Fails as a file with mistakes does."""
    raise SurveyError([Problem("file", "must be right", 3)])


def failing(secret: str) -> None:
    """Fails with a message that must not be written anywhere."""
    raise ValueError(secret)


def writing() -> None:
    """Tries to change the database."""
    current_store().surveys.set_open("study", False)


def dying() -> None:
    """Ends its process at once."""
    os.kill(os.getpid(), signal.SIGKILL)
