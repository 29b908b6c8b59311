"""Items of rating blocks as lines of a form: their ids, and their texts in another language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable_server.drafts.editor.shapes import Fields, parse_items, parse_lines


def item_ids(text: str) -> list[str]:
    """Returns the ids of the items in a field."""
    return [item["id"] for item in parse_items(text) if "id" in item]


def new_item_ids(question: Fields) -> dict[str, str]:
    """Returns the new ids of a block's renamed items by their old ids; items are the same by their place if none was added or removed."""
    before, after = question["was_items"].split(), item_ids(question["items"])
    if len(before) != len(after):
        return {}
    return {old: new for old, new in zip(before, after, strict=True) if old not in after}


def format_item_words(ids: Sequence[str], questions: Mapping[str, Any]) -> str:
    """Returns the translated texts of items, one a line: name, colon, text.

    Args:
        ids: The ids of the items.
        questions: The texts of one language, by the ids of questions, items and blocks.
    """
    return "\n".join(f"{name}: {questions[name]['text']}" for name in ids if name in questions)


def parse_item_words(text: str, ids: Sequence[str], new_ids: Mapping[str, str]) -> dict[str, str]:
    """Returns the translated texts of items by their ids.

    A line without the name of an item is the text of the item in its place. What is too much belongs to the last item, so that no word
    is lost.

    Args:
        text: The field.
        ids: The ids of the items.
        new_ids: The new ids of renamed items, by their old ids.
    """
    words: dict[str, list[str]] = {name: [] for name in ids}
    for index, line in enumerate(parse_lines(text) if ids else ()):
        name, colon, rest = line.partition(":")
        name = new_ids.get(name.strip(), name.strip())
        if colon and name in words:
            words[name].append(rest.strip())
        else:
            words[ids[min(index, len(ids) - 1)]].append(line)
    return {name: " ".join(filter(None, lines)) for name, lines in words.items() if any(lines)}
