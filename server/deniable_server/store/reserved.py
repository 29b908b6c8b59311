"""Reserved database connections: a thread that serves respondents says so once, and shares its connections with no other work."""

from __future__ import annotations

import threading

_thread = threading.local()


def reserve() -> None:
    """Reserves connections for this thread, which serves respondents and nothing else."""
    _thread.reserved = True


def is_reserved() -> bool:
    """Whether this thread serves respondents."""
    return getattr(_thread, "reserved", False)
