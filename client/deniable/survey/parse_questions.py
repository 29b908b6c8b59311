"""Parser of questions: reads every question of a document, even after problems."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from deniable.mechanism import Channel
from deniable.survey.epsilon import parse_epsilon
from deniable.survey.parse_condition import Conditions
from deniable.survey.piping import pipe_problem, texts_of
from deniable.survey.question import Grid, Question, Section, block_numbers
from deniable.survey.rating import (
    BLOCK_TEXTS,
    MAX_WEIGHT,
    MIN_WEIGHT,
    RATING,
    as_scale,
    dependencies,
    is_rating,
    item_problems,
    item_weights,
    weight_of,
)
from deniable.survey.total import shares_of_epsilon
from deniable.survey.types import TYPES
from deniable.survey.types.base import NO_ANSWER, ORDERS, QuestionType, whole_number
from deniable.survey.validator import Validator, excerpt

MAX_QUESTIONS = 2048
QUESTION_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
OPTIONAL = ("epsilon", "weight", "required", "show_if", "help", "section")


def parse_questions(validator: Validator, top: Mapping[str, Any], most_bits: int) -> tuple[Question, ...]:
    """Returns the valid questions. Questions after `most_bits` bits are not read, since the survey is refused then."""
    sources = top.get("questions", [])
    if not isinstance(sources, list | tuple) or ("questions" in top and not sources):
        validator.refuse("questions", "must be a list of at least one question")
        sources = []
    if len(sources) > MAX_QUESTIONS:
        validator.refuse("questions", f"must be at most {MAX_QUESTIONS:,} questions, got {len(sources):,}")
        return ()
    builder = _Questions(validator, top)
    bits = 0
    for index, (source, share) in enumerate(zip(sources, _shares(sources, whole_number(top.get("ask"))), strict=True)):
        bits += sum(map(bits_of, builder.add(source, f"questions[{index}]", share)))
        if bits > most_bits:
            break
    if "epsilon" in top:
        builder.epsilon(top["epsilon"], "epsilon")
    return tuple(builder.questions)


def bits_of(question: Question) -> int:
    """Returns the number of bits of a question in a record."""
    return (question.channel.outputs - 1) * max(1, len(question.labels))


def _shares(sources: Sequence[Any], ask: int | None) -> list[Fraction]:
    """Returns the share of the survey's epsilon of each question, or of each item of a rating block."""
    weights = item_weights(sources)
    flat = [weight for items in weights for weight in items]
    shares = shares_of_epsilon(flat, block_numbers(dependencies(sources)), ask if ask and ask > 0 else None)
    starts = itertools.accumulate(map(len, weights[:-1]), initial=0)
    return [shares[start] for start in starts] if weights else []


