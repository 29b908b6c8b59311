"""Conditions of questions: after which answers to earlier questions one is shown; single conditions, or all or any of several.

A condition names options. A range of numbers in a survey file becomes the bins that it consists of, so devices compare categories only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

MOST = 20
"""Most conditions in one list."""


@dataclass(frozen=True)
class Condition:
    """Condition that one of `options` was answered to the earlier question with this id."""

    question: str
    options: tuple[str, ...]

    @property
    def conditions(self) -> Iterator[Condition]:
        """This condition only."""
        yield self

    def to_dict(self) -> dict[str, Any]:
        """Returns the condition as a survey file writes it."""
        return {"question": self.question, "is": list(self.options)}


@dataclass(frozen=True)
class Joined:
    """Condition that all of `parts` hold, or any of them: single conditions, or lists joined by the other word."""

    word: Literal["all", "any"]
    parts: tuple[Condition | Joined, ...]

    @property
    def conditions(self) -> Iterator[Condition]:
        """Every condition in it, in order."""
        for part in self.parts:
            yield from part.conditions

    def to_dict(self) -> dict[str, Any]:
        """Returns the condition as a survey file writes it."""
        return {self.word: [part.to_dict() for part in self.parts]}


ShowIf = Condition | Joined


def in_words(show_if: ShowIf, one: Callable[[Condition], str]) -> str:
    """Returns a condition as a part of an English sentence; `one` returns a single one's words, such as "yes to smokes"."""

    def inside(part: ShowIf) -> str:
        return in_words(part, one) if isinstance(part, Condition) else f"({in_words(part, one)})"

    if isinstance(show_if, Condition):
        return one(show_if)
    return (" and " if show_if.word == "all" else " or ").join(map(inside, show_if.parts))


def named(written: Any) -> list[str]:
    """Returns the ids that a `show_if` of a survey file names, valid or not."""
    if not isinstance(written, Mapping):
        return []
    names = [written["question"]] if isinstance(written.get("question"), str) else []
    for word in ("all", "any"):
        parts = written.get(word)
        names += [name for part in (parts if isinstance(parts, list | tuple) else ()) for name in named(part)]
    return names
