"""After which answers to earlier questions a question is shown: one condition, or several of which all or any must hold.

A condition names options. A range of numbers, as a survey file may say it, becomes the bins that it consists of, so that all that
devices compare is which category an answer is in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

MOST = 20
"""The conditions that one list may have."""


@dataclass(frozen=True)
class Condition:
    """One of `options` was answered to the earlier question with this id."""

    question: str
    options: tuple[str, ...]

    @property
    def conditions(self) -> Iterator[Condition]:
        """Itself, as the only one."""
        yield self

    def to_dict(self) -> dict[str, Any]:
        """As a survey file says it."""
        return {"question": self.question, "is": list(self.options)}


@dataclass(frozen=True)
class Joined:
    """All of `parts` hold, or any of them: conditions, or such of which the other word is said."""

    word: Literal["all", "any"]
    parts: tuple[Condition | Joined, ...]

    @property
    def conditions(self) -> Iterator[Condition]:
        """Every condition in it, in order."""
        for part in self.parts:
            yield from part.conditions

    def to_dict(self) -> dict[str, Any]:
        """As a survey file says it."""
        return {self.word: [part.to_dict() for part in self.parts]}


ShowIf = Condition | Joined


def in_words(show_if: ShowIf, one: Callable[[Condition], str]) -> str:
    """A condition as a part of an English sentence; `one` says each single one, such as "yes to smokes"."""

    def inside(part: ShowIf) -> str:
        return in_words(part, one) if isinstance(part, Condition) else f"({in_words(part, one)})"

    if isinstance(show_if, Condition):
        return one(show_if)
    return (" and " if show_if.word == "all" else " or ").join(map(inside, show_if.parts))


def named(written: Any) -> list[str]:
    """The ids that a `show_if` names in a survey file, right or wrong."""
    if not isinstance(written, Mapping):
        return []
    found = [written["question"]] if isinstance(written.get("question"), str) else []
    for word in ("all", "any"):
        parts = written.get(word)
        found += [name for part in (parts if isinstance(parts, list | tuple) else ()) for name in named(part)]
    return found
