"""Database columns of a part: the group's label (empty without a group) and the mode's number."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from deniable.wire.part import Mode, Part

NUMBERS: tuple[Mode, ...] = ("device", "by_hand", "organisation")  # these never change


def row(part: Part) -> tuple[str, int]:
    """Returns the columns of a part."""
    return part.group or "", NUMBERS.index(part.mode)


def part(label: str, mode: int) -> Part:
    """Returns the part of a row."""
    return Part(label or None, NUMBERS[mode])


def among(survey_id: str, parts: Collection[Part]) -> tuple[str, list[Any]]:
    """Returns an SQL condition that selects these parts of a survey, and its values."""
    if not parts:
        return "survey = ? AND FALSE", [survey_id]
    pairs = ", ".join(["(?, ?)"] * len(parts))  # with OR, SQLite would accept at most a thousand
    return f"survey = ? AND (label, mode) IN (VALUES {pairs})", [survey_id, *(value for each in parts for value in row(each))]
