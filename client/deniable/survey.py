"""A survey: parsed once, everything validated, all mistakes reported together.

The definition that clients receive is the survey in canonical JSON (RFC 8785) with each question's
categories, declared epsilon, k, d and keep_threshold. It is a function of what the researcher wrote,
so a client that has parsed a definition writes it again and compares: whatever differs by a bit from
what its declared epsilon implies is refused.
"""

from __future__ import annotations

import difflib
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import rfc8785

from deniable import document
from deniable.encode import NO_ANSWER, TYPES, number, printable
from deniable.errors import Problem, RefusedError, SurveyError
from deniable.randomize import Channel

FORMAT = 1
MAX_EPSILON = 10
MAX_BITS = 2048
LENGTHS = {"title": 200, "about": 5000, "text": 1000}
SURVEY_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
QUESTION_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
LN = re.compile(r"ln\s*\(?\s*([0-9]+(?:\.[0-9]+)?)\s*\)?")
NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|[+-]?\.[0-9]+(?:[eE][+-]?[0-9]+)?")
_COMPUTED = ("categories", "k", "d", "keep_threshold")


@dataclass(frozen=True)
class Condition:
    """What must have been answered for a question to be shown: one of `options` of the earlier question with this id."""

    question: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """One question. `source` holds the keys that only its type has; `declared_epsilon` is an exact binary number.

    A question that is not required has one more category, the last: no answer. `labels` are those of a multiple
    choice's items; categories and channel are then those of each item.
    """

    id: str
    text: str
    type: str
    declared_epsilon: float
    source: Mapping[str, Any]
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

    @property
    def epsilon(self) -> float:
        """The privacy loss that the thresholds really give, at most the declared one."""
        return math.fsum([self.channel.epsilon] * max(1, len(self.labels)))

    @cached_property
    def items(self) -> tuple[Question, ...]:
        """What is randomized by itself: the question, or a yes/no question for each option of a multiple choice."""
        return tuple(
            Question(
                f"{self.id}[{label}]",
                f"{self.text} {label}",
                "yes_no",
                self.channel.epsilon,
                {},
                self.categories,
                self.channel,
                self.required,
            )
            for label in self.labels
        ) or (self,)

    @property
    def scores(self) -> tuple[float, ...] | None:
        """A number for each category, the one for no answer left out, where means have a meaning; else None."""
        return TYPES[self.type].scores(self.source)

    def to_dict(self) -> dict[str, Any]:
        """The question as a survey file would say it, its epsilon as a number."""
        optional: dict[str, Any] = {} if self.required else {"required": False}
        if self.show_if:
            optional["show_if"] = {"question": self.show_if.question, "is": list(self.show_if.options)}
        return {"id": self.id, "text": self.text, "type": self.type, **self.source, **optional, "epsilon": self.declared_epsilon}


