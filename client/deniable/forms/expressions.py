"""Conditions of a foreign form as a tree: comparisons of earlier answers with values, combined by and, or, not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Sign = Literal["=", "!=", ">", ">=", "<", "<=", "has", "lacks"]
OPPOSITE: dict[str, Sign] = {"=": "!=", "!=": "=", ">": "<=", "<=": ">", ">=": "<", "<": ">=", "has": "lacks", "lacks": "has"}
MIRRORED: dict[str, Sign] = {"=": "=", "!=": "!=", ">": "<", "<": ">", ">=": "<=", "<=": ">="}

Word = Literal["all", "any"]


@dataclass(frozen=True)
class AnswerComparison:
    """A comparison of the answer to a question with a value.

    Attributes:
        name: The name of the question.
        sign: The operator. `has` and `lacks` ask whether the value is among several chosen options.
        value: The value; empty for "no answer".
        or_missing: Whether it also holds for people who did not answer the question.
        text: How the form writes it.
    """

    name: str
    sign: Sign
    value: str
    or_missing: bool
    text: str = field(default="", compare=False)


@dataclass(frozen=True)
class CountComparison:
    """A comparison of the number of chosen options with a number."""

    name: str
    sign: Sign
    value: str
    text: str = field(default="", compare=False)


@dataclass(frozen=True)
class ScoreComparison:
    """A comparison of the sum of several answers, as numbers, with a number."""

    names: tuple[str, ...]
    sign: Sign
    value: str
    text: str = field(default="", compare=False)


@dataclass(frozen=True)
class Constant:
    """A condition that always or never holds."""

    holds: bool
    text: str = field(default="", compare=False)


@dataclass(frozen=True)
class Unreadable:
    """A part of a condition that is about anything but earlier answers."""

    text: str


@dataclass(frozen=True)
class CombinedConditions:
    """All or any of some conditions. No part is a combination by the same word."""

    word: Word
    parts: tuple[Expression, ...]

    @property
    def text(self) -> str:
        """How a form would write it."""
        joiner = " and " if self.word == "all" else " or "
        return joiner.join(f"({part.text})" if isinstance(part, CombinedConditions) else part.text for part in self.parts)


Expression = AnswerComparison | CountComparison | ScoreComparison | Constant | Unreadable | CombinedConditions
ALWAYS = Constant(True)


def comparison(name: str, sign: Sign, value: str, text: str) -> AnswerComparison:
    """Returns the comparison of an answer; a missing answer counts as an empty text, which is no number."""
    return AnswerComparison(name, sign, value, sign == "lacks" or compares("", sign, value), text)


def combine(word: Word, parts: Sequence[Expression]) -> Expression:
    """Combines conditions. Parts with the same word are flattened, equal ones appear once, and constants are resolved."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, CombinedConditions) and part.word == word else (part,))]
    decisive = next((part for part in flat if isinstance(part, Constant) and part.holds == (word == "any")), None)
    if decisive:
        return decisive
    distinct = tuple(dict.fromkeys(part for part in flat if not isinstance(part, Constant)))
    if not distinct:
        return flat[0] if flat else Constant(word == "all")
    return distinct[0] if len(distinct) == 1 else CombinedConditions(word, distinct)


def negate(expression: Expression) -> Expression:
    """Returns the opposite condition, with every "not" moved to the comparisons."""
    match expression:
        case CombinedConditions(word, parts):
            return combine("any" if word == "all" else "all", [negate(part) for part in parts])
        case Constant(holds):
            return Constant(not holds, _not(expression.text))
        case Unreadable(text):
            return Unreadable(_not(text))
        case AnswerComparison(or_missing=or_missing):
            return replace(expression, sign=OPPOSITE[expression.sign], or_missing=not or_missing, text=_not(expression.text))
        case _:
            return replace(expression, sign=OPPOSITE[expression.sign], text=_not(expression.text))


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """Returns the conditions that must all hold."""
    if expression == ALWAYS:
        return ()
    return expression.parts if isinstance(expression, CombinedConditions) and expression.word == "all" else (expression,)


def names_in(expression: Expression) -> Iterator[str]:
    """Yields the names of the questions that a condition is about."""
    match expression:
        case CombinedConditions(_, parts):
            for part in parts:
                yield from names_in(part)
        case ScoreComparison(names):
            yield from names
        case AnswerComparison(name) | CountComparison(name):
            yield name


def compares(left: str, sign: Sign, right: str) -> bool:
    """Returns whether a comparison of two values holds: of numbers if both are, otherwise of texts."""
    try:
        numbers = float(left), float(right)
    except ValueError:
        return (left == right) == (sign == "=") if sign in ("=", "!=") else False
    low, high = numbers
    return {"=": low == high, "!=": low != high, ">": low > high, ">=": low >= high, "<": low < high, "<=": low <= high}.get(sign, False)


def _not(text: str) -> str:
    return text[4:-1] if text.startswith("not(") and text.endswith(")") and text.count("(") == 1 else f"not({text})"
