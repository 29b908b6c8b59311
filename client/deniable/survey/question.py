"""Questions, validated: the text, the categories of answers, and the coins that hide an answer.

A text may refer to earlier answers (`piping.py`). Only a respondent's page has answers: the raw text is for definitions and survey files,
and the text without answers is for everything else, so that it has the shorter name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.mechanism import Channel, Window
from deniable.survey.condition import ShowIf, SumCondition
from deniable.survey.piping import piped_ids, texts_of, without_answers
from deniable.survey.types.base import NO_ANSWER, QuestionType


@dataclass(frozen=True)
class Section:
    """Heading before a question, for this and the following questions up to the next section.

    Attributes:
        raw_title: The title as the survey file has it.
        raw_note: A note below the title, or empty.
        is_fixed: Whether no section moves past it where a device draws the order of sections.
    """

    raw_title: str
    raw_note: str = ""
    is_fixed: bool = False

    @cached_property
    def title(self) -> str:
        """The title without answers."""
        return without_answers(self.raw_title)

    @cached_property
    def note(self) -> str:
        """The note without answers."""
        return without_answers(self.raw_note)

    @property
    def raw_texts(self) -> dict[str, str]:
        """The texts by their keys in a survey file."""
        return {"title": self.raw_title, **({"note": self.raw_note} if self.raw_note else {})}

    def to_dict(self) -> dict[str, Any]:
        """Returns the section as a survey file writes it."""
        return {**self.raw_texts, **({"fixed": True} if self.is_fixed else {})}


@dataclass(frozen=True)
class Grid:
    """Rating block: scale questions that follow each other and share a text and a scale; respondents see them as one table.

    Attributes:
        id: The block's id.
        raw_text: The text before all of them.
        raw_help: An explanation below the text, or empty.
        first: The id of the first of the questions, which has the texts and the order in a definition.
        order: How a respondent's device orders the questions: "random", "rotate", or empty for the given order.
    """

    id: str
    raw_text: str
    raw_help: str
    first: str
    order: str = ""

    @cached_property
    def text(self) -> str:
        """The text before all of the questions, without answers."""
        return without_answers(self.raw_text)

    @cached_property
    def help(self) -> str:
        """The explanation without answers."""
        return without_answers(self.raw_help)

    @property
    def raw_texts(self) -> dict[str, str]:
        """The texts by their keys in a survey file."""
        return {"text": self.raw_text, **({"help": self.raw_help} if self.raw_help else {})}

    def to_dict(self, question: str) -> dict[str, str]:
        """Returns the mark of one of the questions, by its id, as a survey file writes it."""
        order = {"order": self.order} if self.order else {}
        return {"id": self.id, **({**self.raw_texts, **order} if question == self.first else {})}


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        raw_text: The text as the survey file has it, with references to earlier answers.
        kind: The question's type, with its settings.
        declared_epsilon: The declared privacy loss, an exact binary number.
        channel: The coins; in a multiple choice, the coins of each item.
        raw_help: An explanation below the question, or empty.
        section: The section that begins with this question, if any.
        grid: The rating block that the question is an item of, if any.
    """

    id: str
    raw_text: str
    kind: QuestionType
    declared_epsilon: float
    channel: Channel
    required: bool = True
    show_if: ShowIf | None = None
    raw_help: str = ""
    section: Section | None = None
    grid: Grid | None = None

    @cached_property
    def text(self) -> str:
        """The text without answers, for all but a respondent's page."""
        return without_answers(self.raw_text)

    @cached_property
    def help(self) -> str:
        """The explanation without answers."""
        return without_answers(self.raw_help)

    @property
    def stem(self) -> str:
        """The text of the rating block that begins with this question, for a heading; empty for any other question."""
        return self.grid.text if self.grid and self.grid.first == self.id else ""

    @property
    def label(self) -> str:
        """The text for lists and tables of data, with the text of its rating block behind it, where a program may cut it off."""
        return f"{self.text} – {self.grid.text}" if self.grid else self.text

    @property
    def type(self) -> str:
        """The name of the question's type."""
        return self.kind.name

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The labels of the categories, of each item in a multiple choice. The last is "no answer" unless an answer is required."""
        return self.kind.categories if self.required else (*self.kind.categories, NO_ANSWER)

    @cached_property
    def piped(self) -> tuple[str, ...]:
        """The ids of earlier questions whose answers its texts show."""
        section = {"section": self.section.to_dict()} if self.section else {}
        grid = {"grid": self.grid.to_dict(self.id)} if self.grid else {}
        return tuple(piped_ids(text for _, text in texts_of({"text": self.raw_text, "help": self.raw_help, **section, **grid})))

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The ids of earlier questions that its condition or its texts name."""
        return (*(self.show_if.questions if self.show_if else ()), *self.piped)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of a multiple choice's items."""
        return self.kind.items

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
        """The exact e^epsilon: the largest ratio of the chances of one report, of all items, under two answers."""
        return self.channel.odds ** max(1, len(self.labels))

    @cached_property
    def items(self) -> tuple[Question, ...]:
        """The parts that are randomized separately: the question, or a yes/no question for each option of a multiple choice."""
        kind, channel = self.kind.item_type, self.channel
        return tuple(
            Question(f"{self.id}[{label}]", f"{self.raw_text} {label}", kind, channel.epsilon, channel, self.required)
            for label in self.labels
        ) or (self,)

    @property
    def options(self) -> tuple[str, ...]:
        """The survey's own texts that respondents choose from; empty if the page has its own words or a field."""
        return self.kind.choices

    @property
    def exclusive(self) -> tuple[str, ...]:
        """The options of a multiple choice that exclude all others, `none` among them."""
        return self.kind.exclusive_options

    @property
    def limits(self) -> tuple[int, int] | None:
        """The least and the greatest number of options that go together in an answer: a multiple choice, without an exclusive option.

        None if any options may be selected.
        """
        return self.kind.limits

    @property
    def none(self) -> str | None:
        """The option of a multiple choice that means that no other option applies, if there is one."""
        return self.kind.none_option

    @property
    def is_number(self) -> bool:
        """Whether answers are numbers."""
        return self.kind.is_number

    @property
    def rounds(self) -> bool:
        """Whether an answer may be between two categories, and is rounded to one of them at random."""
        return self.kind.rounds

    @property
    def recorded(self) -> tuple[str, ...]:
        """Names of a report's bits: the categories, or the outputs of a number's window."""
        if not isinstance(self.channel, Window):
            return self.categories
        outputs = self.channel.outputs - self.channel.apart
        return (*(f"output {number} of {outputs}" for number in range(1, outputs + 1)), *self.shared)

    @property
    def shared(self) -> tuple[str, ...]:
        """The categories with estimated shares: for a number through a window only "no answer", if it is a category."""
        return self.categories[self.channel.levels :] if isinstance(self.channel, Window) else self.categories

    @property
    def levelled(self) -> bool:
        """Whether the question is a number with levels as categories: each has a share, and answers are rounded to them at random."""
        return self.rounds and bool(self.shared) and self.shared == self.categories

    @property
    def scores(self) -> tuple[float, ...] | None:
        """A number for each category except no answer, if means are defined; otherwise None."""
        return self.kind.category_scores

    def to_dict(self) -> dict[str, Any]:
        """Returns the question as in a survey file, its epsilon as a number."""
        optional: dict[str, Any] = {} if self.required else {"required": False}
        if self.show_if:
            optional["show_if"] = self.show_if.to_dict()
        if self.raw_help:
            optional["help"] = self.raw_help
        if self.section:
            optional["section"] = self.section.to_dict()
        if self.grid:
            optional["grid"] = self.grid.to_dict(self.id)
        return {
            "id": self.id,
            "text": self.raw_text,
            "type": self.type,
            **self.kind.to_dict(),
            **optional,
            "epsilon": self.declared_epsilon,
        }


