"""Formula parsing: the outcome's name, and the terms and factors of the right-hand side."""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
import keyword
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deniable.errors import EstimateError
from deniable.extras import missing

_SIDES = re.compile(r"\s*(?:(\w+)|`([^`]+)`)\s*~((?:[^`~]|`[^`]*`)+)")
_COLORS = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")
_GROUPED = re.compile(r"\([^()|]*\|\s*`?([^()|`]+?)`?\s*\)")
_TEXT_OR_QUOTED = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|`([^`]*)`""")
_Q = re.compile(r"""\bQ\(\s*(['"])([^'"`\\]+)\1\s*\)""")  # Q("a name") is the same as a name between backticks
_SHOWN = 20  # names in a message


@dataclass(frozen=True)
class Expression:
    """One factor of a formula.

    Attributes:
        text: The factor as the formula's columns are named by it.
        source: The same as Python, names between backticks replaced.
        aliases: The column of each name that replaces one between backticks.
        by_name: Whether it is a column's name alone.
    """

    text: str
    source: str
    aliases: Mapping[str, str]
    by_name: bool

    @cached_property
    def tree(self) -> ast.expr:
        """The parsed expression; do not change it."""
        if self.by_name:
            return ast.Name(self.source, ast.Load())
        try:
            return ast.parse(self.source, mode="eval").body
        except SyntaxError:
            raise EstimateError(f"formula must be made of terms that can be read, got {self.text}") from None

    @cached_property
    def names(self) -> frozenset[str]:
        """Columns that it may use: all names that are neither called nor a module nor bound within."""
        result = {self.aliases.get(node.id, node.id) for node in values_of(self.tree)}
        return frozenset(result if self.by_name else result - _modules())

    @cached_property
    def called(self) -> frozenset[str]:
        """Names of the functions that it calls."""
        calls = (node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        return frozenset(func.id for func in calls if isinstance(func, ast.Name))

    @cached_property
    def category_of(self) -> str | None:
        """The column that it turns into a category, as in C(column); else None."""
        if not self.is_category or not isinstance(self.tree, ast.Call) or not self.tree.args:
            return None
        first = self.tree.args[0]
        return self.aliases.get(first.id, first.id) if isinstance(first, ast.Name) else None

    @property
    def is_category(self) -> bool:
        """Whether it is a call of C or of hashed, whose levels are named by the values."""
        func = self.tree.func if isinstance(self.tree, ast.Call) else None
        return isinstance(func, ast.Name) and func.id in ("C", "hashed")


def values_of(tree: ast.AST) -> Iterator[ast.Name]:
    """Yields the names in an expression that are read as values, not called and not bound within."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in called and node.id not in bound:
            yield node


def _modules() -> set[str]:
    """Names that a value in an expression means even where a column has them: np, contr and the contrasts' classes."""
    functions = _functions()
    return {name for name, one in functions.items() if inspect.isclass(one) or inspect.ismodule(one)}


def _functions() -> Mapping[str, Any]:
    """Returns the functions that formulaic offers in an expression."""
    from formulaic.transforms import TRANSFORMS

    return dict(TRANSFORMS)


def split(formula: str) -> tuple[str, str]:
    """Splits a formula into the outcome's name and the right-hand side. A name between backticks may be any text without one.

    Raises EstimateError.
    """
    sides = _SIDES.fullmatch(formula)
    if not sides or (sides[1] and not sides[1].isidentifier()) or not sides[3].strip():
        raise EstimateError(f"formula must be `outcome ~ terms`, the outcome a single name, got {formula!r}")
    return sides[1] or sides[2], sides[3].strip()


def quoted(name: str) -> str:
    """Returns a name as a formula has it, between backticks unless an identifier.

    Raises EstimateError for a name that no formula can hold.
    """
    if "`" in name or "\\" in name:
        raise EstimateError("a name in a formula must be without backticks and backslashes")
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"`{name}`"


def names_alone(right: str) -> bool:
    """Returns whether a right-hand side is made of names alone. Anything else is Python, and is run. Raises EstimateError."""
    return all(factor.eval_method.value in ("literal", "lookup") for term in parsed(right) for factor in term.factors)


def names(right: str) -> set[str]:
    """Returns the names of columns that a right-hand side may use. Raises EstimateError."""
    return {name for one in expressions(right) for name in one.names}


def expressions(right: str) -> list[Expression]:
    """Returns each factor of a right-hand side once, numbers left out. Raises EstimateError."""
    factors = {factor.expr: factor for term in parsed(right) for factor in term.factors if factor.eval_method.value != "literal"}
    return [_expression(factor) for factor in factors.values()]


def _expression(factor: Any) -> Expression:
    if factor.eval_method.value == "lookup":
        return Expression(factor.expr, factor.expr, {}, True)
    aliases: dict[str, str] = {}

    def named(part: re.Match[str]) -> str:
        if part[1]:  # a text
            return part[1]
        aliases[alias := f"_quoted_{len(aliases)}"] = part[2]
        return f" {alias} "

    source = _TEXT_OR_QUOTED.sub(named, _Q.sub(r"`\2`", factor.expr))
    return Expression(factor.expr, source.strip(), aliases, False)


def refuse_unknown(expressions: Collection[Expression], columns: Collection[str]) -> None:
    """Raises EstimateError for a name that is no column and no function that a formula has."""
    functions = {*_functions(), *dir(builtins)}
    for one in expressions:
        if "offset" in one.called - functions:
            raise EstimateError(
                "formula must be without offset(): no coefficient can be held at 1. Put the column among the terms, as np.log(days), "
                "or divide a linear model's outcome by it"
            )
        others = one.names - set(columns)
        if unknown := sorted((others if one.by_name else others - functions) | (one.called - functions)):
            listed = ", ".join([*columns][:_SHOWN]) + (f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else "")
            near = difflib.get_close_matches(unknown[0], columns, 1)
            like = f"; did you mean {near[0]}?" if near else ""
            raise EstimateError(f"formula must name known questions and columns ({listed or 'no column is known'}), got {unknown[0]}{like}")


def parsed(right: str) -> Any:
    """Returns formulaic's terms of a right-hand side. Raises EstimateError."""
    try:
        from formulaic import Formula
        from formulaic.errors import FormulaicError
        from formulaic.formula import SimpleFormula
    except ModuleNotFoundError as error:
        raise EstimateError(str(missing("a regression", "estimate") or error)) from None
    grouped = _GROUPED.search(right)
    try:
        result = Formula(right)
    except (FormulaicError, SyntaxError) as error:
        if grouped:
            raise EstimateError(_several_parts(grouped[1])) from None
        if right.strip() == ".":
            raise EstimateError("formula must name its terms: `.` is not known here") from None
        raise EstimateError(f"formula cannot be read: {plain(error)}") from None
    if not isinstance(result, SimpleFormula):
        raise EstimateError(_several_parts("column"))
    return result


def plain(error: Exception) -> str:
    """Returns an error's text in one line, without codes for colors."""
    return " ".join(_COLORS.sub("", str(error)).split())


def _several_parts(name: str) -> str:
    return (
        "formula must have one right-hand side, without `|`. There are no random effects: for people drawn in groups, such as clinics, "
        f'leave the group out of the formula and name it as the clusters (clusters="{name}")'
    )
