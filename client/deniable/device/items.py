"""Items of an answer: a multiple choice is answered by a list, or item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from typing import Any

from deniable.device.columns import DictionaryColumn, ValueCodes
from deniable.device.encode import MISSING, is_option_chosen
from deniable.errors import AnswerError
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.survey.types.base import Answer

ItemLists = Mapping[str, tuple[str, Set[str]]]
"""For each item's name, such as `drugs[tea]`: the whole question's name, and the labels of all its items."""

_SPLIT_ONCE = {list, tuple, str, type(None), type(MISSING)}
"""Types of answers to a multiple choice that split alike if they are equal."""

_AMBIGUOUS = object()
"""Invalid value for a multiple choice that is answered in both forms."""


def each_answer(survey: Survey, answers: Mapping[str, Answer]) -> Iterator[tuple[Question, Answer]]:
    """Yields each item of a survey with one respondent's answer to it, or MISSING."""
    lists = item_lists([item.id for item in survey.items])
    for item in survey.items:
        yield item, lookup(answers, item.id, lists)


def item_lists(names: Sequence[str]) -> dict[str, tuple[str, Set[str]]]:
    """Returns the whole question's name and the labels of all its items, in order, by each name like `drugs[tea]`."""
    lists: dict[str, tuple[str, Set[str]]] = {}
    labels: dict[str, dict[str, None]] = {}
    for name in names:
        if name.endswith("]") and "[" in name:
            whole, _, label = name[:-1].partition("[")
            labels.setdefault(whole, {})[label] = None
            lists[name] = (whole, labels[whole].keys())
    return lists


def lookup(row: Mapping[str, Answer], name: str, lists: ItemLists) -> Answer:
    """Returns a row's answer to one item. A multiple choice answered in both forms is invalid, since either may be the right one."""
    if name not in lists or lists[name][0] not in row:
        return row.get(name, MISSING)
    return _AMBIGUOUS if name in row else item_of(row[lists[name][0]], name, lists)


def item_of(answer: Answer, name: str, lists: ItemLists) -> Answer:
    """Returns one item's part of the answer to a whole multiple choice."""
    whole, labels = lists[name]
    return is_option_chosen(answer, name[len(whole) + 1 : -1], labels)


def all_plain(rows: Sequence[Any]) -> bool:
    """Returns whether all rows are dicts, and of no subclass, which might look up keys in another way."""
    return {dict}.issuperset(map(type, rows))


def lookup_columns(rows: Sequence[Mapping[str, Answer]], names: Sequence[str]) -> list[Any]:
    """Returns a column of answers for each item: the answers that `lookup` finds row by row."""
    lists = item_lists(names)
    if not all_plain(rows):
        return [[lookup(row, name, lists) for row in rows] for name in names]
    keys = set[Any]().union(*rows) if lists else set[Any]()
    sources = {name: lists[name][0] if name in lists and lists[name][0] in keys else name for name in names}
    in_both_forms = {sources[name] for name in lists if name in keys and sources[name] != name}  # perhaps in different rows
    columns = _columns(rows, list(dict.fromkeys(sources.values())))
    items = dict[str, Any]()
    for whole in {sources[name] for name in lists} - in_both_forms - lists.keys():
        items |= _item_columns(columns[whole], [name for name in lists if sources[name] == whole], lists)
    return [
        [lookup(row, name, lists) for row in rows] if sources[name] in in_both_forms else items.get(name, columns[sources[name]])
        for name in names
    ]


def _columns(rows: Sequence[Mapping[str, Answer]], keys: Sequence[str]) -> dict[str, Sequence[Answer]]:
    """Returns the values of each key in dicts, or MISSING."""
    with suppress(KeyError):
        if len(keys) > 1:
            return dict(zip(keys, zip(*map(itemgetter(*keys), rows), strict=True), strict=True))
    return {key: [row.get(key, MISSING) for row in rows] for key in keys}


def _item_columns(answers: Sequence[Answer], names: Sequence[str], lists: ItemLists) -> dict[str, Any]:
    """Returns a column for each item of a multiple choice; equal lists of texts are split once."""
    options = chain.from_iterable(answer for answer in answers if type(answer) in (list, tuple))
    if _SPLIT_ONCE.issuperset(map(type, answers)) and {str}.issuperset(map(type, options)):
        numbers = ValueCodes()
        codes = numbers.encode([tuple(answer) if type(answer) is list else answer for answer in answers])
        return {name: DictionaryColumn(codes, [_item_or_missing(answer, name, lists) for answer in numbers]) for name in names}
    return {name: [_item_or_missing(answer, name, lists) for answer in answers] for name in names}


def _item_or_missing(answer: Answer, name: str, lists: ItemLists) -> Answer:
    return MISSING if answer is MISSING else item_of(answer, name, lists)


class ExpectedKeys:
    """Keys of rows, and near misses, which differ from a key only by capitals or spaces."""

    def __init__(self, names: Sequence[str]) -> None:
        self._keys = {*names, *(whole for whole, _ in item_lists(names).values())}
        self._like = {name.strip().casefold(): name for name in self._keys}

    def normalize_all(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Returns rows without blanks around their keys. Raises AnswerError as `normalize` does."""
        return rows if all_plain(rows) and all(map(self._keys.issuperset, rows)) else list(map(self.normalize, rows))

    def normalize(self, row: Any) -> Any:
        """Returns a row without blanks around its keys.

        Raises:
            AnswerError: A key differs by capitals or spaces. The message names the expected key: one in the row may be an answer.
        """
        if not isinstance(row, Mapping) or self._keys.issuperset(row):
            return row
        normalized = dict(row)
        for key in row.keys() - self._keys:
            name = self._like.get(key.strip().casefold()) if isinstance(key, str) else None
            if name is None:
                self._keys.add(key)
            elif (same := key.strip() == name.strip()) and name not in normalized:
                normalized[name] = row[key]
            elif same or name not in row:
                how = "more than once" if same else "missing"
                raise AnswerError(f"rows must have a key for each question, as written; {how} (but for capitals or spaces): {name}")
        return normalized