def summands(condition: SumCondition, question: Question) -> tuple[float, ...]:
    """Returns what each answer to a question adds to a sum, by category; for a multiple choice, the least and the greatest."""
    if question.labels:
        return (0.0, 1.0)
    if condition.word == "count":
        return tuple(float(category in condition.options) for category in question.categories)
    return (*(question.scores or ()), *([] if question.required else [0.0]))


def blocks_of(questions: Sequence[Question]) -> tuple[tuple[int, ...], ...]:
    """Returns the blocks that a sampled survey draws together, by number: a question and those that depend on it, or a rating block."""
    numbers = block_numbers([(question.id, _ties_of(question)) for question in questions])
    blocks: list[list[int]] = [[] for _ in range(max(numbers) + 1)]
    for i, number in enumerate(numbers):
        blocks[number].append(i)
    return tuple(map(tuple, blocks))


def _ties_of(question: Question) -> list[str]:
    """Returns the ids of earlier questions that a question is drawn together with: those it depends on, and its grid's first one."""
    return [*question.depends_on, *([question.grid.first] if question.grid else [])]


def block_numbers(questions: Sequence[tuple[Any, Sequence[Any]]]) -> list[int]:
    """Returns the number of each question's block, from each question's id and the ids that it depends on.

    A question that depends on several questions joins their blocks. Blocks are numbered in the order of their first questions.
    """
    first = list(range(len(questions)))  # for each question, an earlier question of its block, or itself if it is the first

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
    number = {index: count for count, index in enumerate(dict.fromkeys(roots))}
    return [number[index] for index in roots]