@dataclass(frozen=True)
class Survey:
    """A valid survey. Build one with `from_file`, `from_dict` or `from_definition`.

    ask: how many blocks of questions a respondent's device draws and asks; None where it asks all.
    """

    id: str
    title: str
    about: str
    questions: tuple[Question, ...]
    ask: int | None = None

    @classmethod
    def from_file(cls, path: str | Path) -> Survey:
        """Reads a YAML 1.2 or JSON survey file. Raises SurveyError, which lists every problem; OSError as `open` does."""
        return _build(document.read(path))

    @classmethod
    def from_text(cls, text: str) -> Survey:
        """Parses the text of a survey file. Raises SurveyError."""
        return _build(document.parse(text))

    @classmethod
    def from_dict(cls, source: Mapping[str, Any]) -> Survey:
        """Builds a survey from what a survey file holds. Raises SurveyError."""
        return _build(document.Document(source))

    @classmethod
    def from_definition(cls, raw: bytes) -> Survey:
        """Parses a published definition. Raises RefusedError unless every byte is what its declared epsilons imply."""
        try:
            served = document.strict_json(raw)
            survey = cls.from_dict(_without_computed(served))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise RefusedError(f"the definition must be a JSON object as published: {type(error).__name__}") from None
        except SurveyError as error:
            raise RefusedError(f"the definition breaks the rules of a survey:\n{error}") from None
        survey._refuse_other_mechanism(served["questions"])
        if survey.definition != raw:
            raise RefusedError("the definition must be the canonical JSON of its survey, got other bytes")
        return survey

    @cached_property
    def items(self) -> tuple[Question, ...]:
        """The items of all questions, in the order of their bits."""
        return tuple(item for question in self.questions for item in question.items)

    @cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """What is drawn together where a survey asks a sample: a question and those shown after answers to it, by number."""
        block = _blocks([(q.id, q.show_if.question if q.show_if else None) for q in self.questions])
        return tuple(tuple(i for i, own in enumerate(block) if own == number) for number in range(max(block) + 1))

    @cached_property
    def definition(self) -> bytes:
        """What clients receive and hash: canonical JSON (RFC 8785), UTF-8."""
        computed = [{"categories": list(q.categories), "k": q.k, "d": q.d, "keep_threshold": q.keep_threshold} for q in self.questions]
        source = self.to_dict()
        return rfc8785.dumps({**source, "questions": [q | more for q, more in zip(source["questions"], computed, strict=True)]})

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the definition, 64 lower-case hexadecimal digits."""
        return hashlib.sha256(self.definition).hexdigest()

    @property
    def epsilon(self) -> float:
        """What one submission gives away at most: the exact losses of the questions asked add (sequential composition)."""
        if self.ask is None:
            return math.fsum(question.epsilon for question in self.questions)
        blocks = sorted(math.fsum(self.questions[i].epsilon for i in block) for block in self.blocks)
        return math.fsum(blocks[-self.ask :])

    def to_dict(self) -> dict[str, Any]:
        """The survey as a survey file would say it."""
        return {
            "deniable": FORMAT,
            "id": self.id,
            "title": self.title,
            "about": self.about,
            **({} if self.ask is None else {"ask": self.ask}),
            "questions": [question.to_dict() for question in self.questions],
        }

    def _refuse_other_mechanism(self, served: Sequence[Mapping[str, Any]]) -> None:
        for question, received in zip(self.questions, served, strict=True):
            expected = {"k": question.k, "d": question.d, "keep_threshold": question.keep_threshold}
            for name, value in expected.items():
                if received.get(name) != value:
                    raise RefusedError(
                        f"question {question.id}: {name} must be {value}, which epsilon {question.declared_epsilon} implies, "
                        f"got {received.get(name)!r}"
                    )


def parse_epsilon(written: Any, parts: int = 1) -> float:
    """The binary number that an epsilon, shared equally by `parts` questions, stands for.

    `written` is a number, its text, or `ln x`. A logarithm stands for the smallest double that is not below
    it, so that `ln 3` gives the two fair coins exactly; a number is shared rounding down. Raises ValueError.
    """
    text = written.strip() if isinstance(written, str) else repr(written) if type(written) in (int, float) else ""
    if match := LN.fullmatch(text):
        with localcontext() as context:
            context.prec = 60
            value = Decimal(match[1]).ln() / parts if Decimal(match[1]) > 0 else Decimal(0)
        nearest = float(value)
        epsilon = nearest if Decimal(nearest) >= value else math.nextafter(nearest, math.inf)
    elif NUMBER.fullmatch(text) and math.isfinite(float(text)):
        whole = Fraction(float(text))
        nearest = float(whole / parts)
        epsilon = nearest if Fraction(nearest) * parts <= whole else math.nextafter(nearest, 0)
    else:
        raise ValueError("must be a number or `ln x`")
    if not 0 < epsilon * parts <= MAX_EPSILON:
        raise ValueError(f"must be above 0 and at most {MAX_EPSILON}")
    return epsilon


def _blocks(questions: Sequence[tuple[Any, Any]]) -> list[int]:
    """The number of each question's block, from the (id, id of the question it depends on) of each."""
    block: list[int] = []
    known: dict[Any, int] = {}
    for name, asked in questions:
        block.append(known[asked] if isinstance(asked, str) and asked in known else max(block, default=-1) + 1)
        if isinstance(name, str):
            known.setdefault(name, block[-1])
    return block


def _without_computed(served: Any) -> dict[str, Any]:
    questions = [{key: value for key, value in q.items() if key not in _COMPUTED} for q in served["questions"]]
    return {**served, "questions": questions}


def _build(source: document.Document) -> Survey:
    return _Builder(source).survey()


