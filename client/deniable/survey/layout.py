"""Layout of a survey's records: the position of every bit, computed once for a survey: `Survey.record`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from deniable.survey.question import Question


@dataclass(frozen=True)
class Field:
    """One item's stored bits in a record, all of a report but the last, and the bit that says whether it was asked, if there is one."""

    item: Question
    bits: slice
    mask: int | None


class Rule(NamedTuple):
    """Rule for a field of a record that is read as one integer, the first bit the most significant.

    Of its `bits`, d - 1 or d are set; none if it was not asked, which is the bit `asked`. If that is 0 every respondent was asked.
    """

    field: Field
    bits: int
    d: int
    asked: int


@dataclass(frozen=True)
class Layout:
    """The fields of a record in order. bits: the number of stored bits, without padding, with the mask."""

    fields: tuple[Field, ...]
    bits: int

    @classmethod
    def of(cls, questions: Sequence[Question], masked: bool) -> Layout:
        """Returns the layout of questions. masked: whether a record begins with a bit for each question that says if it was asked."""
        start, fields = len(questions) if masked else 0, []
        for number, question in enumerate(questions):
            for item in question.items:
                fields.append(Field(item, slice(start, start + item.channel.outputs - 1), number if masked else None))
                start += item.channel.outputs - 1
        return cls(tuple(fields), start)

    @property
    def bytes(self) -> int:
        """Length of one record in bytes."""
        return -(-self.bits // 8)

    def field(self, item: str) -> Field:
        """Returns the field of an item, by its id. Raises KeyError if there is no such item."""
        return self._by_id[item]

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Rules of the fields that cannot have every value; a yes/no question that every respondent is asked can."""
        first = 1 << 8 * self.bytes
        rules = []
        for field in self.fields:
            bits = sum(first >> 1 + place for place in range(field.bits.start, field.bits.stop))
            if field.mask is not None or field.item.channel.outputs > 2:
                rules.append(Rule(field, bits, field.item.channel.d, 0 if field.mask is None else first >> 1 + field.mask))
        return tuple(rules)

    @cached_property
    def _by_id(self) -> dict[str, Field]:
        return {field.item.id: field for field in self.fields}
