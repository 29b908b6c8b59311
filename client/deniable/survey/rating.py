"""Rating blocks in survey files: items that share one text and one scale, such as a list of symptoms.

The parser makes a scale question of each item. A `grid` of these questions keeps them together: on the page, in translations, and where
a survey asks a sample of its blocks, since an instrument's score needs all of its items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from deniable.survey.condition import question_ids
from deniable.survey.piping import piped_ids, texts_of
from deniable.survey.types.base import number

RATING = "rating"
MAX_ITEMS = 100
MIN_WEIGHT, MAX_WEIGHT = 0.01, 100  # of a question: its share of the survey's epsilon, relative to the others
BLOCK_TEXTS = ("text", "help")
"""The texts of a block that are in the `grid` of its first question."""


def is_rating(source: Any) -> bool:
    """Returns whether a question of a survey file is a rating block."""
    return isinstance(source, Mapping) and source.get("type") == RATING


def items_of(source: Any) -> list[Any]:
    """Returns the items of a rating block, valid or not; any other question is its own only item."""
    if not is_rating(source):
        return [source]
    items = source.get("items")
    return list(items[:MAX_ITEMS]) if isinstance(items, list | tuple) and items else [source]


def ids_of(source: Any) -> list[Any]:
    """Returns the ids of a question's items in a survey file: of a rating block's, or its own."""
    return [item.get("id") for item in items_of(source) if isinstance(item, Mapping)]


def item_problems(items: Any) -> Iterator[tuple[str, str]]:
    """Yields (key, rule broken) for the number and the type of a block's items."""
    if not isinstance(items, list | tuple):
        yield "items", f"must be a list of items, got {type(items).__name__}"
    elif not 2 <= len(items) <= MAX_ITEMS:
        yield "items", f"must be 2 to {MAX_ITEMS} items, got {len(items):,}"
    else:
        for index, item in enumerate(items):
            if not isinstance(item, Mapping):
                yield f"items[{index}]", f"must be a mapping with the keys id and text, got {type(item).__name__}"


def weight_of(source: Any) -> Fraction | None:
    """Returns the weight of a question or a block in a survey file; None if it is invalid. By default each item weighs 1."""
    if not isinstance(source, Mapping) or "weight" not in source:
        return Fraction(len(items_of(source)))
    value = number(source["weight"])
    return Fraction(repr(value)) if value is not None and MIN_WEIGHT <= value <= MAX_WEIGHT else None


def item_weights(sources: Sequence[Any]) -> list[list[Fraction]]:
    """Returns the weights of each question's items: a block's weight is shared equally. An invalid weight counts as the default."""
    weights = []
    for source in sources:
        count = len(items_of(source))
        weights.append([(weight_of(source) or Fraction(count)) / count] * count)
    return weights


def dependencies(sources: Sequence[Any]) -> list[tuple[Any, list[Any]]]:
    """Returns the id of each item, and those that it is drawn together with: in its show_if and texts, and its grid's first item."""
    pairs: list[tuple[Any, list[Any]]] = []
    first: dict[str, Any] = {}
    for source in sources:
        items = [item if isinstance(item, Mapping) else {} for item in items_of(source)]
        conditions = question_ids(source.get("show_if")) if isinstance(source, Mapping) else []
        pipes = piped_ids(text for part in (source, *items) for _, text in texts_of(part))
        for item in items:
            ties = [items[0].get("id")] if len(items) > 1 else _ties(item, first)
            pairs.append((item.get("id"), [*conditions, *pipes, *ties]))
    return pairs


def _ties(source: Mapping[str, Any], first: dict[str, Any]) -> list[Any]:
    """Returns the id of the first question of a question's grid, which it adds to `first`."""
    grid = source.get("grid")
    name = grid.get("id") if isinstance(grid, Mapping) else None
    return [first.setdefault(name, source.get("id"))] if isinstance(name, str) else []


def as_scale(source: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a block as a scale question: everything that its items share."""
    return {key: value for key, value in source.items() if key not in ("items", "order")} | {"type": "scale"}


def item_texts(sources: Sequence[Any], words: Mapping[str, Any]) -> dict[str, Any]:
    """Returns valid translated texts of questions with the texts of each block moved to the first of its items.

    Args:
        sources: The questions of a survey file.
        words: The texts of one language, by the ids of questions, items and blocks.
    """
    result = dict(words)
    for block in filter(is_rating, sources):
        if (own := result.pop(block["id"], None)) is not None:
            grid = {key: own[key] for key in BLOCK_TEXTS if key in own}
            name = block["items"][0]["id"]
            rest = {key: value for key, value in own.items() if key not in BLOCK_TEXTS}
            result[name] = {**result.get(name, {}), **({"grid": grid} if grid else {}), **rest}
    return result
