"""Layout of a survey's records: the position of every bit, computed once per survey (`Survey.record`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

    Attributes:
        item: The id of the field's item.
        outputs: The number of bits of its report; the record has all but the last.
        bits: The field's bits.
        d: The number of set bits of its report.
        mask: The bit that says that its question was asked.
    """

    item: str
    outputs: int
    bits: int
    d: int
    mask: int

    @classmethod
    def of(cls, size: int, item: str, start: int, outputs: int, d: int, mask: int | None) -> Rule:
        """Returns the rule of a field.

        Args:
            size: The length of a record in bytes.
            item: The id of the field's item.
            start: The position of its first bit.
            outputs: The number of bits of its report.
            d: The number of set bits of its report.
            mask: The position of the bit that says that its question was asked; None if every respondent was asked.
        """
        end = 8 * size - start - (outputs - 1)  # bits behind the field
        return cls(item, outputs, (1 << outputs - 1) - 1 << end, d, 0 if mask is None else 1 << 8 * size - 1 - mask)


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
        return tuple(Rule.of(self.bytes, *values) for values in self.compiled_rules())

    def compiled_rules(self) -> Iterator[tuple[str, int, int, int, int | None]]:
        """Yields the arguments of `Rule.of` for each rule, after the length of a record."""
        for field in self.fields:
            channel = field.item.channel
            if field.mask is not None or channel.outputs > 2:
                yield field.item.id, field.bits.start, channel.outputs, channel.d, field.mask

    @cached_property
    def _by_id(self) -> dict[str, Field]:
        return {field.item.id: field for field in self.fields}


def block_masks(blocks: Sequence[Sequence[int]], size: int) -> tuple[int, ...]:
    """Returns the mask of each block of questions in a record of `size` bytes that is read as one integer."""
    first = 1 << 8 * size
    return tuple(sum(first >> 1 + number for number in block) for block in blocks)
