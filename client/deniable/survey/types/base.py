"""What one type of question knows, and what several types share."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.mechanism import Channel

MAX_OPTIONS = 1024
MAX_OPTION_LENGTH = 200
MAX_NUMBER = 1_000_000_000
MIN_SPREAD = Fraction(1, 10**9)
MIN_PART = Fraction(1, 10_000)  # of the number that is further from 0: less, and the variance of a mean loses its digits in doubles
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")
NO_ANSWER = "no answer"  # one more category of every question that is not required: skipping is randomized too

Answer = Any
"""A true answer as a caller holds it: a bool, a string, a number. It never leaves the caller's process."""


class QuestionType:
    """What one type of question knows: one of its categories, none of them rounded, unless a type says otherwise."""

    title: str
    """What it is for people who choose among types."""

    required_keys: Mapping[str, Mapping[str, Any]] = {}
    """The keys that a question of this type must have and no other has, each with its JSON Schema."""

    optional_keys: Mapping[str, Mapping[str, Any]] = {}
    """The keys that it may have besides."""

    is_number: bool = False
    """Whether its answers are numbers, which files may write with a decimal comma."""

    item_type: str = "yes_no"
    """The type of its items, where it consists of items."""

    def problems(self, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yields (key, rule broken) for the type's own keys of a question in a survey file."""
        yield from ()

    def settings(self, source: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
        """The type's own keys as the definition has them, what was left out filled in."""
        return {}

    def categories(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """The labels of the categories, in the order of their bits."""
        return self.options(settings)

    def options(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """The survey's own texts that respondents choose from; none where the page has words or a field for it."""
        return ()

    def wording(self, settings: Mapping[str, Any]) -> str | None:
        """What may be answered, for a message; None where it is one of the categories."""
        return None

    def items(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """The labels of the items of `item_type` that it consists of, each randomized by itself; none where it is one."""
        return ()

    def exclusive(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """The options that go with no other one."""
        return ()

    def channel(self, settings: Mapping[str, Any], epsilon: Fraction, k: int) -> Channel:
        """The coins for one of k categories, "no answer" among them where it is one, whose loss is at most `epsilon`."""
        return Channel.for_epsilon(epsilon, k)

    def scores(self, settings: Mapping[str, Any]) -> tuple[float, ...] | None:
        """A number for each category where means have a meaning, else None."""
        return None

    def rounds(self, settings: Mapping[str, Any]) -> bool:
        """Whether an answer may stand between two categories; it takes a random word then, to be rounded to one of them."""
        return False

    def position(self, settings: Mapping[str, Any], categories: tuple[str, ...], answer: Answer) -> float | None:
        """Where an answer stands among the categories 0 .. k-1, or None where it stands nowhere.

        Between two categories it becomes the upper one with the chance of its distance from the lower one, so
        that the mean stays unbiased.
        """
        return None


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


def label_of(answer: Answer, labels: Container[str]) -> str:
    """Returns the label that an answer means; the answer as text where it means none, empty for what is neither text nor a whole number.

    A whole number may be written with zeros behind a point: pandas makes 1.0 of each 1 in a column where a number is missing.
    """
    if isinstance(answer, float | np.floating) and answer.is_integer():
        answer = int(answer)
    if isinstance(answer, bool) or not isinstance(answer, str | int | np.integer):
        return ""
    text = str(answer).strip()
    return text if text in labels or not (written := _WHOLE.fullmatch(text)) else written[1]


def number(written: Any) -> float | None:
    """A number as a survey file has it, which may be text; None where it is none, or beyond MAX_NUMBER."""
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    try:
        value = float(written)
    except (ValueError, OverflowError):
        return None
    return value + 0.0 if abs(value) <= MAX_NUMBER else None  # -0.0 becomes 0.0


def spread_problem(least: float, greatest: float, which: str) -> str | None:
    """The rule that numbers break whose mean is estimated, if any. It holds exactly, for the decimals as written. which: all of them."""
    ends = Fraction(repr(least)), Fraction(repr(greatest))
    spread, furthest = ends[1] - ends[0], max(map(abs, ends))
    rule, came = "the greatest less the least must be", f"got {float(spread):.12g}"
    if spread < MIN_SPREAD:
        return f"{rule} {float(MIN_SPREAD):.9f} or more, {came}; count in a smaller unit"
    if spread < MIN_PART * furthest:
        beside = f"{came} beside {float(furthest):.12g}; take the same number off {which}"
        return f"{rule} a ten-thousandth or more of the one that is further from 0, {beside}"
    return None


def printable(text: str) -> bool:
    """Whether a text has no control character but line breaks, and no half of a surrogate pair."""
    return all(c in "\n\t" or not (ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000) for c in text)
