"""Skip-logic conditions (`show_if`) as rows of a form: one row for each condition on an earlier question, and how they are joined.

A tied row belongs to the previous row. If all rows must hold, either of the two is enough; if any row is enough, both must hold. Rows
can express every condition of a survey file, which has lists of `any` in one of `all`, or lists of `all` in one of `any`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from deniable_server.drafts.editor.shapes import Fields, format_line, format_lines, format_numbers, parse_lines, parse_numbers

WORDS = ("all", "any")
ENDS = ("at_least", "below")
SUMS = ("score", "count")
BLANK: Fields = {"question": "", "answers": "", "score": "", "count": "", "at_least": "", "below": "", "tied": False}
_KEYS = {"question", "is", *SUMS, *ENDS}


def rows_of(value: Any) -> tuple[str, list[Fields]] | None:
    """Returns the word that joins a condition's rows, and the rows; None if rows cannot express the value."""
    word = next((word for word in WORDS if isinstance(value, Mapping) and word in value), None)
    parts = value[word] if word else [value]
    if word and (set(value) != {word} or not isinstance(parts, list) or len(parts) < 2):
        return None
    rows = []
    for part in parts:
        inside = part.get(_other(word or "all")) if word and isinstance(part, Mapping) and len(part) == 1 else None
        several = inside if isinstance(inside, list) and len(inside) > 1 else [part]
        rows += [_row(condition, tied=index > 0) for index, condition in enumerate(several)]
    valid = [row for row in rows if row is not None]
    return (word or "all", valid) if len(valid) == len(rows) else None


def condition_of(
    word: str, rows: Sequence[Fields], new_ids: Mapping[str, str], blocks: Mapping[str, Sequence[str]]
) -> dict[str, Any] | None:
    """Returns the condition of a form's rows, or None if all of them are empty.

    Args:
        word: The word that joins the rows: "all" or "any".
        rows: The rows.
        new_ids: The new ids of renamed questions and items, by their old ids.
        blocks: The ids of the items of rating blocks, by the block's id. A sum of a block's scores adds all its items.
    """
    joined = "any" if word == "any" else "all"
    parts = []
    for group in _groups(rows):
        conditions = [_value(rows[index], new_ids, blocks) for index in group]
        parts.append(conditions[0] if len(conditions) == 1 else {_other(joined): conditions})
    return {joined: parts} if len(parts) > 1 else parts[0] if parts else None


def row_at(path: str, rows: Sequence[Fields]) -> str:
    """Returns the row and field of a path in a condition: "1-below" for "all[1].below"; the first row for the whole condition."""
    groups, indexes = _groups(rows), [int(index) for index in re.findall(r"(?:all|any)\[(\d+)\]", path)]
    if len(groups) == 1:
        indexes = [0, *indexes]
    group = groups[indexes[0]] if indexes and indexes[0] < len(groups) else [0]
    row = group[indexes[1]] if len(indexes) > 1 and indexes[1] < len(group) else group[0]
    key = re.sub(r"\[\d+\]$", "", path).rpartition(".")[2]
    key = "answers" if key == "is" else key
    if key not in (*ENDS, *SUMS, "answers"):
        is_sum = any(rows[row][word] for word in SUMS) and not rows[row]["question"]
        key = ENDS[0] if is_sum else "question"  # a sum needs one end or both
    return f"{row}-{key}"


def _other(word: str) -> str:
    return "all" if word == "any" else "any"


def _groups(rows: Sequence[Fields]) -> list[list[int]]:
    """Returns the numbers of the rows that are filled in; tied rows are in one list."""
    groups: list[list[int]] = []
    for index, row in enumerate(rows):
        if not any(str(row[key]).strip() for key in ("question", "answers", *SUMS, *ENDS)):
            continue
        if row["tied"] and groups:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _row(value: Any, tied: bool) -> Fields | None:
    if not isinstance(value, Mapping) or not set(value) <= _KEYS or not set(value) & {"question", *SUMS}:
        return None
    sums = {word: format_numbers(value[word]) for word in SUMS if word in value}
    lines = {key: format_line(value[key]) for key in ("question", *ENDS) if key in value}
    answers = _answers(value)
    if answers is None or None in [*sums.values(), *lines.values()]:
        return None
    return {**BLANK, **sums, **lines, "answers": answers, "tied": tied}


def _answers(value: Mapping[str, Any]) -> str | None:
    """Returns the answers of a condition; empty for those that `_value` leaves out, or adds as an empty list."""
    if "is" not in value:
        return "" if "score" in value or ("count" not in value and set(value) & set(ENDS)) else None
    is_added = "count" in value or not set(value) & {"score", *ENDS}
    return "" if value["is"] == [] and is_added else format_lines(value["is"])


def _value(row: Fields, new_ids: Mapping[str, str], blocks: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Returns the condition of a row, with everything that is filled in: the survey's check names what does not fit together."""
    names = {word: parse_numbers(row[word]) for word in SUMS}
    sums = {word: [part for name in own for part in blocks.get(name, [new_ids.get(name, name)])] for word, own in names.items() if own}
    question = {"question": new_ids.get(row["question"], row["question"])} if row["question"] or not sums else {}
    ends = {key: row[key] for key in ENDS if row[key]}
    answers = parse_lines(row["answers"])
    has_answers = answers or "count" in sums or not (sums or ends)
    return {**question, **sums, **({"is": answers} if has_answers else {}), **ends}
