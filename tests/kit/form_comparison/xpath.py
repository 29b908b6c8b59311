"""Evaluator of the XPath of forms, for one respondent. What it cannot evaluate has a value by chance, so that nobody can rely on it."""

from __future__ import annotations

import html
import math
import random
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

Value = str | float | bool
_TOKEN = re.compile(
    r"\s*(\$\{[^}]*\}|'[^']*'|\"[^\"]*\"|\d+(?:\.\d+)?|\.\d+|>=|<=|!=|[=<>(),+*|]|-(?!\w*:)|\.\./[\w./-]*|/[\w./-]*|\.|[A-Za-z_][\w.:-]*|\S)"
)


class Chance:
    """A value that depends on something outside of the answers."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.drawn: dict[str, bool] = {}

    def truth(self, text: str) -> bool:
        return self.drawn.setdefault(text, self.rng.random() < 0.5)


class _UnknownError(Exception):
    pass


@cache
def _tree(text: str) -> Any:
    """The expression as nested tuples; raises _UnknownError."""
    tokens = _TOKEN.findall(text)
    position = 0

    def peek() -> str:
        return tokens[position] if position < len(tokens) else ""

    def take(expected: str = "") -> str:
        nonlocal position
        token = peek()
        if not token or (expected and token != expected):
            raise _UnknownError
        position += 1
        return token

    def binary(operators: tuple[str, ...], operand: Callable[[], Any]) -> Any:
        left = operand()
        while peek() in operators:
            left = (take(), left, operand())
        return left

    def primary() -> Any:
        token = take()
        if token == "(":
            inner = disjunction()
            take(")")
            return inner
        if token.startswith("${"):
            return ("name", token[2:-1].strip())
        if token[0] in "'\"" and len(token) > 1:
            return ("literal", token[1:-1])
        if re.fullmatch(r"\d*\.?\d+", token):
            return ("literal", float(token))
        if token == ".":
            return ("name", ".")
        if token == "-":
            return ("-", ("literal", 0.0), primary())
        if re.fullmatch(r"[A-Za-z_][\w.:-]*", token) and peek() == "(":
            take("(")
            arguments = []
            while peek() != ")":
                arguments.append(disjunction())
                if peek() == ",":
                    take()
                elif peek() != ")":
                    raise _UnknownError
            take(")")
            return ("call", token, tuple(arguments))
        raise _UnknownError

    def product() -> Any:
        return binary(("*", "div", "mod"), primary)

    def total() -> Any:
        return binary(("+", "-"), product)

    def relation() -> Any:
        return binary(("<", "<=", ">", ">="), total)

    def equality() -> Any:
        return binary(("=", "!="), relation)

    def conjunction() -> Any:
        return binary(("and", "AND"), equality)

    def disjunction() -> Any:
        return binary(("or", "OR"), conjunction)

    tree = disjunction()
    if position < len(tokens):
        raise _UnknownError
    return tree


class Evaluator:
    """Evaluates expressions over the answers of one respondent; `answers` maps names to texts, absent names are unknown."""

    def __init__(self, answers: Mapping[str, str], chance: Chance) -> None:
        self.answers = answers
        self.chance = chance

    def truth(self, text: str, own: str | None = None) -> bool:
        """Whether a condition holds. `own` is the answer that "." means."""
        text = html.unescape(text).strip()
        if not text:
            return True
        try:
            tree = _tree(text)
        except (_UnknownError, RecursionError):
            return self.chance.truth(text)
        return boolean(self.value(tree, own))

    def text(self, formula: str) -> str | None:
        """The value of a calculation as a text; None if it cannot be evaluated."""
        try:
            return string(self.strict(_tree(html.unescape(formula).strip())))
        except (_UnknownError, RecursionError):
            return None

    def strict(self, tree: Any) -> Value:
        before = len(self.chance.drawn)
        value = self.value(tree, None)
        if len(self.chance.drawn) > before:
            raise _UnknownError
        return value

    def value(self, tree: Any, own: str | None) -> Value:
        kind = tree[0]
        if kind in ("and", "AND", "or", "OR"):
            left, right = boolean(self.value(tree[1], own)), boolean(self.value(tree[2], own))
            return (left and right) if kind.lower() == "and" else (left or right)
        if kind in ("=", "!=", "<", "<=", ">", ">="):
            try:
                return compare(kind, self.known(tree[1], own), self.known(tree[2], own))
            except _UnknownError:
                return self.chance.truth(repr(tree))
        if kind == "call" and tree[1] in ("not", "boolean", "true", "false", "selected", "if"):
            return self.call(tree, own)
        try:
            return self.known(tree, own)
        except _UnknownError:
            return self.chance.truth(repr(tree))

    def known(self, tree: Any, own: str | None) -> Value:
        """The value of a part; raises _UnknownError if it is about anything but answers."""
        match tree:
            case ("literal", value):
                return value  # type: ignore[no-any-return]
            case ("name", "."):
                if own is None:
                    raise _UnknownError
                return own
            case ("name", name):
                if name not in self.answers:
                    raise _UnknownError
                return self.answers[name]
            case (("+" | "-" | "*" | "div" | "mod") as sign, left, right):
                return arithmetic(sign, number(self.known(left, own)), number(self.known(right, own)))
            case ("call", _, _):
                return self.call(tree, own)
        return self.value(tree, own)

    def call(self, tree: Any, own: str | None) -> Value:
        _, name, arguments = tree
        if name in ("true", "false"):
            return bool(name == "true")
        if name == "not":
            return not boolean(self.value(arguments[0], own))
        if name == "boolean":
            return boolean(self.value(arguments[0], own))
        if name == "if" and len(arguments) == 3:
            return self.value(arguments[1 if boolean(self.value(arguments[0], own)) else 2], own)
        if name == "selected":
            try:
                return string(self.known(arguments[1], own)) in string(self.known(arguments[0], own)).split()
            except _UnknownError:
                return self.chance.truth(repr(tree))
        values = [self.known(argument, own) for argument in arguments]
        if name == "count-selected":
            return float(len(string(values[0]).split()))
        if name == "string-length":
            return float(len(string(values[0])))
        if name == "coalesce":
            return next((value for value in values if string(value)), "")
        if name in ("number", "int", "round", "floor") and len(values) == 1:
            figure = number(values[0])
            return figure if name == "number" or math.isnan(figure) else float(int(figure))
        if name in ("string", "once"):
            return string(values[0])
        raise _UnknownError


def boolean(value: Value) -> bool:
    if isinstance(value, float):
        return value != 0 and not math.isnan(value)
    return bool(value)


def number(value: Value) -> float:
    try:
        return float(value)
    except ValueError:
        return math.nan


def string(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.15g}"
    return value


def arithmetic(sign: str, left: float, right: float) -> float:
    if sign in ("div", "mod"):
        return math.nan if not right else left / right if sign == "div" else math.fmod(left, right)
    return {"+": left + right, "-": left - right, "*": left * right}[sign]


def compare(sign: str, left: Value, right: Value) -> bool:
    if sign in ("=", "!="):
        if isinstance(left, bool) or isinstance(right, bool):
            same = boolean(left) == boolean(right)
        elif isinstance(left, float) or isinstance(right, float):
            same = number(left) == number(right)
        else:
            same = left == right
        return same == (sign == "=")
    low, high = number(left), number(right)
    return {"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high}[sign]
