"""A question as it was validated: what is asked, what can be answered, and the coins that hide the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.mechanism import Channel, Window
from deniable.survey.condition import ShowIf, named
from deniable.survey.types import TYPES


@dataclass(frozen=True)
class Section:
    """What stands before a question and is about it and those that follow, up to the next section. note: empty where there is none."""

    title: str
    note: str = ""

    def to_dict(self) -> dict[str, str]:
        """As a survey file says it."""
        return {"title": self.title, **({"note": self.note} if self.note else {})}


@dataclass(frozen=True)
class Question:
    """One question. `settings` holds the keys that only its type has; `declared_epsilon` is an exact binary number.

    A question that is not required has one more category, the last: no answer. `labels` are those of a multiple
    choice's items; categories and channel are then those of each item. help: what stands under the text, empty where nothing does.
    section: the one that begins with this question, if any.
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
    show_if: ShowIf | None = None
    help: str = ""
    section: Section | None = None

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
    def exclusive(self) -> tuple[str, ...]:
        """The options of a multiple choice that go with no other one, `none` among them."""
        return TYPES[self.type].exclusive(self.settings)

    @property
    def none(self) -> str | None:
        """The option of a multiple choice that is chosen where no other applies, if there is one."""
        option: str | None = self.settings.get("none")
        return option

    @property
    def is_number(self) -> bool:
        """Whether its answers are numbers."""
        return TYPES[self.type].is_number

    @property
    def rounds(self) -> bool:
        """Whether an answer may stand between two categories, and is rounded to one of them at random."""
        return TYPES[self.type].rounds(self.settings)

    @property
    def recorded(self) -> tuple[str, ...]:
        """What a report can name, one for each of its bits: the categories, or the outputs of a number that goes through a window."""
        if not isinstance(self.channel, Window):
            return self.categories
        alone = self.channel.outputs - self.channel.apart
        return (*(f"output {number} of {alone}" for number in range(1, alone + 1)), *self.shared)

    @property
    def shared(self) -> tuple[str, ...]:
        """The categories of which there are shares: of a number through a window only "no answer", where that can be given."""
        return self.categories[self.channel.levels :] if isinstance(self.channel, Window) else self.categories

    @property
    def levelled(self) -> bool:
        """Whether it is a number whose levels are categories, with a share each, to which answers are rounded at random."""
        return self.rounds and bool(self.shared) and self.shared == self.categories

    @property
    def scores(self) -> tuple[float, ...] | None:
        """A number for each category, the one for no answer left out, where means have a meaning; else None."""
        return TYPES[self.type].scores(self.settings)

    def to_dict(self) -> dict[str, Any]:
        """The question as a survey file would say it, its epsilon as a number."""
        optional: dict[str, Any] = {} if self.required else {"required": False}
        if self.show_if:
            optional["show_if"] = self.show_if.to_dict()
        if self.help:
            optional["help"] = self.help
        if self.section:
            optional["section"] = self.section.to_dict()
        return {"id": self.id, "text": self.text, "type": self.type, **self.settings, **optional, "epsilon": self.declared_epsilon}


def blocks_of(questions: Sequence[Question]) -> tuple[tuple[int, ...], ...]:
    """What is drawn together where a survey asks a sample: a question and those shown after answers to it, by number."""
    block = block_numbers([(q.id, [one.question for one in q.show_if.conditions] if q.show_if else []) for q in questions])
    members: list[list[int]] = [[] for _ in range(max(block) + 1)]
    for i, number in enumerate(block):
        members[number].append(i)
    return tuple(map(tuple, members))


def block_numbers(questions: Sequence[tuple[Any, Sequence[Any]]]) -> list[int]:
    """The number of each question's block, from the (id, ids of the questions that it depends on) of each.

    A question that depends on several joins their blocks to one. Blocks are numbered in the order of their first questions.
    """
    first = list(range(len(questions)))  # of each question's block, or another of the block that stands before it

    def root(i: int) -> int:
        while first[i] != i:
            first[i] = i = first[first[i]]
        return i

    known: dict[str, int] = {}
    for i, (name, asked) in enumerate(questions):
        for earlier in asked:
            if isinstance(earlier, str) and earlier in known:
                low, high = sorted((root(known[earlier]), root(i)))
                first[high] = low
        if isinstance(name, str):
            known.setdefault(name, i)
    roots = [root(i) for i in range(len(questions))]
    number = {place: count for count, place in enumerate(dict.fromkeys(roots))}
    return [number[place] for place in roots]


def dependence(source: Any) -> tuple[Any, list[str]]:
    """The id of a question in a survey file, and those of the questions that its show_if names; right or wrong."""
    return (source.get("id"), named(source.get("show_if"))) if isinstance(source, Mapping) else (None, [])
