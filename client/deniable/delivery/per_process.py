"""What a process must not share with those that are forked from it: a connection, an open database.

On one connection two processes read each other's replies. SQLite forbids to carry an open file through a fork, and whoever closes a file
gives back what belongs to the others. So each process makes its own, and leaves what it inherited as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")
_forks = 0
"""How many lie between the first process and this one: no ancestor of a process has its number, as may be with those of the system."""


def _count() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count)


class PerProcess(Generic[T]):
    """Makes a thing when this process first asks for it."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: dict[int, T] = {}
        self._making: dict[int, Lock] = {}  # a child's own: its parent's may be held by a thread that it does not have

    def get(self) -> T:
        """This process's own. What an ancestor made stays referred to, since forgetting it could close it."""
        with self._making.setdefault(_forks, Lock()):
            if _forks not in self._made:
                self._made[_forks] = self._make()
            return self._made[_forks]

    def given_up(self) -> T | None:
        """This process's own for the last time, for whoever closes it; None where it made none."""
        return self._made.pop(_forks, None)
