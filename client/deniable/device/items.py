"""What one respondent's answers say of each item: a multiple choice is answered by a list, or item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from deniable.device.encode import MISSING, chosen
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.survey.types.base import Answer


def each_answer(survey: Survey, answers: Mapping[str, Answer]) -> Iterator[tuple[Question, Answer]]:
    """Each item of a survey with one respondent's answer to it, or MISSING. A multiple choice is a list, or its items one by one."""
    lists = item_lists([item.id for item in survey.items])
    for item in survey.items:
        yield item, lookup(answers, item.id, lists)


def item_lists(names: Sequence[str]) -> dict[str, tuple[str, set[str]]]:
    """For each name like `drugs[tea]` that of the whole question, and the labels of all its items."""
    found: dict[str, tuple[str, set[str]]] = {}
    labels: dict[str, set[str]] = {}
    for name in names:
        if name.endswith("]") and "[" in name:
            whole, _, label = name[:-1].partition("[")
            labels.setdefault(whole, set()).add(label)
            found[name] = (whole, labels[whole])
    return found


def lookup(row: Mapping[str, Answer], name: str, lists: Mapping[str, tuple[str, set[str]]]) -> Answer:
    if name in row or name not in lists or lists[name][0] not in row:
        return row.get(name, MISSING)
    whole, labels = lists[name]
    return chosen(row[whole], name[len(whole) + 1 : -1], labels)
