"""Reserved database connections: threads that serve respondents share their connections with no other work."""

from __future__ import annotations

import threading

_thread = threading.local()


def reserve() -> None:
    """Reserves connections for this thread, which serves respondents only."""
    _thread.reserved = True


def is_reserved() -> bool:
    """Returns whether this thread serves respondents."""
    return getattr(_thread, "reserved", False)
