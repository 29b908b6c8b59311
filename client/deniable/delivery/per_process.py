"""Per-process resources, which forked processes must not share: a connection, an open database.

On a shared connection two processes read each other's replies. SQLite forbids carrying an open file through a fork, and closing it
releases the other process's locks. So each process opens its own, and leaves inherited ones untouched.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")
_forks = 0
"""Number of forks between the first process and this one; unlike the system's process ids, no ancestor has the same number."""


def _count() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count)


class PerProcess(Generic[T]):
    """Creates a resource when this process first needs it."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._instances: dict[int, T] = {}
        self._making: dict[int, Lock] = {}  # one for each process: a thread that a child lacks may hold its parent's

    def get(self) -> T:
        """Returns this process's instance. An ancestor's stays referenced, since forgetting it could close it."""
        with self._making.setdefault(_forks, Lock()):
            if _forks not in self._instances:
                self._instances[_forks] = self._make()
            return self._instances[_forks]

    def detach(self) -> T | None:
        """Detaches and returns this process's instance, to be closed; None if it was not created."""
        return self._instances.pop(_forks, None)
