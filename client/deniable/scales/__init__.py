"""Question library: validated scales that are free to use, a file for each.

A file has the scale's name, source, year and licence, and either whole questions or `items` that share a stem and options, which become a
rating block. Scales with other licences are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from deniable.survey.document import parse

NAMES = ("phq2", "phq9", "gad2", "gad7", "pc_ptsd5", "hrqol4", "mini_ipip")
"""The files, in the order of lists."""


@dataclass(frozen=True)
class ValidatedScale:
    """A validated scale.

    Attributes:
        key: The name of its file.
        name: The name in the literature.
        measures: The subject, and the number of questions.
        source: The publication.
        year: The year of publication.
        licence: The reason why it is free to use.
        scoring: The rule that combines the answers.
        advice: Advice for its use; empty for none.
        questions: Its questions, as a survey file has them.
    """

    key: str
    name: str
    measures: str
    source: str
    year: str
    licence: str
    scoring: str
    advice: str
    questions: tuple[dict[str, Any], ...]


@cache
def all_scales() -> tuple[ValidatedScale, ...]:
    """Returns all scales, in the order of lists."""
    return tuple(_read(key) for key in NAMES)


def ids_of(questions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the ids of questions, and of the items of rating blocks."""
    return [str(each.get("id")) for question in questions for each in (question, *_items(question))]


def with_new_ids(questions: Sequence[Mapping[str, Any]], present: Collection[str]) -> list[dict[str, Any]]:
    """Returns questions with ids that are not taken. Conditions among them follow; other conditions are removed."""
    used, ids = set(present), {}
    for id_ in ids_of(questions):
        ids[id_] = _free(id_, used)
        used.add(ids[id_])
    return [_renamed(question, ids) for question in questions]


def _read(key: str) -> ValidatedScale:
    value = parse((files("deniable.scales") / f"{key}.yaml").read_text("utf-8")).value
    questions = value.get("questions") or [_block(key, value)]
    texts = {name: value[name] for name in ("name", "measures", "source", "year", "licence", "scoring")}
    return ValidatedScale(key=key, **texts, advice=value.get("advice", ""), questions=tuple(questions))


def _block(key: str, value: Mapping[str, Any]) -> dict[str, Any]:
    shared = {name: value[name] for name in ("options", "scores", "items")}
    return {"id": key, "type": "rating", "text": value["stem"], **shared}


def _items(question: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    items = question.get("items")
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def _free(question_id: str, used: Collection[str]) -> str:
    if question_id not in used:
        return question_id
    number = 2
    while f"{question_id}_{number}" in used:
        number += 1
    return f"{question_id}_{number}"


def _renamed(question: Mapping[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
    renamed = {**question, "id": ids[question["id"]]}
    if items := _items(question):
        renamed["items"] = [{**item, "id": ids[str(item.get("id"))]} for item in items]
    condition = question.get("show_if")
    target = condition.get("question") if isinstance(condition, Mapping) else None
    if isinstance(condition, Mapping) and isinstance(target, str) and target in ids:
        renamed["show_if"] = {**condition, "question": ids[target]}
    else:
        renamed.pop("show_if", None)
    return renamed
