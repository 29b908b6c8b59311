"""Redaction: the placeholder for an argument that must not be shown."""

from __future__ import annotations

from typing import Any


class Redacted:
    """Placeholder for an invalid argument, which no message and no frame shows: it may be answers passed by mistake."""

    def __init__(self, argument: Any) -> None:
        self._kind = type(argument).__name__

    def __repr__(self) -> str:
        return self._kind
