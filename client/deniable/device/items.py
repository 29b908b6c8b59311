"""What one respondent's answers say of each item: a multiple choice is answered by a list, or item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from deniable.device.encode import MISSING, chosen
from deniable.errors import AnswerError
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.survey.types.base import Answer

_BOTH = object()
"""No answer to any question."""


def each_answer(survey: Survey, answers: Mapping[str, Answer]) -> Iterator[tuple[Question, Answer]]:
    """Each item of a survey with one respondent's answer to it, or MISSING. A multiple choice is a list, or its items one by one."""
    lists = item_lists([item.id for item in survey.items])
    for item in survey.items:
        yield item, lookup(answers, item.id, lists)


def item_lists(names: Sequence[str]) -> dict[str, tuple[str, Set[str]]]:
    """For each name like `drugs[tea]` that of the whole question, and the labels of all its items, in their order."""
    found: dict[str, tuple[str, Set[str]]] = {}
    labels: dict[str, dict[str, None]] = {}
    for name in names:
        if name.endswith("]") and "[" in name:
            whole, _, label = name[:-1].partition("[")
            labels.setdefault(whole, {})[label] = None
            found[name] = (whole, labels[whole].keys())
    return found


def lookup(row: Mapping[str, Answer], name: str, lists: Mapping[str, tuple[str, Set[str]]]) -> Answer:
    """What a row says of one item; what it says in both forms is no answer, since nobody knows which was meant."""
    if name not in lists or lists[name][0] not in row:
        return row.get(name, MISSING)
    whole, labels = lists[name]
    return _BOTH if name in row else chosen(row[whole], name[len(whole) + 1 : -1], labels)


class Keys:
    """The keys by which rows are looked up, and what differs from one only by capitals or spaces, which nobody means as another."""

    def __init__(self, names: Sequence[str]) -> None:
        self._known = {*names, *(whole for whole, _ in item_lists(names).values())}
        self._like = {name.strip().casefold(): name for name in self._known}

    def checked(self, row: Any) -> Any:
        """The row, as it came. Raises AnswerError, which names what is looked for and no key of the row: a key may be an answer."""
        if isinstance(row, Mapping) and not self._known.issuperset(row):
            for key in row.keys() - self._known:
                name = self._like.get(key.strip().casefold()) if isinstance(key, str) else None
                if name is None:
                    self._known.add(key)
                elif name not in row:
                    raise AnswerError(f"rows must have a key for each question, as written; missing (but for capitals or spaces): {name}")
        return row
