"""Base class of question types, and rules that several types share."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from deniable.mechanism import Channel

MAX_OPTIONS = 1024
ORDERS = ("random", "rotate")
"""Orders that a device draws: any order, or the given one from another beginning."""
MAX_OPTION_LENGTH = 200
MAX_NUMBER = 1_000_000_000
MIN_SPREAD = Fraction(1, 10**9)
MIN_PART = Fraction(1, 10_000)  # of the number further from 0: below, rounding errors of doubles dominate the variance of a mean
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")
NO_ANSWER = "no answer"  # one more category of every optional question: skipping is randomized too

Answer = Any
"""A true answer in the caller's form: a bool, a string, a number. It never leaves the caller's process."""


@dataclass(frozen=True)
class QuestionType:
    """Type of a question, with its settings: the keys that only this type has in a survey file.

    By default an answer is one category, and no answer is rounded.
    """

    name: ClassVar[str]
    """The type's name in a survey file."""

    title: ClassVar[str]
    """A description for people who choose among types."""

    required_keys: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """The type's own keys that a question must have, each with its JSON Schema."""

    optional_keys: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """The type's own keys that a question may have, each with its JSON Schema."""

    is_number: ClassVar[bool] = False
    """Whether answers are numbers, which files may write with a decimal comma."""

    @classmethod
    def problems(cls, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yields (key, rule broken) for the type's own keys of a question in a survey file."""
        yield from ()

    @classmethod
    def parse(cls, source: Mapping[str, Any], epsilon: float) -> Self:
        """Returns the type of a question in a survey file, without problems; defaults may depend on its epsilon."""
        return cls()

    def to_dict(self) -> dict[str, Any]:
        """Returns the type's own keys as in a definition, including defaults."""
        return {}

    @property
    def categories(self) -> tuple[str, ...]:
        """The labels of the categories, in the order of their bits."""
        return self.choices

    @property
    def choices(self) -> tuple[str, ...]:
        """The survey's own texts that respondents choose from; empty if the page has its own words or a field."""
        return ()

    @property
    def wording(self) -> str | None:
        """A description of valid answers, for a message, if they are not the categories."""
        return None

    @property
    def items(self) -> tuple[str, ...]:
        """The labels of items that are randomized separately, if the question consists of items."""
        return ()

    @property
    def item_type(self) -> QuestionType:
        """The type of each item."""
        return self

    @property
    def exclusive_options(self) -> tuple[str, ...]:
        """The options that exclude all others, `none_option` among them."""
        return ()

    @property
    def limits(self) -> tuple[int, int] | None:
        """The least and the greatest number of options that go together in an answer; None if there is no rule about them."""
        return None

    @property
    def none_option(self) -> str | None:
        """The option that means that no other option applies, if there is one."""
        return None

    @property
    def drawn_order(self) -> str | None:
        """How a respondent's device orders the options on its page; None for the given order."""
        return None

    @property
    def other_option(self) -> str | None:
        """The option for all other answers, if there is one."""
        return None

    @property
    def category_scores(self) -> tuple[float, ...] | None:
        """A number for each category, if means are defined."""
        return None

    @property
    def range(self) -> tuple[float, float] | None:
        """The least and the greatest number that can be answered, if answers are numbers."""
        return None

    @property
    def bin_edges(self) -> tuple[tuple[float, float], ...]:
        """The start and the end of each bin, if the categories are bins of a number."""
        return ()

    @property
    def rounds(self) -> bool:
        """Whether an answer may be between two categories, and is rounded to one of them by a random word."""
        return False

    def channel(self, epsilon: Fraction, k: int) -> Channel:
        """Returns the coins for one of k categories, including "no answer" if it is one, with a loss of at most `epsilon`."""
        return Channel.for_epsilon(epsilon, k)

    def position(self, answer: Answer) -> float | None:
        """Returns the position of an answer among the categories 0 .. k-1, or None for an invalid answer.

        Between two categories, the answer becomes the upper one with a chance equal to its distance from the lower one, so that the
        mean stays unbiased.
        """
        return None


def label_problems(labels: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yields (key, rule broken) for a list of at least two texts that people choose from."""
    if not isinstance(labels, list | tuple):
        yield key, f"must be a list of texts, got {type(labels).__name__}"
        return
    if not 2 <= len(labels) <= MAX_OPTIONS:
        yield key, f"must be 2 to {MAX_OPTIONS:,} {key}, got {len(labels):,}"
    first: dict[Any, int] = {}
    for index, label in enumerate(labels):
        here = f"{key}[{index}]"
        if (broken := label_problem(label)) is not None:
            yield here, broken
        elif label in first:
            yield here, f"must differ from the other {key}, got {key}[{first[label]}] again"
        else:
            first[label] = index


def label_problem(label: Any) -> str | None:
    """Returns the rule that a label breaks, if any."""
    if not isinstance(label, str):
        return f"must be text (in quotes, in JSON), got {type(label).__name__}"
    if not label.strip() or label != label.strip():
        return "must not be empty, nor begin or end with a space"
    if len(label) > MAX_OPTION_LENGTH:
        return f"must be at most {MAX_OPTION_LENGTH} characters, got {len(label):,}"
    return None if printable(label) else "must not contain control characters"


def label_of(answer: Answer, labels: Container[str]) -> str:
    """Returns the label that an answer means, or if there is no such label, the answer as text; empty for other types of values.

    A whole number may have zeros after its decimal point: pandas turns each 1 into 1.0 in a column with a missing number.
    """
    if isinstance(answer, float | np.floating) and answer.is_integer():
        answer = int(answer)
    if isinstance(answer, bool) or not isinstance(answer, str | int | np.integer):
        return ""
    text = str(answer).strip()
    return text if text in labels or not (match := _WHOLE.fullmatch(text)) else match[1]


def number(source: Any) -> float | None:
    """Returns a number of a survey file, which may be text; None for other values, and beyond MAX_NUMBER."""
    if isinstance(source, bool) or not isinstance(source, str | int | float):
        return None
    try:
        value = float(source)
    except (ValueError, OverflowError):
        return None
    return value + 0.0 if abs(value) <= MAX_NUMBER else None  # -0.0 becomes 0.0


def whole_number(source: Any) -> int | None:
    """Returns a whole number of a survey file; None for other values."""
    value = number(source)
    return int(value) if value is not None and value.is_integer() else None


def spread_problem(least: float, greatest: float, which: str) -> str | None:
    """Returns the rule that scores or ends of a range break, if any: a mean of numbers that are almost equal cannot be estimated.

    Args:
        least: The least number.
        greatest: The greatest number.
        which: A word for all the numbers, for the message.
    """
    ends = Fraction(repr(least)), Fraction(repr(greatest))  # exactly the decimals in the file
    spread, furthest = ends[1] - ends[0], max(map(abs, ends))
    rule, came = "the greatest less the least must be", f"got {float(spread):.12g}"
    if spread < MIN_SPREAD:
        return f"{rule} {float(MIN_SPREAD):.9f} or more, {came}; count in a smaller unit"
    if spread < MIN_PART * furthest:
        beside = f"{came} beside {float(furthest):.12g}; take the same number off {which}"
        return f"{rule} a ten-thousandth or more of the one that is further from 0, {beside}"
    return None


def printable(text: str) -> bool:
    """Returns whether a text has no control characters except line breaks and tabs, and no lone surrogates."""
    return all(c in "\n\t" or not (ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000) for c in text)
