"""What openpyxl warns of while it reads is said to nobody: its warnings quote cells.

Python's filters of warnings belong to all threads: another one may set them back in the middle of a row. So openpyxl gets a `warn` that
asks whether its thread is reading for us; for everybody else it warns as before.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import SimpleNamespace

_reading = ContextVar("reading", default=False)


@contextmanager
def unwarned() -> Iterator[None]:
    """In here openpyxl, which must be installed, reads without a word."""
    _take_its_place()
    before = _reading.set(True)
    try:
        yield
    finally:
        _reading.reset(before)


def _warn(message: str | Warning, category: type[Warning] | None = None, stacklevel: int = 1, source: object = None) -> None:
    if not _reading.get():
        warnings.warn(message, category, stacklevel + 1, source)


@cache
def _take_its_place() -> None:
    """Once in a process: some of openpyxl's modules have the function, some ask `warnings` for it."""
    import openpyxl  # noqa: F401 - all that reads comes with it

    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] == "openpyxl"]:
        if vars(module).get("warn") is warnings.warn:
            setattr(module, "warn", _warn)  # noqa: B010 - a module has no such attribute for the checker of types
        if vars(module).get("warnings") is warnings:
            setattr(module, "warnings", SimpleNamespace(**{**vars(warnings), "warn": _warn}))  # noqa: B010