@dataclass
class _Questions:
    """Parser of one question after the other.

    Attributes:
        validator: The validation context.
        top: The survey's keys.
        questions: The valid questions so far.
        earlier: The valid questions, by id.
        first: The location of the first question with an id.
        grids: The ids of the grids so far.
        has_invalid: Whether any question was invalid.
    """

    validator: Validator
    top: Mapping[str, Any]
    questions: list[Question] = field(default_factory=list)
    earlier: dict[str, Question] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    grids: set[str] = field(default_factory=set)
    has_invalid: bool = False

    def add(self, source: Any, where: str, share: Fraction) -> Sequence[Question]:
        """Parses the next question, or the items of the next rating block, and returns what is valid."""
        if not isinstance(source, Mapping):
            self.validator.refuse(where, f"must be a mapping with the keys id, text, type, got {type(source).__name__}")
            return ()
        questions = self.rating(source, where, share) if is_rating(source) else [self.question(source, where, share)]
        valid = [question for question in questions if question]
        for question in valid:
            self.questions.append(question)
            self.earlier.setdefault(question.id, question)
            if question.grid:
                self.grids.add(question.grid.id)
        self.has_invalid = self.has_invalid or len(valid) < len(questions)
        return valid

    def check_unique(self, source: Mapping[str, Any], where: str) -> None:
        """Checks that no earlier question or rating block has the same id."""
        name = source.get("id")
        if isinstance(name, str) and (first := self.first.setdefault(name, where)) != where:
            self.validator.refuse(f"{where}.id", f"must be unique, got the id of {first} again: {excerpt(name)}")

    def rating(self, source: Mapping[str, Any], where: str, share: Fraction) -> list[Question | None]:
        """Returns the items of a rating block, None for each invalid one; one None if the block itself is invalid."""
        items = source.get("items", [])
        problems = list(item_problems(items)) if "items" in source else [("items", "is missing")]
        for key, message in problems:
            self.validator.refuse(f"{where}.{key}", message)
        if "grid" in source:
            self.validator.refuse(f"{where}.grid", "must be left out: the block itself is the grid of its items")
        order = self.item_order(source, where)
        block = self.question(as_scale(source), where, share, parts=1 if problems else len(items))
        if block and block.id in self.grids:
            self.validator.refuse(f"{where}.id", f"must be unique, got the id of a grid again: {excerpt(block.id)}")
        if block is None or problems:
            return [None]
        grid = Grid(block.id, block.raw_text, block.raw_help, str(items[0].get("id")), order)
        return [self.item(item, f"{where}.items[{index}]", block, grid) for index, item in enumerate(items)]

    def item_order(self, source: Mapping[str, Any], where: str) -> str:
        """Returns how a device orders the items of a rating block or a grid; empty for the given order."""
        if "order" in source and source["order"] not in ORDERS:
            self.validator.refuse(f"{where}.order", f"must be {' or '.join(ORDERS)}, got {excerpt(source['order'])}")
        return str(source.get("order", ""))

    def item(self, source: Mapping[str, Any], where: str, block: Question, grid: Grid) -> Question | None:
        """Returns an item of a rating block, or None if it is invalid."""
        before = len(self.validator.problems)
        self.validator.keys(source, where, required=["id", "text"], optional=[])
        self.check_id(source, where)
        self.validator.text(source, where, "text")
        self.check_pipes(source, where)
        if len(self.validator.problems) > before:
            return None
        section = block.section if source["id"] == grid.first else None
        return replace(block, id=source["id"], raw_text=source["text"], raw_help="", section=section, grid=grid)

    def check_id(self, source: Mapping[str, Any], where: str) -> None:
        """Checks the form of an id, and that it is new."""
        self.check_unique(source, where)
        self.validator.identifier(source, f"{where}.id", QUESTION_ID, "1 to 64 of A-Z, a-z, 0-9 and _, a letter first")

    def question(self, source: Mapping[str, Any], where: str, share: Fraction, parts: int = 1) -> Question | None:
        """Returns a question, or None if it is invalid; its own epsilon is divided by `parts`."""
        validator, before = self.validator, len(self.validator.problems)
        type_class = self.type_class(source, where)
        self.check_id(source, where)
        for key in ("text", "help"):
            validator.text(source, where, key)
        section = self.section(source["section"], f"{where}.section") if "section" in source else None
        self.check_pipes(source, where)
        if type_class and all(key in source for key in type_class.required_keys):
            for key, message in type_class.problems(source):
                validator.refuse(f"{where}.{key}", message)
        required = self.required(source, f"{where}.required")
        conditions = Conditions(validator, self.earlier, not self.has_invalid)
        show_if = conditions.read(source["show_if"], f"{where}.show_if") if "show_if" in source else None
        self.check_weight(source, f"{where}.weight")
        epsilon = self.question_epsilon(source, where, share, parts)
        if type_class is None or epsilon is None or len(validator.problems) > before:
            return None
        kind = type_class.parse(source, epsilon)
        channel = self.channel(kind, where, epsilon, required)
        if channel is None:
            return None
        question = Question(source["id"], source["text"], kind, epsilon, channel, required, show_if, source.get("help", ""), section)
        return self.in_grid(question, source["grid"], f"{where}.grid") if "grid" in source else question

    def in_grid(self, question: Question, source: Any, where: str) -> Question | None:
        """Returns a question with the grid that it begins or continues, or None if that is invalid."""
        before = len(self.validator.problems)
        if not isinstance(source, Mapping):
            self.validator.refuse(
                where, f"must be a mapping with the keys id and, at its first question, text, got {type(source).__name__}"
            )
            return None
        previous = self.questions[-1] if self.questions else None
        name = source.get("id")
        begins = not (previous and previous.grid and previous.grid.id == name)
        if begins and self.has_invalid and "text" not in source:
            return None  # the author has to correct an earlier question first
        self.validator.keys(source, where, required=["id", "text"] if begins else ["id"], optional=["help", "order"] if begins else [])
        self.validator.identifier(source, f"{where}.id", QUESTION_ID, "1 to 64 of A-Z, a-z, 0-9 and _, a letter first")
        for key in BLOCK_TEXTS:
            self.validator.text(source, where, key)
        order = self.item_order(source, where)
        if begins and isinstance(name, str) and name in self.grids:
            self.validator.refuse(where, f"must have a new id: the questions of {name} must follow each other")
        if question.raw_help:
            self.validator.refuse(where, "must be left out beside help: the grid has the help of all its questions")
        if previous and not begins and not _fit(previous, question):
            rule = "must be left out: the question before has other options, scores, required or show_if, or a section begins here"
            self.validator.refuse(where, rule)
        if len(self.validator.problems) > before:
            return None
        if previous and not begins:
            return replace(question, grid=previous.grid)
        return replace(question, grid=Grid(source["id"], source["text"], source.get("help", ""), question.id, order))

    def required(self, source: Mapping[str, Any], where: str) -> bool:
        """Returns whether a question must be answered; questions with a condition never must."""
        if "show_if" in source and source.get("required") in (True, "true"):
            self.validator.refuse(where, "must be left out or false beside show_if: a hidden question is sent as no answer")
        return self.validator.flag(source, where, True) and "show_if" not in source

    def channel(self, kind: QuestionType, where: str, epsilon: float, required: bool) -> Channel | None:
        """Returns the coins of a question, or None if it is invalid."""
        if not required and NO_ANSWER in kind.categories:
            self.validator.refuse(where, f"must not have the option {NO_ANSWER!r}, which `required: false` adds by itself")
            return None
        channel = kind.channel(Fraction(epsilon) / max(1, len(kind.items)), len(kind.categories) + (not required))
        if channel.odds <= 1:
            self.validator.refuse(
                f"{where}.epsilon", f"is too small for a 32-bit coin over {channel.k} categories: it would reveal nothing"
            )
            return None
        return channel

    def type_class(self, source: Mapping[str, Any], where: str) -> type[QuestionType] | None:
        """Returns the type that a question names, and checks the question's keys."""
        type_class = TYPES.get(source["type"]) if isinstance(source.get("type"), str) else None
        if "type" in source and type_class is None:
            names = [*TYPES, RATING]
            near = difflib.get_close_matches(str(source["type"]), names, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            self.validator.refuse(f"{where}.type", f"must be one of {', '.join(names)}, got {excerpt(source['type'])}{hint}")
        types = [type_class] if type_class else list(TYPES.values())
        own = list(type_class.required_keys) if type_class else []
        others = [key for other in types for key in (*other.required_keys, *other.optional_keys)]
        self.validator.keys(source, where, required=["id", "text", "type", *own], optional=[*OPTIONAL, *others])
        return type_class

    def section(self, source: Any, where: str) -> Section | None:
        """Returns the section that begins with a question."""
        if not isinstance(source, Mapping):
            self.validator.refuse(where, f"must be a mapping with the keys title and, if needed, note, got {type(source).__name__}")
            return None
        before = len(self.validator.problems)
        self.validator.keys(source, where, required=["title"], optional=["note", "fixed"])
        for key in ("title", "note"):
            self.validator.text(source, where, key)
        is_fixed = self.validator.flag(source, f"{where}.fixed", False)
        return Section(source["title"], source.get("note", ""), is_fixed) if len(self.validator.problems) == before else None

    def check_pipes(self, source: Mapping[str, Any], where: str) -> None:
        """Checks the references to earlier answers in a question's texts."""
        others = self.first.keys() - {source.get("id")} if self.has_invalid else self.earlier.keys()
        for key, text in texts_of(source):
            if (broken := pipe_problem(text, others)) is not None:
                self.validator.refuse(f"{where}.{key}", broken)

    def check_weight(self, source: Mapping[str, Any], where: str) -> None:
        """Checks a question's weight."""
        if "weight" in source and weight_of(source) is None:
            self.validator.refuse(where, f"must be a number from {MIN_WEIGHT} to {MAX_WEIGHT}, got {excerpt(source['weight'])}")
        elif "weight" in source and "epsilon" not in self.top:
            self.validator.refuse(where, "must be left out if the survey has no epsilon: a weight divides the survey's epsilon")

    def question_epsilon(self, source: Mapping[str, Any], where: str, share: Fraction, parts: int) -> float | None:
        """Returns a question's epsilon, a part of its own or its share of the survey's; None if it is invalid."""
        if "epsilon" in source and "epsilon" in self.top:
            self.validator.refuse(f"{where}.epsilon", "must be left out beside an epsilon for the whole survey; keep one of the two")
            return None
        if "epsilon" in source:
            return self.epsilon(source["epsilon"], f"{where}.epsilon", Fraction(1, parts))
        if "epsilon" not in self.top:
            self.validator.refuse(f"{where}.epsilon", "is missing: give one here, or one for the whole survey")
            return None
        try:
            return parse_epsilon(self.top["epsilon"], share)
        except ValueError:
            return None  # reported once, for the survey

    def epsilon(self, value: Any, where: str, part: Fraction = Fraction(1)) -> float | None:
        """Returns a part of an epsilon; None if it is invalid."""
        try:
            return parse_epsilon(value, part)
        except ValueError as error:
            self.validator.refuse(where, f"{error}, got {excerpt(value)}")
            return None


def _fit(previous: Question, question: Question) -> bool:
    """Returns whether two questions can follow each other in one grid."""
    shared = [(each.kind, each.required, each.show_if) for each in (previous, question)]
    return shared[0] == shared[1] and question.section is None
