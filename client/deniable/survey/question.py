"""Questions, validated: the text, the possible answers, and the coins that hide an answer."""

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
    """Heading before a question, for it and the following ones, up to the next section. note: empty if there is none."""

    title: str
    note: str = ""

    def to_dict(self) -> dict[str, str]:
        """Returns the section as a survey file writes it."""
        return {"title": self.title, **({"note": self.note} if self.note else {})}


@dataclass(frozen=True)
class Question:
    """One question.

    A question that is not required has one more category, the last: no answer.

    Attributes:
        declared_epsilon: Its privacy loss as declared, an exact binary number.
        settings: The keys that only its type has.
        labels: The labels of a multiple choice's items; categories and channel are then those of each item.
        help: The text below the question's, empty if there is none.
        section: The section that begins with this question, if any.
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
        """Number of categories."""
        return self.channel.k

    @property
    def d(self) -> int:
        """Number of bits set in a report."""
        return self.channel.d

    @property
    def keep_threshold(self) -> int:
        """The coin's threshold, as in `Channel`."""
        return self.channel.keep_threshold

    @cached_property
    def epsilon(self) -> float:
        """The exact privacy loss of the thresholds, at most the declared one."""
        return math.fsum([self.channel.epsilon] * max(1, len(self.labels)))

    @cached_property
    def odds(self) -> Fraction:
        """The exact e^epsilon: the largest ratio of the chances of one report under two answers, all items together."""
        return self.channel.odds ** max(1, len(self.labels))

    @cached_property
    def items(self) -> tuple[Question, ...]:
        """The parts that are randomized separately: the question, or a yes/no question for each option of a multiple choice."""
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
        """The survey's own texts that respondents choose from; none if the page has its own words or a field."""
        return TYPES[self.type].options(self.settings)

    @property
    def exclusive(self) -> tuple[str, ...]:
        """The options of a multiple choice that exclude all others, `none` among them."""
        return TYPES[self.type].exclusive(self.settings)

    @property
    def none(self) -> str | None:
        """The option of a multiple choice for respondents to whom no other applies, if there is one."""
        option: str | None = self.settings.get("none")
        return option

    @property
    def is_number(self) -> bool:
        """Whether its answers are numbers."""
        return TYPES[self.type].is_number

    @property
    def rounds(self) -> bool:
        """Whether an answer may be between two categories, and is rounded to one of them at random."""
        return TYPES[self.type].rounds(self.settings)

    @property
    def recorded(self) -> tuple[str, ...]:
        """Names of a report's bits: the categories, or the outputs of a number's window."""
        if not isinstance(self.channel, Window):
            return self.categories
        alone = self.channel.outputs - self.channel.apart
        return (*(f"output {number} of {alone}" for number in range(1, alone + 1)), *self.shared)

    @property
    def shared(self) -> tuple[str, ...]:
        """The categories with estimated shares: for a number through a window only "no answer", if that is possible."""
        return self.categories[self.channel.levels :] if isinstance(self.channel, Window) else self.categories

    @property
    def levelled(self) -> bool:
        """Whether it is a number whose levels are categories, with a share each, to which answers are rounded at random."""
        return self.rounds and bool(self.shared) and self.shared == self.categories

    @property
    def scores(self) -> tuple[float, ...] | None:
        """A number for each category except no answer, if means are defined; otherwise None."""
        return TYPES[self.type].scores(self.settings)

    def to_dict(self) -> dict[str, Any]:
        """Returns the question as a survey file would write it, its epsilon as a number."""
        optional: dict[str, Any] = {} if self.required else {"required": False}
        if self.show_if:
            optional["show_if"] = self.show_if.to_dict()
        if self.help:
            optional["help"] = self.help
        if self.section:
            optional["section"] = self.section.to_dict()
        return {"id": self.id, "text": self.text, "type": self.type, **self.settings, **optional, "epsilon": self.declared_epsilon}


def blocks_of(questions: Sequence[Question]) -> tuple[tuple[int, ...], ...]:
    """Returns the blocks that are drawn together if a survey asks a sample: a question and its dependent ones, by number."""
    block = block_numbers([(q.id, [one.question for one in q.show_if.conditions] if q.show_if else []) for q in questions])
    members: list[list[int]] = [[] for _ in range(max(block) + 1)]
    for i, number in enumerate(block):
        members[number].append(i)
    return tuple(map(tuple, members))


def block_numbers(questions: Sequence[tuple[Any, Sequence[Any]]]) -> list[int]:
    """Returns the number of each question's block, from each question's id and the ids that it depends on.

    A question that depends on several joins their blocks to one. Blocks are numbered in the order of their first questions.
    """
    first = list(range(len(questions)))  # of each question's block, or another of the block that stands before it

    def root(i: int) -> int:
        while first[i] != i:
            first[i] = i = first[first[i]]
        return i

    indexes: dict[str, int] = {}
    for i, (name, dependencies) in enumerate(questions):
        for earlier in dependencies:
            if isinstance(earlier, str) and earlier in indexes:
                low, high = sorted((root(indexes[earlier]), root(i)))
                first[high] = low
        if isinstance(name, str):
            indexes.setdefault(name, i)
    roots = [root(i) for i in range(len(questions))]
    number = {place: count for count, place in enumerate(dict.fromkeys(roots))}
    return [number[place] for place in roots]


def dependence(source: Any) -> tuple[Any, list[str]]:
    """Returns the id of a question in a survey file, and the ids that its show_if names, valid or not."""
    return (source.get("id"), named(source.get("show_if"))) if isinstance(source, Mapping) else (None, [])
