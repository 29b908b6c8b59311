"""Drawn orders of an imported survey: of the rows of tables, and of sections from parts that a form shows in random order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

Questions = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class FormPart:
    """A part of a form, such as a group of LimeSurvey or a block of Qualtrics.

    Attributes:
        number: Its place among the parts.
        mixed_with: The name of the set of parts that the form shows in random order; empty for a part that keeps its place.
    """

    number: int
    mixed_with: str


_OUTSIDE = FormPart(-1, "")


def order_rows(questions: Questions, random_rows: Collection[str]) -> set[str]:
    """Lets rating blocks draw the order of their items if all of these are in a random order in the form.

    Args:
        questions: The questions of a survey file.
        random_rows: The ids of the rows of tables with a random order.

    Returns:
        The ids of rows whose order stays fixed.
    """
    fixed = set(random_rows)
    for question in questions:
        ids = {item["id"] for item in question.get("items", ())}
        if ids and ids <= set(random_rows):
            question["order"] = "random"
            fixed -= ids
    return fixed


def order_sections(questions: Questions, parts: Mapping[str, FormPart]) -> str:
    """Marks the sections that keep their place as fixed.

    Args:
        questions: The questions of a survey file.
        parts: The part of each question, by the question's id.

    Returns:
        Why the survey cannot draw the order of its sections as the form does; empty if it can.
    """
    runs = [(part, list(own)) for part, own in groupby(questions, lambda question: parts.get(_first_id(question), _OUTSIDE))]
    first = next((index for index, (part, _) in enumerate(runs) if part.mixed_with), len(runs))
    if first == len(runs):
        return "none of them is asked"
    sets = [name for name, _ in groupby(part.mixed_with for part, _ in runs[first:])]
    named = [name for name in sets if name]
    if len(set(named)) < len(named) or any(one and other for one, other in pairwise(sets)):
        return "parts of several random sets follow each other"
    if not all("section" in own[0] for _, own in runs[first:]):
        return "a part without a title is no section"
    if any("section" in question for part, own in runs if part.mixed_with for question in own[1:]):
        return "a part has several headings, so it is several sections"
    for part, own in runs:
        for question in own:
            if "section" in question and not part.mixed_with:
                question["section"] = {**question["section"], "fixed": "true"}
    return ""


def _first_id(question: Mapping[str, Any]) -> str:
    """Returns the id of a question, or of the first item of a rating block."""
    return str(question["items"][0]["id"] if "items" in question else question["id"])
