"""Import of sqlite-utils without pandas, which it would load if installed: a server's start would take half as long again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def _without(name: str) -> Iterator[None]:
    """Makes a module that is not loaded yet look uninstalled to the block."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # as Python's reference says, for a module that cannot be imported
    try:
        yield
    finally:
        del sys.modules[name]


with _without("pandas"):
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

__all__ = ["Database", "Migrations"]
