"""Evaluator of LimeSurvey's ExpressionScript for one respondent. What it cannot evaluate has a value by chance."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from functools import cache
from typing import Any

from tests.kit.form_comparison.xpath import Chance, boolean, string

Value = str | float | bool
_TOKEN = re.compile(r"""\s*("[^"]*"|'[^']*'|\d+\.?\d*(?!\w)|\w+(?::\w+)*(?:\.\w+)*|&&|\|\||[=!<>]=|.)""", re.S)
_LEVELS = (("||", "or"), ("&&", "and"), ("==", "!=", "eq", "ne"), ("<", "<=", ">", ">=", "lt", "le", "gt", "ge"), ("+", "-"), ("*", "/"))
_SIGNS = {"or": "||", "and": "&&", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_ANSWERS = ("NAOK", "code", "value", "valueNAOK", "codeNAOK")


class _UnknownError(Exception):
    pass


class _HiddenError(Exception):
    """A variable without NAOK is about a hidden question: the whole condition is false."""


@cache
def _tree(script: str) -> Any:
    """The condition as nested tuples; raises _UnknownError."""
    tokens = [token for token in _TOKEN.findall(script) if token.strip()]

    def take(expected: str = "") -> str:
        if not tokens or (expected and tokens[0] != expected):
            raise _UnknownError
        return tokens.pop(0)

    def level(depth: int) -> Any:
        if depth == len(_LEVELS):
            return unary()
        left = level(depth + 1)
        while tokens and tokens[0].lower() in _LEVELS[depth]:
            sign = take().lower()
            left = (_SIGNS.get(sign, sign), left, level(depth + 1))
        return left

    def unary() -> Any:
        token = take()
        if token in ("!", "-"):
            return (token, unary())
        if token == "(":
            inner = level(0)
            take(")")
            return inner
        if token[0] in "'\"":
            return ("literal", token[1:-1])
        if token[0].isdigit() and re.fullmatch(r"\d+\.?\d*", token):
            return ("literal", float(token))
        if not re.match(r"\w", token):
            raise _UnknownError
        if not tokens or tokens[0] != "(":
            return ("name", token)
        take("(")
        arguments = []
        while tokens and tokens[0] != ")":
            arguments.append(level(0))
            if tokens and tokens[0] == ",":
                take()
        take(")")
        return ("call", token.lower(), tuple(arguments))

    tree = level(0)
    if tokens:
        raise _UnknownError
    return tree


class Script:
    """Evaluates conditions over one respondent's variables; those of hidden questions are empty, and false without NAOK."""

    def __init__(self, values: Mapping[str, str], hidden: Set[str], chance: Chance) -> None:
        self.values, self.hidden, self.chance = values, hidden, chance

    def truth(self, script: str) -> bool:
        script = script.strip()
        script = script[1:-1] if script.startswith("{") and script.endswith("}") else script
        if not script.strip():
            return True
        try:
            return boolean(self.value(_tree(script)))
        except _HiddenError:
            return False
        except (_UnknownError, RecursionError):
            return self.chance.truth(script)

    def value(self, tree: Any) -> Value:
        match tree:
            case ("literal", value):
                return value  # type: ignore[no-any-return]
            case ("name", name):
                return self.variable(name)
            case (("&&" | "||") as sign, left, right):
                sides = [boolean(self.part(side)) for side in (left, right)]
                return all(sides) if sign == "&&" else any(sides)
            case ("!", operand):
                return not boolean(self.part(operand))
            case ("-", operand):
                return -_number(self.value(operand))
            case ("call", name, arguments):
                return self.call(name, arguments)
            case (("+" | "-" | "*" | "/") as sign, left, right):
                return _arithmetic(sign, _number(self.value(left)), _number(self.value(right)))
            case (sign, left, right):
                return _compare(sign, self.value(left), self.value(right))
        raise _UnknownError

    def part(self, tree: Any) -> Value:
        """One side of `and`, `or` or `not`; by chance if it is unknown."""
        try:
            return self.value(tree)
        except _UnknownError:
            return self.chance.truth(repr(tree))

    def variable(self, name: str) -> str:
        variable, _, suffix = name.partition(".")
        if variable not in self.values or suffix not in ("", *_ANSWERS):
            raise _UnknownError
        if variable in self.hidden and "NAOK" not in suffix:
            raise _HiddenError
        return self.values[variable]

    def call(self, name: str, arguments: Any) -> Value:
        if name == "is_empty":
            return string(self.value(arguments[0])) == ""
        if name == "sum":
            return sum(_number(self.value(argument) or 0.0) for argument in arguments)
        if name == "count":
            return float(sum(string(self.value(argument)) != "" for argument in arguments))
        if name == "if" and len(arguments) == 3:
            return self.value(arguments[1 if boolean(self.part(arguments[0])) else 2])
        raise _UnknownError


def _number(value: Value) -> float:
    try:
        return float(value)
    except ValueError:
        raise _UnknownError from None


def _arithmetic(sign: str, left: float, right: float) -> float:
    if sign == "/" and not right:
        raise _UnknownError
    return {"+": left + right, "-": left - right, "*": left * right, "/": left / (right or 1.0)}[sign]


def _compare(sign: str, left: Value, right: Value) -> bool:
    if sign in ("==", "!="):
        try:
            same = float(left) == float(right)
        except ValueError:
            same = string(left) == string(right)
        return same == (sign == "==")
    try:
        low, high = float(left), float(right)
    except ValueError:
        return False
    return {"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high}[sign]
