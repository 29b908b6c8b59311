"""Mending file: lists what an import cannot decide, with a proposal and one place for each decision of the author."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deniable.errors import Problem, SurveyError
from deniable.forms.decisions import Decisions, NumberEnds
from deniable.forms.report import Decision, Mending
from deniable.forms.texts import truncate
from deniable.survey import document
from deniable.survey.types.base import number
from deniable.survey.validator import LENGTHS, excerpt

MOST_BINS = 50
_WIDTH = 110  # characters of a comment
_PARTS: dict[Decision, str] = {
    "numbers": "Numbers without two ends. Fill in low and high, or empty one of them to leave the question out.\n"
    "bins is for ranges instead of a mean: where the second and later ones begin, such as [18, 65].",
    "conditions": "Conditions that a survey cannot express, or only in part. kept: more people are asked than in the form.",
    "texts": "Texts that show an earlier answer. Write them without it.",
    "notes": "Texts without a question.",
    "others": "Options “Other”. A survey has no text for them.",
}
"""The parts of a mending file, each with its comment."""


def to_text(name: str, mendings: Sequence[Mending]) -> str:
    """Returns a mending file with all proposals.

    Args:
        name: The name of the form's file.
        mendings: The open decisions.
    """
    lines = [f"# Decisions about {truncate(name, 80)}. Change what follows the colons, and import with --answers."]
    for part, comment in _PARTS.items():
        entries = [mending for mending in mendings if mending.decision == part]
        if entries:
            lines += ["", *_comment(comment), f"{part}:", *(line for entry in entries for line in _entry(entry))]
    return "\n".join([*lines, ""])


def _entry(mending: Mending) -> Iterator[str]:
    choices = f"Choose: {', '.join(mending.choices)}." if mending.choices else ""
    for text in (mending.text, mending.about, choices):
        yield from (f"  {line}" for line in _comment(truncate(text, 400)))
    if isinstance(mending.proposal, str):
        yield f"  {json.dumps(mending.name, ensure_ascii=False)}: {mending.proposal}"
        return
    yield f"  {json.dumps(mending.name, ensure_ascii=False)}:"
    for key, value in mending.proposal.items():
        cell = f"[{value}]" if key == "bins" else value if mending.decision == "numbers" else json.dumps(value, ensure_ascii=False)
        yield f"    {key}: {cell}".rstrip()


def _comment(text: str) -> Iterator[str]:
    """Yields a text as lines of comments."""
    for paragraph in filter(None, text.split("\n")):
        line = "#"
        for word in paragraph.split():
            if len(line) + len(word) > _WIDTH and line != "#":
                yield line
                line = "#"
            line += f" {word}"
        yield line


def read_decisions(text: str, mendings: Sequence[Mending]) -> Decisions:
    """Returns the decisions of a mending file.

    Args:
        text: The file.
        mendings: The open decisions about the form.

    Raises:
        SurveyError: It lists every wrong entry.
    """
    source = document.parse(text)
    reader = _Reader(source, mendings)
    decisions = reader.read()
    if problems := [*source.problems, *reader.problems]:
        raise SurveyError(problems)
    return decisions


def decide(values: Mapping[str, Any], mendings: Sequence[Mending]) -> Decisions:
    """Returns decisions that a page has collected, as `read_decisions` does.

    Raises:
        SurveyError: It lists every wrong entry.
    """
    reader = _Reader(document.Document(values), mendings)
    decisions = reader.read()
    if reader.problems:
        raise SurveyError(reader.problems)
    return decisions


@dataclass
class _Reader:
    """Reader of one mending file.

    Attributes:
        source: The file.
        mendings: The open decisions.
        problems: The wrong entries so far.
    """

    source: document.Document
    mendings: Sequence[Mending]
    problems: list[Problem] = field(default_factory=list)

    def read(self) -> Decisions:
        value = self.source.value
        if value in ("", None):
            return Decisions()
        if not isinstance(value, Mapping):
            self.refuse("file", f"must be a mapping with the keys {', '.join(_PARTS)}, got {type(value).__name__}")
            return Decisions()
        for part in value:
            if part not in _PARTS:
                self.refuse(str(part), f"is not a known key; the keys here are {', '.join(_PARTS)}")
        choices = {part: self.part(part, self.choice) for part in ("conditions", "notes", "others")}
        return Decisions(
            self.part("numbers", self.number), choices["conditions"], self.part("texts", self.texts), choices["notes"], choices["others"]
        )

    def refuse(self, where: str, message: str) -> None:
        line = next((self.source.lines[name] for name in (where, where.rpartition(".")[0]) if name in self.source.lines), None)
        self.problems.append(Problem(where, message, line))

    def part(self, part: Decision, read: Callable[[str, Any, Mending], Any]) -> dict[str, Any]:
        """Returns the decisions of one part, without those that leave things as they are."""
        entries = self.source.value.get(part) or {}
        if not isinstance(entries, Mapping):
            self.refuse(part, f"must be a mapping, got {type(entries).__name__}")
            return {}
        by_name = {mending.name: mending for mending in self.mendings if mending.decision == part}
        decisions: dict[str, Any] = {}
        for name, value in entries.items():
            where = f"{part}.{name}"
            if name not in by_name:
                self.refuse(where, "must be the name of a row of the form that needs this decision")
            elif (decision := read(where, value, by_name[name])) is not None:
                decisions[name] = decision
        return decisions

    def choice(self, where: str, value: Any, mending: Mending) -> str | None:
        if value in ("", None):
            return None
        if value not in mending.choices:
            self.refuse(where, f"must be {' or '.join(mending.choices)}, got {excerpt(value)}")
            return None
        return str(value)

    def texts(self, where: str, value: Any, mending: Mending) -> dict[str, str] | None:
        if not isinstance(value, Mapping) or not set(value) <= set(mending.proposal):
            self.refuse(where, f"must have the keys {' and '.join(mending.proposal)}")
            return None
        texts = {}
        for key, text in value.items():
            if not isinstance(text, str) or not text.strip() or len(text) > LENGTHS[key]:
                self.refuse(f"{where}.{key}", f"must be a text of 1 to {LENGTHS[key]:,} characters")
            elif isinstance(mending.proposal, dict) and text != mending.proposal[key]:
                texts[key] = " ".join(text.split())
        return texts or None

    def number(self, where: str, value: Any, mending: Mending) -> NumberEnds | None:
        if not isinstance(value, Mapping) or not set(value) <= {"low", "high", "bins"}:
            self.refuse(where, "must have the keys low, high and bins")
            return None
        ends = {key: self.end(f"{where}.{key}", value.get(key)) for key in ("low", "high")}
        low, high = ends["low"], ends["high"]
        if low is None or high is None:
            return None
        if low >= high:
            self.refuse(f"{where}.high", f"must be above low, got {excerpt(value['high'])}")
            return None
        bins = self.bins(f"{where}.bins", value.get("bins"), low, high)
        return NumberEnds(low, high, bins)

    def end(self, where: str, value: Any) -> float | None:
        if value in ("", None):
            return None
        parsed = number(value)
        if parsed is None:
            self.refuse(where, f"must be a number, got {excerpt(value)}")
        return parsed

    def bins(self, where: str, value: Any, low: float, high: float) -> tuple[float, ...]:
        """Returns where bins begin, from a list or from a text with commas."""
        texts = re.split(r"[,;\s]+", value.strip(" []")) if isinstance(value, str) else [] if value is None else value
        texts = [text for text in texts if text not in ("", None)] if isinstance(texts, list) else [None]
        starts = [number(text) for text in texts]
        valid = [start for start in starts if start is not None]
        is_rising = all(a < b for a, b in zip([low, *valid], [*valid, high], strict=True))
        if len(valid) < len(starts) or not is_rising or len(valid) > MOST_BINS:
            self.refuse(where, f"must be at most {MOST_BINS} rising numbers between low and high, got {excerpt(value)}")
            return ()
        return tuple(valid)
