"""`relevant`, the condition of a row, in the small part of XPath that forms use: comparisons of earlier answers, and, or, not."""

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


@dataclass(frozen=True)
class Compared:
    """An answer to the row with this name, compared with a value; has, lacks: whether the value is among those of an answer."""

    name: str
    sign: Sign
    value: str


@dataclass(frozen=True)
class Both:
    """All of these hold, or any: no part has the same word again."""

    word: Literal["all", "any"]
    parts: tuple[Relevant, ...]


Relevant = Compared | Both


def read_relevant(text: str) -> Relevant | None:
    """What a condition says; None where it is anything else than comparisons of answers with values, joined."""
    tokens: list[tuple[str, str]] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or len(tokens) == MOST_TOKENS:
            return None
        tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
        place = match.end()
    reader = _Reader(tokens)
    try:
        found = reader.joined("any")
    except _UnknownError:
        return None
    return found if not reader.left else None


def joined(word: Literal["all", "any"], parts: list[Relevant]) -> Relevant:
    """Parts joined by a word; those that have the same word again are taken apart, and what stands twice is said once."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Both) and part.word == word else (part,))]
    unlike = tuple(dict.fromkeys(flat))
    return unlike[0] if len(unlike) == 1 else Both(word, unlike)


class _UnknownError(Exception):
    """The text goes on with something that is not known here."""


class _Reader:
    """Reads from the left: `or` binds less than `and`, `and` less than a comparison."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.left = tokens

    def take(self, *wanted: tuple[str, str]) -> tuple[str, str]:
        """The next token, which must be one of these, or any."""
        if not self.left or (wanted and self.left[0] not in wanted):
            raise _UnknownError
        return self.left.pop(0)

    def next_is(self, *wanted: tuple[str, str]) -> bool:
        return bool(self.left) and self.left[0] in wanted

    def joined(self, word: Literal["all", "any"]) -> Relevant:
        between = ("word", "or" if word == "any" else "and")
        parts = [self.part(word)]
        while self.next_is(between):
            self.take()
            parts.append(self.part(word))
        return joined(word, parts)

    def part(self, word: Literal["all", "any"]) -> Relevant:
        return self.joined("all") if word == "any" else self.one()

    def one(self) -> Relevant:
        kind, text = self.take()
        if (kind, text) == ("sign", "("):
            found = self.joined("any")
            self.take(("sign", ")"))
            return found
        if kind == "word" and text in ("not", "selected"):
            self.take(("sign", "("))
            found = _denied(self.joined("any")) if text == "not" else self.selected()
            self.take(("sign", ")"))
            return found
        if kind != "name":
            raise _UnknownError
        sign = self.take(*(("sign", one) for one in _OPPOSITE))[1]
        return Compared(text, _OPPOSITE[_OPPOSITE[sign]], self.value())

    def selected(self) -> Compared:
        kind, name = self.take()
        self.take(("sign", ","))
        if kind != "name":
            raise _UnknownError
        return Compared(name, "has", self.value())

    def value(self) -> str:
        kind, text = self.take()
        if kind not in ("single", "double", "numeral", "word") or (kind == "word" and text in ("and", "or")):
            raise _UnknownError
        return text


def _denied(found: Relevant) -> Relevant:
    if isinstance(found, Compared):
        return Compared(found.name, _OPPOSITE[found.sign], found.value)
    return joined("any" if found.word == "all" else "all", [_denied(part) for part in found.parts])
