"""The question types: which keys they carry in a survey file, which categories they have, and where an answer stands among them.

Only this file knows them. To add one: a class here, its twin in `browser/encode.mjs`, a template partial, and vectors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Protocol

import numpy as np
import rfc8785

from deniable.grid import best_levels

MAX_OPTIONS = 1024
MAX_OPTION_LENGTH = 200
MAX_NUMBER = 1_000_000_000
_DECIMAL = re.compile(r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?")
_SPACE = " \t\r\n"
NO_ANSWER = "no answer"  # one more category of every question that is not required: skipping is randomized too

Answer = Any
"""A true answer as a caller holds it: a bool, a string, a number. It never leaves the caller's process."""


class QuestionType(Protocol):
    """What one type of question knows."""

    keys: Mapping[str, Mapping[str, Any]]
    """The keys that a question of this type must have and no other has, each with its JSON Schema."""

    options: Mapping[str, Mapping[str, Any]]
    """The keys that it may have besides."""

    def problems(self, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yields (key, rule broken) for the type's own keys of a question in a survey file."""

    def settings(self, source: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
        """The type's own keys as the definition has them, what was left out filled in."""

    def categories(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """The labels of the categories, in the order of their bits."""

    def items(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """The labels of the yes/no items that it consists of, each randomized by itself; none where it is one."""

    def scores(self, settings: Mapping[str, Any]) -> tuple[float, ...] | None:
        """A number for each category where means have a meaning, else None."""

    def place(self, settings: Mapping[str, Any], categories: tuple[str, ...], answer: Answer) -> float | None:
        """Where an answer stands among the categories 0 .. k-1, or None where it stands nowhere.

        Between two categories it becomes the upper one with the chance of its distance from the lower one, so
        that the mean stays unbiased.
        """


class YesNo:
    """Yes or no. Answers: True, False, 1, 0, or the words yes, no, true, false, 1, 0 in any case."""

    keys: Mapping[str, Mapping[str, Any]] = {}
    options: Mapping[str, Mapping[str, Any]] = {}
    _meaning: ClassVar = {"yes": 0, "true": 0, "1": 0, "no": 1, "false": 1, "0": 1}

    def problems(self, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        return iter(())

    def settings(self, source: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
        return {}

    def categories(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ("yes", "no")

    def items(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ()

    def scores(self, settings: Mapping[str, Any]) -> tuple[float, ...] | None:
        return None

    def place(self, settings: Mapping[str, Any], categories: tuple[str, ...], answer: Answer) -> float | None:
        if isinstance(answer, str):
            return self._meaning.get(answer.strip().lower())
        if not isinstance(answer, int | float | np.bool_ | np.number):
            return None
        return 0 if answer == 1 else 1 if answer == 0 else None


class Choice:
    """One of several options. Answers: an option's text, or an integer written as an option."""

    keys: Mapping[str, Mapping[str, Any]] = {
        "options": {
            "type": "array",
            "items": {"type": ["string", "number", "boolean"]},
            "minItems": 2,
            "maxItems": MAX_OPTIONS,
            "description": "What can be chosen, in order. Every option is text: yes, no and 1.10 stay as they are written.",
        }
    }
    options: Mapping[str, Mapping[str, Any]] = {}

    def problems(self, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        return label_problems(source["options"], "options")

    def settings(self, source: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
        return {"options": list(source["options"])}

    def categories(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(settings["options"])

    def items(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ()

    def scores(self, settings: Mapping[str, Any]) -> tuple[float, ...] | None:
        return None

    def place(self, settings: Mapping[str, Any], categories: tuple[str, ...], answer: Answer) -> float | None:
        if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
            answer = str(answer)
        if not isinstance(answer, str):
            return None
        text = answer.strip()
        return categories.index(text) if text in categories else None


class Scale(Choice):
    """Options in order, each with a score, 1 to k unless `scores` gives others. Answers: as for a choice."""

    options: Mapping[str, Mapping[str, Any]] = {
        "scores": {
            "type": "array",
            "items": {"type": ["number", "string"]},
            "minItems": 2,
            "maxItems": MAX_OPTIONS,
            "description": "A number for each option, rising; 1, 2, 3, … if left out. Means are of these.",
        }
    }

    def problems(self, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        yield from super().problems(source)
        scores = source.get("scores", [])
        if not isinstance(scores, list | tuple):
            yield "scores", f"must be a list of numbers, got {type(scores).__name__}"
            return
        if "scores" in source and isinstance(source["options"], list | tuple) and len(scores) != len(source["options"]):
            yield "scores", f"must be one number for each of the {len(source['options']):,} options, got {len(scores):,}"
        numbers = [number(score) for score in scores]
        for index, score in enumerate(numbers):
            if score is None:
                yield f"scores[{index}]", f"must be a number from -{MAX_NUMBER:,} to {MAX_NUMBER:,}"
            elif index and (before := numbers[index - 1]) is not None and score <= before:
                yield f"scores[{index}]", "must be above the score before it"

    def settings(self, source: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
        scores = source.get("scores", range(1, len(source["options"]) + 1))
        return {**super().settings(source, epsilon), "scores": [number(score) for score in scores]}

    def scores(self, settings: Mapping[str, Any]) -> tuple[float, ...] | None:
        return tuple(settings["scores"])


class MultiChoice(Choice):
    """Any number of several options, each a yes/no item with its share of epsilon. Answers: a list of the options chosen."""

    def categories(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ("yes", "no")

    def items(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(settings["options"])

    def place(self, settings: Mapping[str, Any], categories: tuple[str, ...], answer: Answer) -> float | None:
        return None  # its items have places, the whole has none


_NUMBER_SCHEMA = {"type": ["number", "string"]}


class Number:
    """A number in [low, high], as a level of a grid with both ends, or as one of named bins. Answers: a number, or its text."""

    keys: Mapping[str, Mapping[str, Any]] = {
        "low": {**_NUMBER_SCHEMA, "description": "The least number that can be answered."},
        "high": {**_NUMBER_SCHEMA, "description": "The greatest number that can be answered."},
    }
    options: Mapping[str, Mapping[str, Any]] = {
        "levels": {
            "type": ["integer", "string"],
            "description": f"The levels of the grid, 2 to {MAX_OPTIONS:,}; those of the least error of the mean if left out.",
        },
        "bins": {
            "type": "array",
            "minItems": 2,
            "maxItems": MAX_OPTIONS,
            "items": {
                "type": "object",
                "properties": {"name": {"type": ["string", "number", "boolean"]}, "from": _NUMBER_SCHEMA},
                "required": ["name", "from"],
                "additionalProperties": False,
            },
            "description": "Instead of a grid: named bins, each from its number up to the next one's, the first from low.",
        },
    }

    def problems(self, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        ends = [number(source[key]) for key in ("low", "high")]
        for key, end in zip(("low", "high"), ends, strict=True):
            if end is None:
                yield key, f"must be a number from -{MAX_NUMBER:,} to {MAX_NUMBER:,}"
        if ends[0] is not None and ends[1] is not None and not ends[0] < ends[1]:
            yield "high", "must be above low"
            return
        if "bins" in source:
            yield from _bin_problems(source["bins"], *ends)
            if "levels" in source:
                yield "levels", "must not stand beside bins; keep one of the two"
            return
        levels = _whole_number(source.get("levels", 2))
        if levels is None or not 2 <= levels <= MAX_OPTIONS:
            yield "levels", f"must be a whole number from 2 to {MAX_OPTIONS:,}"
        elif None not in ends and len(set(_grid(ends[0] or 0.0, ends[1] or 0.0, levels))) < levels:
            yield "levels", "must be fewer: low and high are too close for so many"

    def settings(self, source: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
        ends = {"low": number(source["low"]), "high": number(source["high"])}
        if "bins" in source:
            return {**ends, "bins": [{"name": one["name"], "from": number(one["from"])} for one in source["bins"]]}
        return {**ends, "levels": _whole_number(source["levels"]) if "levels" in source else best_levels(epsilon)}

    def categories(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        if "bins" in settings:
            return tuple(one["name"] for one in settings["bins"])
        return tuple(rfc8785.dumps(level).decode() for level in self.scores(settings) or ())

    def items(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ()

    def scores(self, settings: Mapping[str, Any]) -> tuple[float, ...] | None:
        return None if "bins" in settings else _grid(settings["low"], settings["high"], settings["levels"])

    def place(self, settings: Mapping[str, Any], categories: tuple[str, ...], answer: Answer) -> float | None:
        value, low, high = _answered_number(answer), settings["low"], settings["high"]
        if value is None or not low <= value <= high:
            return None
        if "bins" in settings:
            return float(sum(one["from"] <= value for one in settings["bins"])) - 1
        return (value - low) / (high - low) * (len(categories) - 1)  # type: ignore[no-any-return]


def _bin_problems(bins: Any, low: float | None, high: float | None) -> Iterator[tuple[str, str]]:
    if not isinstance(bins, list | tuple) or not all(isinstance(one, Mapping) and set(one) == {"name", "from"} for one in bins):
        yield "bins", "must be a list of mappings with exactly the keys name and from"
        return
    for where, broken in label_problems([one["name"] for one in bins], "bins"):
        yield (f"{where}.name" if where != "bins" else where), broken
    edges = [number(one["from"]) for one in bins]
    for index, edge in enumerate(edges):
        if edge is None:
            yield f"bins[{index}].from", f"must be a number from -{MAX_NUMBER:,} to {MAX_NUMBER:,}"
        elif index == 0 and low is not None and edge != low:
            yield "bins[0].from", "must be low: the bins begin there"
        elif index and (before := edges[index - 1]) is not None and edge <= before:
            yield f"bins[{index}].from", "must be above that of the bin before it"
        elif high is not None and edge > high:
            yield f"bins[{index}].from", "must not be above high"


def label_problems(labels: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yields (place, rule broken) for a list of at least two texts that people choose from."""
    if not isinstance(labels, list | tuple):
        yield key, f"must be a list of texts, got {type(labels).__name__}"
        return
    if not 2 <= len(labels) <= MAX_OPTIONS:
        yield key, f"must be 2 to {MAX_OPTIONS:,} {key}, got {len(labels):,}"
    seen: dict[Any, int] = {}
    for index, label in enumerate(labels):
        here = f"{key}[{index}]"
        if (broken := label_problem(label)) is not None:
            yield here, broken
        elif label in seen:
            yield here, f"must differ from the other {key}, got {key}[{seen[label]}] again"
        else:
            seen[label] = index


def label_problem(label: Any) -> str | None:
    """The rule that a label breaks, if any."""
    if not isinstance(label, str):
        return f"must be text (in quotes, in JSON), got {type(label).__name__}"
    if not label.strip() or label != label.strip():
        return "must not be empty, nor begin or end with a space"
    if len(label) > MAX_OPTION_LENGTH:
        return f"must be at most {MAX_OPTION_LENGTH} characters, got {len(label):,}"
    return None if printable(label) else "must not contain control characters"


def _grid(low: float, high: float, levels: int) -> tuple[float, ...]:
    """Equally spaced, both ends as they are; the same doubles in every language that computes in this order."""
    return (*(low + (high - low) * level / (levels - 1) for level in range(levels - 1)), high)


def _whole_number(written: Any) -> int | None:
    value = number(written)
    return int(value) if value is not None and value.is_integer() else None


def _answered_number(answer: Answer) -> float | None:
    """An answer as a number: of a number type, or a decimal as people write it."""
    if isinstance(answer, str):
        return float(answer) if _DECIMAL.fullmatch(answer := answer.strip(_SPACE)) else None
    if isinstance(answer, bool | np.bool_) or not isinstance(answer, int | float | np.integer | np.floating):
        return None
    return float(answer) if -MAX_NUMBER <= answer <= MAX_NUMBER else None


def number(written: Any) -> float | None:
    """A number as a survey file has it, which may be text; None where it is none, or beyond MAX_NUMBER."""
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    try:
        value = float(written)
    except (ValueError, OverflowError):
        return None
    return value + 0.0 if abs(value) <= MAX_NUMBER else None  # -0.0 becomes 0.0


def printable(text: str) -> bool:
    """Whether a text has no control character but line breaks, and no half of a surrogate pair."""
    return all(c in "\n\t" or not (ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000) for c in text)


TYPES: dict[str, QuestionType] = {
    "yes_no": YesNo(),
    "choice": Choice(),
    "scale": Scale(),
    "number": Number(),
    "multi_choice": MultiChoice(),
}
