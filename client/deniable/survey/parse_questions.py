"""Parser of questions: reads every question of a document, even after problems."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from deniable.mechanism import Channel
from deniable.survey.epsilon import parse_epsilon
from deniable.survey.parse_condition import Conditions
from deniable.survey.question import Question, Section, block_numbers, dependencies_of
from deniable.survey.total import shares_of_epsilon
from deniable.survey.types import TYPES
from deniable.survey.types.base import NO_ANSWER, QuestionType, number, whole_number
from deniable.survey.validator import Validator, excerpt

MAX_QUESTIONS = 2048
MIN_WEIGHT, MAX_WEIGHT = 0.01, 100  # of a question: its share of the survey's epsilon, relative to the others
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
        question = builder.add(source, index, share)
        bits += bits_of(question) if question else 0
        if bits > most_bits:
            break
    if "epsilon" in top:
        builder.epsilon(top["epsilon"], "epsilon")
    return tuple(builder.questions)


def bits_of(question: Question) -> int:
    """Returns the number of bits of a question in a record."""
    return (question.channel.outputs - 1) * max(1, len(question.labels))


def _shares(sources: Sequence[Any], ask: int | None) -> list[Fraction]:
    """Returns each question's share of the survey's epsilon; an invalid weight counts as 1."""
    weights = [_weight(source) or Fraction(1) for source in sources]
    return shares_of_epsilon(weights, block_numbers(list(map(dependencies_of, sources))), ask if ask and ask > 0 else None)


def _weight(source: Any) -> Fraction | None:
    """Returns the weight of a question in a survey file, 1 by default; None if it is invalid."""
    value = number(source.get("weight", 1)) if isinstance(source, Mapping) else 1
    return Fraction(repr(value)) if value is not None and MIN_WEIGHT <= value <= MAX_WEIGHT else None


@dataclass
class _Questions:
    """Parser of one question after the other.

    Attributes:
        validator: The validation context.
        top: The survey's keys.
        questions: The valid questions so far.
        earlier: The valid questions, by id.
        first: The index of the first question with an id.
        has_invalid: Whether any question was invalid.
    """

    validator: Validator
    top: Mapping[str, Any]
    questions: list[Question] = field(default_factory=list)
    earlier: dict[str, Question] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    has_invalid: bool = False

    def add(self, source: Any, index: int, share: Fraction) -> Question | None:
        """Parses the next question, and returns it if it is valid."""
        where = f"questions[{index}]"
        if not isinstance(source, Mapping):
            self.validator.refuse(where, f"must be a mapping with the keys id, text, type, got {type(source).__name__}")
            return None
        name = source.get("id")
        if isinstance(name, str) and self.first.setdefault(name, index) != index:
            self.validator.refuse(f"{where}.id", f"must be unique, got the id of questions[{self.first[name]}] again: {excerpt(name)}")
        question = self.question(source, where, share)
        if question:
            self.questions.append(question)
            self.earlier.setdefault(question.id, question)
        self.has_invalid = self.has_invalid or question is None
        return question

    def question(self, source: Mapping[str, Any], where: str, share: Fraction) -> Question | None:
        """Returns a question, or None if it is invalid."""
        validator, before = self.validator, len(self.validator.problems)
        type_class = self.type_class(source, where)
        validator.identifier(source, f"{where}.id", QUESTION_ID, "1 to 64 of A-Z, a-z, 0-9 and _, a letter first")
        for key in ("text", "help"):
            validator.text(source, where, key)
        section = self.section(source["section"], f"{where}.section") if "section" in source else None
        if type_class and all(key in source for key in type_class.required_keys):
            for key, message in type_class.problems(source):
                validator.refuse(f"{where}.{key}", message)
        required = self.required(source, f"{where}.required")
        conditions = Conditions(validator, self.earlier, not self.has_invalid)
        show_if = conditions.read(source["show_if"], f"{where}.show_if") if "show_if" in source else None
        self.check_weight(source, f"{where}.weight")
        epsilon = self.question_epsilon(source, where, share)
        if type_class is None or epsilon is None or len(validator.problems) > before:
            return None
        kind = type_class.parse(source, epsilon)
        channel = self.channel(kind, where, epsilon, required)
        if channel is None:
            return None
        return Question(source["id"], source["text"], kind, epsilon, channel, required, show_if, source.get("help", ""), section)

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
            near = difflib.get_close_matches(str(source["type"]), TYPES, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            self.validator.refuse(f"{where}.type", f"must be one of {', '.join(TYPES)}, got {excerpt(source['type'])}{hint}")
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
        self.validator.keys(source, where, required=["title"], optional=["note"])
        for key in ("title", "note"):
            self.validator.text(source, where, key)
        return Section(source["title"], source.get("note", "")) if len(self.validator.problems) == before else None

    def check_weight(self, source: Mapping[str, Any], where: str) -> None:
        """Checks a question's weight."""
        if "weight" in source and _weight(source) is None:
            self.validator.refuse(where, f"must be a number from {MIN_WEIGHT} to {MAX_WEIGHT}, got {excerpt(source['weight'])}")
        elif "weight" in source and "epsilon" not in self.top:
            self.validator.refuse(where, "must be left out if the survey has no epsilon: a weight divides the survey's epsilon")

    def question_epsilon(self, source: Mapping[str, Any], where: str, share: Fraction) -> float | None:
        """Returns a question's epsilon, its own or its share of the survey's; None if it is invalid."""
        if "epsilon" in source and "epsilon" in self.top:
            self.validator.refuse(f"{where}.epsilon", "must be left out beside an epsilon for the whole survey; keep one of the two")
            return None
        if "epsilon" in source:
            return self.epsilon(source["epsilon"], f"{where}.epsilon")
        if "epsilon" not in self.top:
            self.validator.refuse(f"{where}.epsilon", "is missing: give one here, or one for the whole survey")
            return None
        try:
            return parse_epsilon(self.top["epsilon"], share)
        except ValueError:
            return None  # reported once, for the survey

    def epsilon(self, value: Any, where: str) -> float | None:
        """Returns an epsilon; None if it is invalid."""
        try:
            return parse_epsilon(value)
        except ValueError as error:
            self.validator.refuse(where, f"{error}, got {excerpt(value)}")
            return None
