"""A question as it was validated: what is asked, what can be answered, and the coins that hide the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.mechanism import Channel
from deniable.survey.types import TYPES


@dataclass(frozen=True)
class Condition:
    """What must have been answered for a question to be shown: one of `options` of the earlier question with this id."""

    question: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """One question. `settings` holds the keys that only its type has; `declared_epsilon` is an exact binary number.

    A question that is not required has one more category, the last: no answer. `labels` are those of a multiple
    choice's items; categories and channel are then those of each item.
    """

    id: str
    text: str
    type: str
    declared_epsilon: float
    settings: Mapping[str, Any]
    categories: tuple[str, ...]
    channel: Channel
    required: bool = True
    labels: tuple[str, ...] = ()
    show_if: Condition | None = None

    @property
    def k(self) -> int:
        return self.channel.k

    @property
    def d(self) -> int:
        return self.channel.d

    @property
    def keep_threshold(self) -> int:
        return self.channel.keep_threshold

    @cached_property
    def epsilon(self) -> float:
        """The privacy loss that the thresholds really give, at most the declared one."""
        return math.fsum([self.channel.epsilon] * max(1, len(self.labels)))

    @cached_property
    def odds(self) -> Fraction:
        """e^epsilon, exactly: the largest ratio of the chances of one report under two answers, all items together."""
        return self.channel.odds ** max(1, len(self.labels))

    @cached_property
    def items(self) -> tuple[Question, ...]:
        """What is randomized by itself: the question, or a yes/no question for each option of a multiple choice."""
        return tuple(
            Question(
                f"{self.id}[{label}]",
                f"{self.text} {label}",
                TYPES[self.type].item_type,
                self.channel.epsilon,
                {},
                self.categories,
                self.channel,
                self.required,
            )
            for label in self.labels
        ) or (self,)

    @property
    def options(self) -> tuple[str, ...]:
        """The survey's own texts that respondents choose from; none where the page has words or a field for it."""
        return TYPES[self.type].options(self.settings)

    @property
    def rounds(self) -> bool:
        """Whether an answer may stand between two categories, and is rounded to one of them at random."""
        return TYPES[self.type].rounds(self.settings)

    @property
    def scores(self) -> tuple[float, ...] | None:
        """A number for each category, the one for no answer left out, where means have a meaning; else None."""
        return TYPES[self.type].scores(self.settings)

    def to_dict(self) -> dict[str, Any]:
        """The question as a survey file would say it, its epsilon as a number."""
        optional: dict[str, Any] = {} if self.required else {"required": False}
        if self.show_if:
            optional["show_if"] = {"question": self.show_if.question, "is": list(self.show_if.options)}
        return {"id": self.id, "text": self.text, "type": self.type, **self.settings, **optional, "epsilon": self.declared_epsilon}


def blocks_of(questions: Sequence[Question]) -> tuple[tuple[int, ...], ...]:
    """What is drawn together where a survey asks a sample: a question and those shown after answers to it, by number."""
    block = block_numbers([(q.id, q.show_if.question if q.show_if else None) for q in questions])
    members: list[list[int]] = [[] for _ in range(max(block) + 1)]
    for i, number in enumerate(block):
        members[number].append(i)
    return tuple(map(tuple, members))


def block_numbers(questions: Sequence[tuple[Any, Any]]) -> list[int]:
    """The number of each question's block, from the (id, id of the question it depends on) of each."""
    block: list[int] = []
    known: dict[Any, int] = {}
    blocks = 0
    for name, asked in questions:
        joined = isinstance(asked, str) and asked in known
        block.append(known[asked] if joined else blocks)
        blocks += not joined
        if isinstance(name, str):
            known.setdefault(name, block[-1])
    return block
