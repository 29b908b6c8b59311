"""Field formats: converts values of a document to the texts of fields, and back. Values of another shape have no field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deniable.survey.parse_questions import QUESTION_ID

Fields = dict[str, Any]
"""Texts by name; `questions` and `languages` are lists of the same."""

Shape = Callable[[Any], str | None]
"""Returns the text of a value in a field, or None if the value has another shape."""


def format_text(value: Any) -> str | None:
    """Returns a text of one or more lines."""
    return value if isinstance(value, str) and value and "\r" not in value else None


def format_line(value: Any) -> str | None:
    """Returns a text of one line."""
    return value if format_text(value) is not None and "\n" not in value else None


def format_lines(value: Any) -> str | None:
    """Returns a list of texts, one a line."""
    if not isinstance(value, list) or not value or any(format_line(entry) is None or entry != entry.strip() for entry in value):
        return None
    return "\n".join(value)


def format_numbers(value: Any) -> str | None:
    """Returns a list of numbers, separated by commas."""
    return None if format_lines(value) is None or any("," in number for number in value) else ", ".join(value)


def format_bins(value: Any) -> str | None:
    """Returns named bins, one a line: start, colon, name."""
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) and set(entry) == {"name", "from"} for entry in value):
        return None
    edges, names = ([entry[key] for entry in value] for key in ("from", "name"))
    if format_lines(names) is None or format_lines(edges) is None or any(":" in edge for edge in edges):
        return None
    return "\n".join(f"{edge}: {name}" for edge, name in zip(edges, names, strict=True))


def format_items(value: Any) -> str | None:
    """Returns the items of a rating, one a line: name, colon, text."""
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) and set(entry) == {"id", "text"} for entry in value):
        return None
    names, texts = ([entry[key] for entry in value] for key in ("id", "text"))
    if format_lines(names) is None or format_lines(texts) is None or not all(map(QUESTION_ID.fullmatch, names)):
        return None
    return "\n".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True))


def parse_lines(text: str) -> list[str]:
    """Returns the lines of a text, without empty ones: the inverse of `format_lines`."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def parse_numbers(text: str) -> list[str]:
    """Returns the numbers of a text: the inverse of `format_numbers`."""
    return [number.strip() for number in text.split(",") if number.strip()]


def parse_items(text: str) -> list[dict[str, str]]:
    """Returns the items of a text: the inverse of `format_items`. A line that does not begin with a name is an item without one."""
    entries = []
    for line in parse_lines(text):
        name, colon, words = line.partition(":")
        is_named = colon and QUESTION_ID.fullmatch(name.strip())
        entries.append({"id": name.strip(), "text": words.strip()} if is_named else {"text": line})
    return entries


def parse_bins(text: str) -> list[dict[str, str]]:
    """Returns the bins of a text: the inverse of `format_bins`. A line without a colon is a bin without a start, which is a problem."""
    entries = []
    for line in parse_lines(text):
        edge, colon, name = line.partition(":")
        entries.append({"name": name.strip(), "from": edge.strip()} if colon else {"name": line})
    return entries


def shorten(text: str, most: int) -> str:
    """Returns a text in one line of at most some characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