@dataclass
class _Builder:
    """Turns a document into a Survey, collecting problems instead of stopping at the first."""

    source: document.Document
    problems: list[Problem] = field(default_factory=list)

    def survey(self) -> Survey:
        self.problems.extend(self.source.problems)
        top = self.source.value
        if not isinstance(top, Mapping):
            self.refuse("file", "must be a mapping with the keys deniable, id, title, about, epsilon, questions")
            raise SurveyError(self.problems)
        self.keys(top, "", required=("deniable", "id", "title", "about", "questions"), optional=("epsilon", "ask"))
        if "deniable" in top and str(top["deniable"]) != str(FORMAT):
            self.refuse("deniable", f"must be {FORMAT}, the version of the format, got {_shown(top['deniable'])}")
        self.identifier(top, "id", SURVEY_ID, "1 to 64 of a-z, 0-9, - and _, a letter or digit first")
        self.text(top, "", "title")
        self.text(top, "", "about")
        questions = self.questions(top)
        ask = self.asked(top, questions)
        self.size(questions, ask)
        if self.problems:
            raise SurveyError(sorted(self.problems, key=lambda p: p.line or 0))
        return Survey(top["id"], top["title"], top["about"], questions, ask)

    def refuse(self, where: str, message: str) -> None:
        self.problems.append(Problem(where, message, self.line(where)))

    def line(self, where: str) -> int | None:
        """The line of the nearest value that has one: a missing key is reported where it is missing."""
        while where and where not in self.source.lines:
            where = where[: max(where.rfind("."), where.rfind("["), 0)]
        return self.source.lines.get(where)

    def keys(self, mapping: Mapping[str, Any], where: str, required: Sequence[str], optional: Sequence[str]) -> None:
        known = [*required, *optional]
        for key in mapping:
            if key not in known:
                near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.5)
                hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
                self.refuse(_join(where, str(key)), f"is not a known key; {hint}")
        for key in required:
            if key not in mapping:
                self.refuse(_join(where, key), "is missing")

    def identifier(self, mapping: Mapping[str, Any], where: str, pattern: re.Pattern[str], rule: str) -> None:
        value = mapping.get("id")
        if "id" in mapping and not (isinstance(value, str) and pattern.fullmatch(value)):
            self.refuse(where, f"must be {rule}, got {_shown(value)}")

    def text(self, mapping: Mapping[str, Any], where: str, key: str) -> None:
        if key not in mapping:
            return
        value, here = mapping[key], _join(where, key)
        if not isinstance(value, str):
            self.refuse(here, f"must be text, got {type(value).__name__}")
        elif not value.strip():
            self.refuse(here, "must not be empty")
        elif len(value) > LENGTHS[key]:
            self.refuse(here, f"must be at most {LENGTHS[key]:,} characters, got {len(value):,}")
        elif not printable(value):
            self.refuse(here, "must not contain control characters")

    def questions(self, top: Mapping[str, Any]) -> tuple[Question, ...]:
        written = top.get("questions", [])
        if not isinstance(written, list | tuple) or ("questions" in top and not written):
            self.refuse("questions", "must be a list of at least one question")
            written = []
        block = _blocks([_dependence(source) for source in written])
        share = _whole(top.get("ask")) or len(set(block))
        built: list[Question | None] = []
        first: dict[str, int] = {}
        for index, source in enumerate(written):
            where = f"questions[{index}]"
            if not isinstance(source, Mapping):
                self.refuse(where, f"must be a mapping with the keys id, text, type, got {type(source).__name__}")
                continue
            name = source.get("id")
            if isinstance(name, str) and first.setdefault(name, index) != index:
                self.refuse(f"{where}.id", f"must be unique, got the id of questions[{first[name]}] again: {_shown(name)}")
            built.append(self.question(source, where, top, share * block.count(block[index]), tuple(built)))
        if "epsilon" in top:
            self.epsilon(top["epsilon"], "epsilon", 1)
        return tuple(question for question in built if question)

    def question(
        self, source: Mapping[str, Any], where: str, top: Mapping[str, Any], parts: int, earlier: Sequence[Question | None]
    ) -> Question | None:
        before = len(self.problems)
        kind = TYPES.get(source["type"]) if isinstance(source.get("type"), str) else None
        if "type" in source and kind is None:
            near = difflib.get_close_matches(str(source["type"]), TYPES, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            self.refuse(f"{where}.type", f"must be one of {', '.join(TYPES)}, got {_shown(source['type'])}{hint}")
        own = list(kind.keys) if kind else []
        others = [key for t in ([kind] if kind else TYPES.values()) for key in (*t.keys, *t.options)]
        self.keys(source, where, required=["id", "text", "type", *own], optional=["epsilon", "required", "show_if", *others])
        self.identifier(source, f"{where}.id", QUESTION_ID, "1 to 64 of A-Z, a-z, 0-9 and _, a letter first")
        self.text(source, where, "text")
        if kind and all(key in source for key in own):
            for key, message in kind.problems(source):
                self.refuse(f"{where}.{key}", message)
        required = self.flag(source, where, "required") and "show_if" not in source
        if "show_if" in source and source.get("required") in (True, "true"):
            self.refuse(f"{where}.required", "must be left out or false beside show_if: a question that is not shown is sent as no answer")
        show_if = self.condition(source["show_if"], f"{where}.show_if", earlier) if "show_if" in source else None
        epsilon = self.question_epsilon(source, where, top, parts)
        if kind is None or epsilon is None or len(self.problems) > before:
            return None
        settings = kind.settings(source, epsilon)
        categories = kind.categories(settings)
        if not required and NO_ANSWER in categories:
            self.refuse(where, f"must not have the option {NO_ANSWER!r}, which `required: false` adds by itself")
            return None
        categories += () if required else (NO_ANSWER,)
        labels = kind.items(settings)
        channel = Channel.for_epsilon(Fraction(epsilon) / max(1, len(labels)), len(categories))
        if channel.odds <= 1:
            self.refuse(f"{where}.epsilon", f"is too small for a 32-bit coin over {channel.k} categories: it would reveal nothing")
            return None
        return Question(source["id"], source["text"], source["type"], epsilon, settings, categories, channel, required, labels, show_if)

    def condition(self, written: Any, where: str, earlier: Sequence[Question | None]) -> Condition | None:
        """`show_if`, which may only look back."""
        if not isinstance(written, Mapping):
            self.refuse(where, f"must be a mapping with the keys question and is, got {type(written).__name__}")
            return None
        self.keys(written, where, required=["question", "is"], optional=[])
        if not {"question", "is"} <= set(written):
            return None
        name, options = written["question"], written["is"]
        found = next((q for q in earlier if q and q.id == name), None)
        if found is None or found.type == "number":
            if None not in earlier:  # else its own mistakes come first
                self.refuse(f"{where}.question", f"must be the id of an earlier question with options, got {_shown(name)}")
            return None
        known = found.labels or (found.categories if found.required else found.categories[:-1])
        if not isinstance(options, list | tuple) or not options or len(set(map(str, options))) < len(options):
            self.refuse(f"{where}.is", "must be a list of at least one of that question's options, each once")
            return None
        for index, option in enumerate(options):
            if option not in known:
                self.refuse(f"{where}.is[{index}]", f"must be one of {', '.join(known[:8])}, got {_shown(option)}")
        return Condition(found.id, tuple(map(str, options)))

    def flag(self, source: Mapping[str, Any], where: str, key: str) -> bool:
        """A true or false that is true if left out."""
        written = source.get(key, True)
        if written not in (True, False, "true", "false") or isinstance(written, int | float) != isinstance(written, bool):
            self.refuse(f"{where}.{key}", f"must be true or false, got {_shown(written)}")
        return written not in (False, "false")

    def question_epsilon(self, source: Mapping[str, Any], where: str, top: Mapping[str, Any], parts: int) -> float | None:
        if "epsilon" in source and "epsilon" in top:
            self.refuse(f"{where}.epsilon", "must not stand beside an epsilon for the whole survey; keep one of the two")
            return None
        if "epsilon" in source:
            return self.epsilon(source["epsilon"], f"{where}.epsilon", 1)
        if "epsilon" not in top:
            self.refuse(f"{where}.epsilon", "is missing: give one here, or one for the whole survey")
            return None
        try:
            return parse_epsilon(top["epsilon"], parts)
        except ValueError:
            return None  # reported once, for the survey

    def epsilon(self, written: Any, where: str, parts: int) -> float | None:
        try:
            return parse_epsilon(written, parts)
        except ValueError as error:
            self.refuse(where, f"{error}, got {_shown(written)}")
            return None

    def asked(self, top: Mapping[str, Any], questions: tuple[Question, ...]) -> int | None:
        """How many blocks are drawn, of which there must be more."""
        if "ask" not in top:
            return None
        ask, blocks = _whole(top["ask"]), len(Survey("", "", "", questions).blocks) if questions else 0
        if ask is None or not 1 <= ask < max(blocks, 2):
            self.refuse("ask", f"must be a whole number from 1 to {max(blocks, 2) - 1}, fewer than all, got {_shown(top['ask'])}")
        return ask

    def size(self, questions: Sequence[Question], ask: int | None) -> None:
        bits = sum(item.k - 1 for question in questions for item in question.items) + (len(questions) if ask else 0)
        if bits > MAX_BITS:
            self.refuse("questions", f"must need at most {MAX_BITS:,} bits in all (options less one, added up), got {bits:,}")


def _dependence(source: Any) -> tuple[Any, Any]:
    """The id of a question in a survey file, and that of the question that its show_if names."""
    if not isinstance(source, Mapping):
        return None, None
    show_if = source.get("show_if")
    return source.get("id"), show_if.get("question") if isinstance(show_if, Mapping) else None


def _whole(written: Any) -> int | None:
    value = number(written)
    return int(value) if value is not None and value.is_integer() else None


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _shown(value: Any) -> str:
    """A value of a survey file, short enough for a message."""
    text = repr(value) if isinstance(value, str | int | float | bool) else type(value).__name__
    return text if len(text) <= 60 else text[:57] + "…'"
