"""Parser of `relevant`, a row's condition, in the small part of XPath that forms use: comparisons of earlier answers, and, or, not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

MOST_TOKENS = 200
_TOKEN = re.compile(
    r"""\s*(?:\$\{\s*(?P<name>[^}\s]+)\s*\}|(?P<sign>>=|<=|!=|=|>|<|\(|\)|,)|'(?P<single>[^']*)'|"(?P<double>[^"]*)"|"""
    r"""(?P<numeral>-?\d+(?:\.\d+)?)(?![\w.-])|(?P<word>[A-Za-z0-9_][\w.-]*))\s*"""
)

Sign = Literal["=", "!=", ">", ">=", "<", "<=", "has", "lacks"]
_OPPOSITE: dict[str, Sign] = {"=": "!=", "!=": "=", ">": "<=", "<=": ">", ">=": "<", "<": ">=", "has": "lacks", "lacks": "has"}


Word = Literal["all", "any"]


@dataclass(frozen=True)
class AnswerComparison:
    """A comparison of the answer to a row with a value.

    Attributes:
        name: The name of the row.
        sign: The operator. `has` and `lacks` ask whether the value is among several chosen options.
        value: The value.
    """

    name: str
    sign: Sign
    value: str


@dataclass(frozen=True)
class CombinedConditions:
    """All or any of some conditions. No part is a combination by the same word."""

    word: Word
    parts: tuple[Relevant, ...]


Relevant = AnswerComparison | CombinedConditions


def read_relevant(text: str) -> Relevant | None:
    """Returns a condition, or None if it has anything except combined comparisons of answers with values."""
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or len(tokens) == MOST_TOKENS:
            return None
        tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
        position = match.end()
    parser = _Parser(tokens)
    try:
        relevant = parser.combination("any")
    except _UnknownError:
        return None
    return None if parser.rest else relevant


def combine(word: Word, parts: list[Relevant]) -> Relevant:
    """Combines conditions. Parts with the same word are flattened, and equal ones appear once."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, CombinedConditions) and part.word == word else (part,))]
    distinct = tuple(dict.fromkeys(flat))
    return distinct[0] if len(distinct) == 1 else CombinedConditions(word, distinct)


class _UnknownError(Exception):
    """The text has something that this parser does not know."""


class _Parser:
    """A recursive descent parser: `or` binds less tightly than `and`, and `and` less than a comparison."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.rest = tokens

    def take(self, *allowed: tuple[str, str]) -> tuple[str, str]:
        """Takes the next token, which must be one of the allowed ones, if there are any."""
        if not self.rest or (allowed and self.rest[0] not in allowed):
            raise _UnknownError
        return self.rest.pop(0)

    def combination(self, word: Word) -> Relevant:
        operator = ("word", "or" if word == "any" else "and")
        parts = [self.operand(word)]
        while self.rest[:1] == [operator]:
            self.take()
            parts.append(self.operand(word))
        return combine(word, parts)

    def operand(self, word: Word) -> Relevant:
        return self.combination("all") if word == "any" else self.test()

    def test(self) -> Relevant:
        kind, text = self.take()
        if (kind, text) == ("sign", "("):
            relevant = self.combination("any")
            self.take(("sign", ")"))
            return relevant
        if kind == "word" and text in ("not", "selected"):
            self.take(("sign", "("))
            relevant = _negate(self.combination("any")) if text == "not" else self.selected()
            self.take(("sign", ")"))
            return relevant
        if kind != "name":
            raise _UnknownError
        sign = self.take(*(("sign", operator) for operator in _OPPOSITE))[1]
        return AnswerComparison(text, _OPPOSITE[_OPPOSITE[sign]], self.value())

    def selected(self) -> AnswerComparison:
        kind, name = self.take()
        self.take(("sign", ","))
        if kind != "name":
            raise _UnknownError
        return AnswerComparison(name, "has", self.value())

    def value(self) -> str:
        kind, text = self.take()
        if kind not in ("single", "double", "numeral", "word") or (kind == "word" and text in ("and", "or")):
            raise _UnknownError
        return text


def _negate(relevant: Relevant) -> Relevant:
    if isinstance(relevant, AnswerComparison):
        return AnswerComparison(relevant.name, _OPPOSITE[relevant.sign], relevant.value)
    return combine("any" if relevant.word == "all" else "all", [_negate(part) for part in relevant.parts])
