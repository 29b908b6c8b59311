"""What one respondent's answers say of each item: a multiple choice is answered by a list, or item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from deniable.device.encode import MISSING, chosen
from deniable.errors import AnswerError
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.survey.types.base import Answer

Lists = Mapping[str, tuple[str, Set[str]]]
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


def lookup(row: Mapping[str, Answer], name: str, lists: Lists) -> Answer:
    """What a row says of one item; what it says in both forms is no answer, since nobody knows which was meant."""
    if name not in lists or lists[name][0] not in row:
        return row.get(name, MISSING)
    return _BOTH if name in row else item_of(row[lists[name][0]], name, lists)


def item_of(answer: Answer, name: str, lists: Lists) -> Answer:
    """Returns what the answer to a whole multiple choice says of one of its items."""
    whole, labels = lists[name]
    return chosen(answer, name[len(whole) + 1 : -1], labels)


class Keys:
    """The keys by which rows are looked up, and what differs from one only by capitals or spaces, which nobody means as another."""

    def __init__(self, names: Sequence[str]) -> None:
        self._known = {*names, *(whole for whole, _ in item_lists(names).values())}
        self._like = {name.strip().casefold(): name for name in self._known}

    def checked(self, row: Any) -> Any:
        """Returns the row without blanks around its keys. Raises AnswerError, which names what is looked for: a key may be an answer."""
        if not isinstance(row, Mapping) or self._known.issuperset(row):
            return row
        bare = dict(row)
        for key in row.keys() - self._known:
            name = self._like.get(key.strip().casefold()) if isinstance(key, str) else None
            if name is None:
                self._known.add(key)
            elif (same := key.strip() == name.strip()) and name not in bare:
                bare[name] = row[key]
            elif same or name not in row:
                how = "more than once" if same else "missing"
                raise AnswerError(f"rows must have a key for each question, as written; {how} (but for capitals or spaces): {name}")
        return bare
