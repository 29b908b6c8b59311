"""Rules of answers, in words for messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from deniable.survey.types import TYPES


class Encodable(Protocol):
    """The part of a question that encoding needs."""

    @property
    def id(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def categories(self) -> tuple[str, ...]: ...
    @property
    def required(self) -> bool: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...


def allowed(question: Encodable) -> str:
    """Returns the valid answers, for a message: a range, or the categories, the first few of many."""
    if wording := TYPES[question.type].wording(question.settings):
        return wording
    shown = ", ".join(question.categories[:8])
    return f"one of {shown}" if len(question.categories) <= 8 else f"one of {shown}, … ({len(question.categories):,} in all)"
