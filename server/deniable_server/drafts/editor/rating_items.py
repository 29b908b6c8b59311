"""Items of rating blocks as lines of a form: their ids, and their texts in another language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from deniable.survey.parse_questions import QUESTION_ID
from deniable_server.drafts.editor.known_keys import has_items
from deniable_server.drafts.editor.shapes import Fields, format_items, parse_items, parse_lines

_MOST = 58  # characters of a block's id that its items' ids begin with, so that there is room for a number


def item_ids(text: str) -> list[str]:
    """Returns the ids of the items in a field."""
    return [item["id"] for item in parse_items(text) if "id" in item]


def names_of(questions: Sequence[Fields]) -> set[str]:
    """Returns the ids of all questions and items."""
    return {question["id"] for question in questions} | {name for question in questions for name in item_ids(question.get("items", ""))}


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

    A line without the name of an item is the text of the item in its place. Further lines belong to the last item, so that no
    word is lost.

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


def name_items(questions: Sequence[Fields], stored: Callable[[], Mapping[str, Any] | None]) -> None:
    """Gives each item without a name an id, made of its block's.

    An item has the id that the stored draft has for its text: the lines of a field stay as they are while a person is writing, so each
    save names them again.

    Args:
        questions: The fields of the questions, whose items change.
        stored: Returns the document of the stored draft; None for a draft without one. Called only for items without a name.
    """
    blocks = [(index, question) for index, question in enumerate(questions) if _has_unnamed(question)]
    document = stored() if blocks else None
    used_ids = names_of(questions)
    for index, question in blocks:
        items, ids = parse_items(question["items"]), _stored_ids(question, document)
        for item in items:
            name = ids.get(item["text"], "")
            if "id" not in item and name and name not in used_ids:
                item["id"] = name
                used_ids.add(name)
        prefix = question["id"] if QUESTION_ID.fullmatch(question["id"]) else f"q{index + 1}"
        free = iter(free_ids(prefix, used_ids, sum("id" not in item for item in items)))
        question["items"] = "\n".join(f"{item['id'] if 'id' in item else next(free)}: {item['text']}" for item in items)


def _has_unnamed(question: Fields) -> bool:
    """Returns whether a question is a rating block that has an item without a name."""
    return has_items(question["type"]) and any("id" not in item for item in parse_items(question["items"]))


def copy_items(question: Fields, used_ids: set[str]) -> Fields:
    """Returns the items of a question's copy with new ids, and their texts in other languages.

    Args:
        question: The copy, which has a new id.
        used_ids: The ids of all questions and items, which grows.
    """
    items = parse_items(question["items"])
    old = [item["id"] for item in items if "id" in item]
    new = free_ids(question["id"], used_ids, len(old))
    ids = dict(zip(old, new, strict=True))
    lines = [f"{ids[item['id']]}: {item['text']}" if "id" in item else item["text"] for item in items]
    words = []
    for own in question["words"]:
        texts = parse_item_words(own["items"], new, ids)
        words.append({**own, "items": "\n".join(f"{name}: {text}" for name, text in texts.items())})
    return {**question, "items": "\n".join(lines), "was_items": "", "words": words}


def free_ids(prefix: str, used_ids: set[str], number: int) -> list[str]:
    """Returns some ids that begin with a block's id, and adds them to `used_ids`."""
    names = (f"{prefix[:_MOST]}_{place}" for place in count(1))
    free = [next(name for name in names if name not in used_ids) for _ in range(number)]
    used_ids.update(free)
    return free


def _stored_ids(question: Fields, stored: Mapping[str, Any] | None) -> dict[str, str]:
    """Returns the ids of a block's items in the stored draft, by their texts."""
    blocks = [block for block in (stored or {}).get("questions", []) if block.get("id") in (question["id"], question["was"])]
    items = [item for block in blocks if format_items(block.get("items")) for item in block["items"]]
    return {item["text"]: item["id"] for item in reversed(items)}
