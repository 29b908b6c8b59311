"""Rules of answers, in words for messages."""

from __future__ import annotations

from typing import Protocol

from deniable.survey.types.base import QuestionType


class Encodable(Protocol):
    """The part of a question that encoding needs."""

    @property
    def id(self) -> str:
        """The question's id."""

    @property
    def kind(self) -> QuestionType:
        """The question's type."""

    @property
    def categories(self) -> tuple[str, ...]:
        """The labels of the categories, including "no answer"."""

    @property
    def required(self) -> bool:
        """Whether the question must be answered."""


def allowed(question: Encodable) -> str:
    """Returns the valid answers, for a message: a range, or the categories, the first few of many."""
    if wording := question.kind.wording:
        return wording
    first = ", ".join(question.categories[:8])
    return f"one of {first}" if len(question.categories) <= 8 else f"one of {first}, … ({len(question.categories):,} in all)"
