"""Parser of `relevant` and `constraint`, in the part of XPath that forms use; any other part is kept as unreadable text."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from deniable.forms.expressions import (
    MIRRORED,
    OPPOSITE,
    Constant,
    CountComparison,
    Expression,
    ScoreComparison,
    Sign,
    Unreadable,
    Word,
    combine,
    compares,
    comparison,
    negate,
)

MOST_TOKENS = 1000
MOST_DEPTH = 30
OWN = "."
"""The name of the answer that a constraint is about."""
_TOKEN = re.compile(
    r"""\s*(?:\$\{\s*(?:last-saved\#)?(?P<name>[^}\s]+)\s*\}|(?P<sign>>=|<=|!=|=|>|<)|(?P<mark>[(),+*])|'(?P<single>[^']*)'|"(?P<double>[^"]*)"|"""
    r"""(?P<numeral>-?(?:\d+(?:\.\d+)?|\.\d+))(?![\w.-])|(?P<word>[A-Za-z_][\w.:-]*)|(?P<own>\.)(?![\w./])|(?P<other>\S))\s*"""
)
_LITERALS = ("single", "double", "numeral")
_NUMBERS = ("number", "int", "round", "string", "once", "floor")  # of one answer: the same value, for the answers that forms compare


class XPathToken(NamedTuple):
    """A token: its kind, its value, and where it begins and ends."""

    kind: str
    value: str
    start: int
    end: int


Tokens = Sequence[XPathToken]


@dataclass(frozen=True)
class Calculation:
    """A calculated value of a form: its formula, and the conditions under which it is calculated."""

    text: str
    relevant: tuple[str, ...] = ()


@dataclass
class Expressions:
    """Parser of a form's expressions.

    Attributes:
        calculations: The calculated values of the form, by name.
    """

    calculations: Mapping[str, Calculation] = field(default_factory=dict)
    _text: str = ""
    _depth: int = 0

    def parse(self, text: str) -> Expression:
        """Returns a condition. An empty text always holds; parts that cannot be read become `Unreadable`."""
        text = html.unescape(text).strip()
        if not text:
            return Constant(True)
        tokens = _tokens(text)
        if len(tokens) > MOST_TOKENS or not _is_balanced(tokens) or self._depth > 5:
            return Unreadable(text)
        inner = Expressions(self.calculations, text, self._depth + 1)
        return inner._combination(tokens, "any", 0)

    def _combination(self, tokens: Tokens, word: Word, depth: int) -> Expression:
        parts = _split(tokens, "or" if word == "any" else "and")
        if depth > MOST_DEPTH or not all(parts):
            return Unreadable(self._slice(tokens))
        if word == "any":
            return combine("any", [self._combination(part, "all", depth) for part in parts])
        return combine("all", [self._unit(part, depth + 1) for part in parts])

    def _unit(self, tokens: Tokens, depth: int) -> Expression:
        """Returns a part without `and` and `or` around it."""
        if _wraps(tokens):
            return self._combination(tokens[1:-1], "any", depth)
        if len(tokens) == 1 and tokens[0].kind == "numeral":
            return Constant(float(tokens[0].value) != 0, self._slice(tokens))
        function, arguments = _call(tokens)
        match function, len(arguments):
            case "not", 1:
                return negate(self._combination(arguments[0], "any", depth))
            case "boolean", 1:
                return self._combination(arguments[0], "any", depth)
            case (("true" | "false"), 0):
                return Constant(function == "true", self._slice(tokens))
            case "selected", 2:
                return self._selected(tokens, arguments)
            case "if", 3:
                condition, if_true, if_false = (self._combination(argument, "any", depth) for argument in arguments)
                return combine("any", [combine("all", [condition, if_true]), combine("all", [negate(condition), if_false])])
        return self._comparison(tokens)

    def _selected(self, tokens: Tokens, arguments: Sequence[Tokens]) -> Expression:
        name, value = _name(arguments[0]), _literal(arguments[1])
        if name is None or value is None:
            return Unreadable(self._slice(tokens))
        if name in self.calculations:
            return self._calculated(name, "=", value, self._slice(tokens))
        return comparison(name, "has", value, self._slice(tokens))

    def _comparison(self, tokens: Tokens) -> Expression:
        depth, places = 0, []
        for index, token in enumerate(tokens):
            depth += (token.value == "(") - (token.value == ")") if token.kind == "mark" else 0
            if token.kind == "sign" and not depth:
                places.append(index)
        if len(places) != 1:
            return Unreadable(self._slice(tokens))
        left, sign, right = tokens[: places[0]], OPPOSITE[OPPOSITE[tokens[places[0]].value]], tokens[places[0] + 1 :]
        if _literal(left) is not None:
            left, sign, right = right, MIRRORED[sign], left
        value = _literal(right)
        if value is None:
            call, arguments = _call(right)
            if call not in ("true", "false") or arguments:
                return Unreadable(self._slice(tokens))
            return self._truth(tokens, left, (call == "true") == (sign == "="), sign)
        return self._compare(tokens, left, sign, value)

    def _truth(self, tokens: Tokens, left: Tokens, is_true: bool, sign: Sign) -> Expression:
        """Returns a comparison with true() or false(), such as selected(...) = true()."""
        if sign not in ("=", "!=") or _call(left)[0] not in ("selected", "not"):
            return Unreadable(self._slice(tokens))
        condition = self._unit(left, 1)
        return condition if is_true else negate(condition)

    def _compare(self, tokens: Tokens, left: Tokens, sign: Sign, value: str) -> Expression:
        """Returns the comparison of a value of the form with a literal."""
        text = self._slice(tokens)
        literal, name = _literal(left), _name(left)
        function, arguments = _call(left)
        if literal is not None:
            return Constant(compares(literal, sign, value), text)
        if name in self.calculations:
            return self._calculated(str(name), sign, value, text)
        if name is not None:
            return comparison(name, sign, value, text)
        if _wraps(left):
            return self._compare(tokens, left[1:-1], sign, value)
        if function == "if" and len(arguments) == 3:
            return self._choice(tokens, arguments, sign, value)
        if function == "count-selected" and len(arguments) == 1 and (name := _name(arguments[0])):
            return CountComparison(name, sign, value, text)
        if function == "string-length" and len(arguments) == 1 and (name := _name(arguments[0])):
            return self._length(name, sign, value, text)
        if function == "coalesce" and len(arguments) == 2 and (name := _name(arguments[0])) and name not in self.calculations:
            return self._coalesce(tokens, name, arguments[1], sign, value)
        names = _sum(left)
        return ScoreComparison(names, sign, value, text) if names else Unreadable(text)

    def _choice(self, tokens: Tokens, arguments: Sequence[Tokens], sign: Sign, value: str) -> Expression:
        """Returns the comparison of if(condition, a, b)."""
        condition = self._combination(arguments[0], "any", 1)
        if_true, if_false = (self._compare(tokens, argument, sign, value) for argument in arguments[1:])
        return combine("any", [combine("all", [condition, if_true]), combine("all", [negate(condition), if_false])])

    def _coalesce(self, tokens: Tokens, name: str, default: Tokens, sign: Sign, value: str) -> Expression:
        """Returns the comparison of an answer, or of a default where there is no answer."""
        text = self._slice(tokens)
        otherwise = self._compare(tokens, default, sign, value)
        answer = combine("all", [comparison(name, "!=", "", text), comparison(name, sign, value, text)])
        return combine("any", [answer, combine("all", [comparison(name, "=", "", text), otherwise])])

    def _length(self, name: str, sign: Sign, value: str, text: str) -> Expression:
        if (sign, value) in ((">", "0"), ("!=", "0"), (">=", "1")) and name != OWN:
            return comparison(name, "!=", "", text)
        return comparison(name, "=", "", text) if (sign, value) == ("=", "0") and name != OWN else Unreadable(text)

    def _calculated(self, name: str, sign: Sign, value: str, text: str) -> Expression:
        """Returns the comparison of a calculated value, which is empty where it is not calculated."""
        calculation = self.calculations[name]
        formula = html.unescape(calculation.text).strip()
        tokens = _tokens(formula)
        if self._depth > 4 or len(tokens) > MOST_TOKENS or not tokens or not _is_balanced(tokens):
            return Unreadable(text)
        inner = Expressions(self.calculations, formula, self._depth + 1)
        expression = inner._compare(tokens, tokens, sign, value)
        expression = _renamed(expression, text)
        condition = combine("all", [inner.parse(relevant) for relevant in calculation.relevant])
        if compares("", sign, value):
            return combine("any", [negate(condition), expression])
        return combine("all", [condition, expression])

    def _slice(self, tokens: Tokens) -> str:
        return self._text[tokens[0].start : tokens[-1].end].strip() if tokens else ""


def _renamed(expression: Expression, text: str) -> Expression:
    """Returns a condition whose unreadable whole is named by the expression that uses it, not by its formula."""
    return Unreadable(text) if isinstance(expression, Unreadable) else expression


def _tokens(text: str) -> list[XPathToken]:
    tokens, position = list[XPathToken](), 0
    while position < len(text) and len(tokens) <= MOST_TOKENS and (match := _TOKEN.match(text, position)):
        kind = str(match.lastgroup)
        value = match[kind]
        if kind == "numeral" and value.startswith("-") and tokens and _is_operand(tokens[-1]):
            position = match.start(kind) + 1
            tokens.append(XPathToken("other", "-", position - 1, position))
            continue
        tokens.append(XPathToken(kind, OWN if kind == "own" else value, match.start(), match.end()))
        position = match.end()
    return tokens


def _is_operand(token: XPathToken) -> bool:
    return token.kind in ("name", "own", *_LITERALS) or token.value == ")"


def _is_balanced(tokens: Tokens) -> bool:
    depth = 0
    for token in tokens:
        depth += (token.value == "(") - (token.value == ")") if token.kind == "mark" else 0
        if depth < 0:
            return False
    return depth == 0


def _split(tokens: Tokens, separator: str) -> list[Tokens]:
    """Returns the parts between a word (or a comma) that is outside of brackets."""
    parts, start, depth = list[Tokens](), 0, 0
    for index, token in enumerate(tokens):
        depth += (token.value == "(") - (token.value == ")") if token.kind == "mark" else 0
        if not depth and token.kind in ("word", "mark") and token.value.lower() == separator:
            parts.append(tokens[start:index])
            start = index + 1
    return [*parts, tokens[start:]]


def _wraps(tokens: Tokens) -> bool:
    """Returns whether one pair of brackets is around all tokens."""
    if len(tokens) < 3 or (tokens[0].kind, tokens[0].value) != ("mark", "(") or tokens[-1].value != ")":
        return False
    return _is_balanced(tokens[1:-1])


def _call(tokens: Tokens) -> tuple[str, list[Tokens]]:
    """Returns the name and the arguments of a function call; an empty name if the tokens are no call."""
    if len(tokens) < 3 or tokens[0].kind != "word" or not (len(tokens) == 3 or _wraps(tokens[1:])):
        return "", []
    if (tokens[1].value, tokens[-1].value) != ("(", ")"):
        return "", []
    return tokens[0].value, _split(tokens[2:-1], ",") if len(tokens) > 3 else []


def _literal(tokens: Tokens) -> str | None:
    return tokens[0].value if len(tokens) == 1 and tokens[0].kind in _LITERALS else None


def _name(tokens: Tokens) -> str | None:
    """Returns the name of the answer that tokens are, maybe as a number."""
    if len(tokens) == 1 and tokens[0].kind in ("name", "own"):
        return tokens[0].value
    function, arguments = _call(tokens)
    return _name(arguments[0]) if function in _NUMBERS and len(arguments) == 1 else None


def _sum(tokens: Tokens) -> tuple[str, ...]:
    """Returns the names of the answers that tokens add up; empty if they do anything else."""
    names = [_term(part) for part in _split(tokens, "+")]
    return tuple(name for name in names if name) if len(names) > 1 and all(names) else ()


def _term(tokens: Tokens) -> str | None:
    function, arguments = _call(tokens)
    if function in ("coalesce", "if") and arguments and _literal(arguments[-1]) == "0":
        return _name(arguments[0]) if function == "coalesce" else None
    return _term(tokens[1:-1]) if _wraps(tokens) else _name(tokens)
