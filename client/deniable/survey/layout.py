"""Layout of a survey's records: the position of every bit, computed once per survey (`Survey.record`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from deniable.survey.question import Question


@dataclass(frozen=True)
class Field:
    """One item's bits in a record: all bits of its report except the last, and in a sampled survey, the bit that its question was asked."""

    item: Question
    bits: slice
    mask: int | None


class Rule(NamedTuple):
    """Rule for a field of a record that is read as one integer, the first bit the most significant.

    d - 1 or d of the field's `bits` are set, or no bit if the question was not asked. The bit `mask` is set if it was asked; a `mask`
    of 0 means that every respondent was asked.
    """

    field: Field
    bits: int
    d: int
    mask: int


@dataclass(frozen=True)
class Layout:
    """The fields of a record in order. bits: the number of stored bits, including the mask, excluding padding."""

    fields: tuple[Field, ...]
    bits: int

    @classmethod
    def of(cls, questions: Sequence[Question], masked: bool) -> Layout:
        """Returns the layout of questions. masked: whether a record begins with a mask, a bit for each question: was it asked?"""
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
        """Rules of the fields, except for yes/no questions that every respondent is asked: their fields can have every value."""
        first = 1 << 8 * self.bytes
        rules = []
        for field in self.fields:
            bits = sum(first >> 1 + position for position in range(field.bits.start, field.bits.stop))
            if field.mask is not None or field.item.channel.outputs > 2:
                rules.append(Rule(field, bits, field.item.channel.d, 0 if field.mask is None else first >> 1 + field.mask))
        return tuple(rules)

    @cached_property
    def _by_id(self) -> dict[str, Field]:
        return {field.item.id: field for field in self.fields}
