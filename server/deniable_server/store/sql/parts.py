"""Parts of a survey as the tables have them: a label, empty where there is none, and a number for the mode."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from deniable.wire.part import Mode, Part

NUMBERS: tuple[Mode, ...] = ("device", "by_hand", "organisation")  # these never change


def row(part: Part) -> tuple[str, int]:
    """The columns of a part."""
    return part.group or "", NUMBERS.index(part.mode)


def part(label: str, mode: int) -> Part:
    """The part of a row."""
    return Part(label or None, NUMBERS[mode])


def among(survey_id: str, parts: Collection[Part]) -> tuple[str, list[Any]]:
    """The condition on rows that names these parts of a survey, and its values."""
    if not parts:
        return "survey = ? AND FALSE", [survey_id]
    listed = ", ".join(["(?, ?)"] * len(parts))  # joined by OR, SQLite takes a thousand of them at most
    return f"survey = ? AND (label, mode) IN (VALUES {listed})", [survey_id, *(value for each in parts for value in row(each))]
