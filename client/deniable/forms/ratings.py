"""Rating blocks: questions of one table with one scale become one rating block."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from deniable.survey.piping import piped_ids

_SHARED = ("type", "options", "scores", "required", "show_if")
"""Keys that the questions of a block must share."""
_OWN = ("id", "text")
"""Keys that each item of a block has."""
Questions = list[dict[str, Any]]


def fold_ratings(
    questions: Questions, grids: dict[str, str], translations: dict[str, dict[str, Any]], tables: dict[str, dict[str, Any]]
) -> Questions:
    """Returns the questions, with neighbouring ones of one table as one of type `rating`.

    Args:
        questions: The questions of a survey file.
        grids: The table of each question that belongs to one, by its id.
        translations: The translations of the questions, by language and id.
        tables: The text of each table, with the section that begins with it, by the id of its first question.
    """
    folded: Questions = []
    for _, group in groupby(questions, lambda question: (grids.get(question["id"], question["id"]), _shared(question))):
        block = list(group)
        folded += [_rating(block, grids[block[0]["id"]], tables)] if _is_block(block, translations) else block
    return folded


def _shared(question: dict[str, Any]) -> str:
    return repr([question.get(key) for key in _SHARED])


def _is_block(block: Questions, translations: dict[str, dict[str, Any]]) -> bool:
    """Returns whether questions can be one: only the first has a section, and none has a help, a translation or another's answer."""
    is_plain = all(set(question) <= {*_SHARED, *_OWN, *(("section",) if question is block[0] else ())} for question in block)
    is_translated = any(question["id"] in texts for texts in translations.values() for question in block)
    is_apart = not any(question["id"] in piped_ids(other["text"] for other in block) for question in block)
    return len(block) > 1 and is_plain and is_apart and not is_translated


def _rating(block: Questions, table: str, tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Returns a rating block, whose text is the title of the table."""
    first = dict(block[0])
    section = first.pop("section", {})
    texts = {"text": section.get("title") or table, **({"help": section["note"]} if "note" in section else {})}
    items = [{"id": question["id"], "text": question["text"]} for question in block]
    shared = {key: first[key] for key in _SHARED if key in first and key != "type"}
    return {"id": f"{first['id']}_block"[:60], **tables.get(first["id"], texts), "type": "rating", **shared, "items": items}
