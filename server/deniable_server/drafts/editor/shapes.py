"""The shapes that values of a document may have, each with its text in a field: what has another shape has no field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Fields = dict[str, Any]
"""Texts by name; `questions` and `languages` are lists of the same."""

Shape = Callable[[Any], str | None]
"""The text of a value in a field, or None where it has another shape."""


def text(value: Any) -> str | None:
    """Any text, on one line or several."""
    return value if isinstance(value, str) and value and "\r" not in value else None


def line(value: Any) -> str | None:
    """A text on one line."""
    return value if text(value) is not None and "\n" not in value else None


def lines(value: Any) -> str | None:
    """A list of texts, one a line."""
    if not isinstance(value, list) or not value or any(line(one) is None or one != one.strip() for one in value):
        return None
    return "\n".join(value)


def numbers(value: Any) -> str | None:
    """A list of numbers, with commas between them."""
    return None if lines(value) is None or any("," in one for one in value) else ", ".join(value)


def bins(value: Any) -> str | None:
    """Named bins, one a line: where it begins, a colon, its name."""
    if not isinstance(value, list) or not all(isinstance(one, Mapping) and set(one) == {"name", "from"} for one in value):
        return None
    edges, names = ([one[key] for one in value] for key in ("from", "name"))
    if lines(names) is None or lines(edges) is None or any(":" in edge for edge in edges):
        return None
    return "\n".join(f"{edge}: {name}" for edge, name in zip(edges, names, strict=True))


def split_lines(written: str) -> list[str]:
    """The other way round than `lines`; lines with nothing in them are left out."""
    return [one.strip() for one in written.split("\n") if one.strip()]


def split_numbers(written: str) -> list[str]:
    """The other way round than `numbers`."""
    return [one.strip() for one in written.split(",") if one.strip()]


def split_bins(written: str) -> list[dict[str, str]]:
    """The other way round than `bins`. What has no colon is a name without a number, which the parser tells."""
    found = []
    for one in split_lines(written):
        edge, colon, name = one.partition(":")
        found.append({"name": name.strip(), "from": edge.strip()} if colon else {"name": one})
    return found
