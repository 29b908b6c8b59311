"""Conditions for showing a question, on answers to earlier questions: a single condition, or all or any of several.

A condition names options. A range of numbers in a survey file becomes the bins in it, so devices compare categories only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

MOST = 20
"""Most conditions in one list."""


@dataclass(frozen=True)
class Condition:
    """Condition that the answer to an earlier question, by its id, is one of some options."""

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
class Combination:
    """Condition that all, or any, of its parts hold: single conditions, or combinations with the other word."""

    word: Literal["all", "any"]
    parts: tuple[Condition | Combination, ...]

    @property
    def conditions(self) -> Iterator[Condition]:
        """Every single condition in it, in order."""
        for part in self.parts:
            yield from part.conditions

    def to_dict(self) -> dict[str, Any]:
        """Returns the condition as a survey file writes it."""
        return {self.word: [part.to_dict() for part in self.parts]}


ShowIf = Condition | Combination


def in_words(show_if: ShowIf, phrase: Callable[[Condition], str]) -> str:
    """Returns a condition as a part of an English sentence; `phrase` words a single condition, such as "yes to smokes"."""

    def nested(part: ShowIf) -> str:
        return in_words(part, phrase) if isinstance(part, Condition) else f"({in_words(part, phrase)})"

    if isinstance(show_if, Condition):
        return phrase(show_if)
    return (" and " if show_if.word == "all" else " or ").join(map(nested, show_if.parts))


def question_ids(source: Any) -> list[str]:
    """Returns the ids that a `show_if` of a survey file names, valid or not."""
    if not isinstance(source, Mapping):
        return []
    ids = [source["question"]] if isinstance(source.get("question"), str) else []
    for word in ("all", "any"):
        parts = source.get(word)
        ids += [name for part in (parts if isinstance(parts, list | tuple) else ()) for name in question_ids(part)]
    return ids
