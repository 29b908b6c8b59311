"""Suppression of openpyxl's warnings, which quote cells.

Python's warning filters belong to all threads: another thread may reset them in the middle of a row. So openpyxl gets a `warn` function
that asks whether its thread is reading for `deniable`; for other callers it warns as before.
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
def without_warnings() -> Iterator[None]:
    """Suppresses the warnings of openpyxl, which must be installed, in this thread."""
    _replace_warn()
    before = _reading.set(True)
    try:
        yield
    finally:
        _reading.reset(before)


def _warn(message: str | Warning, category: type[Warning] | None = None, stacklevel: int = 1, source: object = None) -> None:
    if not _reading.get():
        warnings.warn(message, category, stacklevel + 1, source)


@cache
def _replace_warn() -> None:
    """Replaces `warn` once in a process: some of openpyxl's modules have the function, some ask `warnings` for it."""
    import openpyxl  # noqa: F401 - it imports every reader

    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] == "openpyxl"]:
        if vars(module).get("warn") is warnings.warn:
            setattr(module, "warn", _warn)  # noqa: B010 - a module has no such attribute for the checker of types
        if vars(module).get("warnings") is warnings:
            setattr(module, "warnings", SimpleNamespace(**{**vars(warnings), "warn": _warn}))  # noqa: B010
