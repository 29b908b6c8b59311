"""After which answers a question is asked, as rows of a form: one for each question that it looks at, and how they hold together.

A row that is tied belongs to the one before: where all rows must hold, either of the two is enough; where any is enough, both must hold.
That is all that a survey file can say, which has lists of `any` in one of `all`, or the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from deniable_server.drafts.editor.shapes import Fields, line, lines, split_lines

WORDS = ("all", "any")
ENDS = ("at_least", "below")
BLANK: Fields = {"question": "", "answers": "", "at_least": "", "below": "", "tied": False}


def rows_of(value: Any) -> tuple[str, list[Fields]] | None:
    """The word that joins a condition's rows, and the rows; None for what rows cannot hold."""
    word = next((word for word in WORDS if isinstance(value, Mapping) and word in value), None)
    parts = value[word] if word else [value]
    if word and (set(value) != {word} or not isinstance(parts, list) or len(parts) < 2):
        return None
    rows = []
    for part in parts:
        inside = part.get(_other(word or "all")) if word and isinstance(part, Mapping) and len(part) == 1 else None
        several = inside if isinstance(inside, list) and len(inside) > 1 else [part]
        rows += [_row(one, tied=place > 0) for place, one in enumerate(several)]
    known = [row for row in rows if row is not None]
    return (word or "all", known) if len(known) == len(rows) else None


def condition_of(word: str, rows: Sequence[Fields], renamed: Mapping[str, str]) -> dict[str, Any] | None:
    """The condition that rows say, None where they say none. renamed: the new ids of questions by their old ones."""
    joined = "any" if word == "any" else "all"
    parts = []
    for group in _groups(rows):
        inside = [_value(rows[place], renamed) for place in group]
        parts.append(inside[0] if len(inside) == 1 else {_other(joined): inside})
    return {joined: parts} if len(parts) > 1 else parts[0] if parts else None


def row_at(where: str, rows: Sequence[Fields]) -> str:
    """The row, and the field of it, that a place in a condition is about: "1-below" for "all[1].below". The first row for all of it."""
    groups, places = _groups(rows), [int(place) for place in re.findall(r"(?:all|any)\[(\d+)\]", where)]
    if len(groups) == 1:
        places = [0, *places]
    group = groups[places[0]] if places and places[0] < len(groups) else [0]
    row = group[places[1]] if len(places) > 1 and places[1] < len(group) else group[0]
    key = re.sub(r"\[\d+\]$", "", where).rpartition(".")[2]
    return f"{row}-{ {'is': 'answers'}.get(key, key if key in ENDS else 'question') }"


def _other(word: str) -> str:
    return "all" if word == "any" else "any"


def _groups(rows: Sequence[Fields]) -> list[list[int]]:
    """The numbers of the rows that say something, those together that are tied."""
    groups: list[list[int]] = []
    for place, row in enumerate(rows):
        if not any(str(row[key]).strip() for key in ("question", "answers", *ENDS)):
            continue
        if row["tied"] and groups:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _row(value: Any, tied: bool) -> Fields | None:
    if not isinstance(value, Mapping) or not set(value) <= {"question", "is", *ENDS} or line(value.get("question")) is None:
        return None
    ends = {key: line(value[key]) for key in ENDS if key in value}
    nothing = value.get("is") == [] and not ends
    answers = "" if nothing or (ends and "is" not in value) else lines(value.get("is"))
    if answers is None or None in ends.values():
        return None
    return {**BLANK, "question": value["question"], "answers": answers, **ends, "tied": tied}


def _value(row: Fields, renamed: Mapping[str, str]) -> dict[str, Any]:
    ends = {key: row[key] for key in ENDS if row[key]}
    answers = split_lines(row["answers"])
    return {"question": renamed.get(row["question"], row["question"]), **({"is": answers} if answers or not ends else {}), **ends}
