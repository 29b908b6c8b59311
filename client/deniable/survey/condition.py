"""Conditions for showing a question, on answers to earlier questions: options, sums and counts, and all or any of several conditions.

A condition names options. A range of numbers in a survey file becomes the bins in it, so devices compare categories only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

MOST = 20
"""Most conditions in one list."""
MOST_SUMMED = 100
"""Most questions in one sum."""
SUMS = ("score", "count")
"""The keys of a survey file that begin a condition on a sum."""


@dataclass(frozen=True)
class Condition:
    """Condition that the answer to an earlier question, by its id, is one of some options."""

    question: str
    options: tuple[str, ...]

    @property
    def conditions(self) -> Iterator[Condition]:
        """This condition only."""
        yield self

    @property
    def questions(self) -> tuple[str, ...]:
        """The ids of the questions that it depends on."""
        return (self.question,)

    def to_dict(self) -> dict[str, Any]:
        """Returns the condition as a survey file writes it."""
        return {"question": self.question, "is": list(self.options)}


@dataclass(frozen=True)
class SumCondition:
    """Condition that a sum over earlier questions is in a range. A question without an answer, or hidden, adds 0.

    Attributes:
        word: "score" for the sum of the scores of scales, "count" for the number of questions with one of some answers.
        questions: The ids of the questions.
        options: The counted answers; empty for scores.
        at_least: The least sum, or None.
        below: The end of the range, which is not in it, or None.
    """

    word: Literal["score", "count"]
    questions: tuple[str, ...]
    options: tuple[str, ...] = ()
    at_least: int | None = None
    below: int | None = None

    @property
    def conditions(self) -> Iterator[SumCondition]:
        """This condition only."""
        yield self

    @property
    def range(self) -> tuple[float, float]:
        """The range: its least sum, and its end, which is not in it."""
        return -math.inf if self.at_least is None else self.at_least, math.inf if self.below is None else self.below

    @property
    def range_in_words(self) -> str:
        """The range, such as "at least 3 and below 6"."""
        ends = (("at least", self.at_least), ("below", self.below))
        return " and ".join(f"{words} {end:,}" for words, end in ends if end is not None)

    def to_dict(self) -> dict[str, Any]:
        """Returns the condition as a survey file writes it."""
        ends = {key: end for key, end in (("at_least", self.at_least), ("below", self.below)) if end is not None}
        return {self.word: list(self.questions), **({"is": list(self.options)} if self.options else {}), **ends}


@dataclass(frozen=True)
class Combination:
    """Condition that all, or any, of its parts hold: single conditions, or combinations with the other word."""

    word: Literal["all", "any"]
    parts: tuple[Condition | SumCondition | Combination, ...]

    @property
    def conditions(self) -> Iterator[Condition | SumCondition]:
        """Every single condition in it, in order."""
        for part in self.parts:
            yield from part.conditions

    @property
    def questions(self) -> tuple[str, ...]:
        """The ids of the questions that it depends on, each once."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.questions))

    def to_dict(self) -> dict[str, Any]:
        """Returns the condition as a survey file writes it."""
        return {self.word: [part.to_dict() for part in self.parts]}


ShowIf = Condition | SumCondition | Combination


def in_words(show_if: ShowIf, phrase: Callable[[Condition | SumCondition], str]) -> str:
    """Returns a condition as a part of an English sentence; `phrase` words a single condition, such as "yes to smokes"."""

    def nested(part: ShowIf) -> str:
        return f"({in_words(part, phrase)})" if isinstance(part, Combination) else in_words(part, phrase)

    if not isinstance(show_if, Combination):
        return phrase(show_if)
    return (" and " if show_if.word == "all" else " or ").join(map(nested, show_if.parts))


def question_ids(source: Any) -> list[str]:
    """Returns the ids that a `show_if` of a survey file names, valid or not."""
    if not isinstance(source, Mapping):
        return []
    ids = [source["question"]] if isinstance(source.get("question"), str) else []
    for word in SUMS:
        names = source.get(word)
        ids += [name for name in (names if isinstance(names, list | tuple) else ()) if isinstance(name, str)]
    for word in ("all", "any"):
        parts = source.get(word)
        ids += [name for part in (parts if isinstance(parts, list | tuple) else ()) for name in question_ids(part)]
    return ids
