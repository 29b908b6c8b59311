"""Translator of LimeSurvey's ExpressionScript to the expressions of XLSForms, whose parser then reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

_TOKEN = re.compile(
    r"""\s*('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\d+(?:\.\d+)?(?![\w.])|[A-Za-z_]?[\w#]*[A-Za-z_][\w#]*(?:\.\w+)*|&&|\|\||==|!=|<=|>=|[^\s])"""
)
_WORDS = {
    "&&": "and",
    "||": "or",
    "==": "=",
    "eq": "=",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "and",
    "or": "or",
}
_OF_ANSWERS = ("NAOK", "code", "value", "valueNAOK", "codeNAOK")
Tokens = Sequence[str]


def translate(script: str, name_of: Callable[[str], str | None]) -> str:
    """Returns a condition of LimeSurvey in the words of an XLSForm; unknown parts stay as they are.

    Args:
        script: The condition, maybe in braces.
        name_of: Returns the name of the question that a variable is about, or None.
    """
    script = script.strip()
    script = script[1:-1] if script.startswith("{") and script.endswith("}") else script
    return " ".join(_translated(_TOKEN.findall(script), name_of))


def _translated(tokens: Tokens, name_of: Callable[[str], str | None]) -> Iterator[str]:
    position = 0
    while position < len(tokens):
        word = tokens[position]
        if word == "!" and position + 1 < len(tokens):
            end = _operand_end(tokens, position + 1)
            yield f"not({' '.join(_translated(tokens[position + 1 : end], name_of))})"
            position = end
        elif _is_call(tokens, position) and word.lower() in ("is_empty", "sum"):
            end = _operand_end(tokens, position)
            yield _call(word.lower(), tokens[position + 2 : end - 1], name_of)
            position = end
        else:
            yield _word(word, _is_call(tokens, position), name_of)
            position += 1


def _word(word: str, is_call: bool, name_of: Callable[[str], str | None]) -> str:
    lower = word.lower()
    if lower in _WORDS or is_call or not re.match(r"\w*[A-Za-z_]", word):
        return _WORDS.get(lower, lower if is_call and lower in ("not", "if") else word)
    variable, _, suffix = word.partition(".")
    name = name_of(variable) if suffix in ("", *_OF_ANSWERS) else None
    return f"${{{name}}}" if name else word


def _call(function: str, arguments: Tokens, name_of: Callable[[str], str | None]) -> str:
    """Returns is_empty(a) as a comparison, and sum(a, b) as an addition."""
    if function == "is_empty":
        return f"({' '.join(_translated(arguments, name_of))} = '')"
    return "(" + " ".join(_translated(["+" if word == "," else word for word in arguments], name_of)) + ")"


def _is_call(tokens: Tokens, position: int) -> bool:
    return (
        position + 1 < len(tokens)
        and tokens[position + 1] == "("
        and bool(re.match(r"[A-Za-z_]", tokens[position]))
        and (tokens[position].lower() not in _WORDS)
    )


def _operand_end(tokens: Tokens, position: int) -> int:
    """Returns the position after an operand: a call, brackets, or one token."""
    start = position + 1 if _is_call(tokens, position) else position
    if tokens[start] != "(":
        return start + 1
    depth = 0
    for index in range(start, len(tokens)):
        depth += (tokens[index] == "(") - (tokens[index] == ")")
        if not depth:
            return index + 1
    return len(tokens)
