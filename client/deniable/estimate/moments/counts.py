"""Counts of a question's bits in records and in a tally, including the implied last bit."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import count
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError, UnknownNameError
from deniable.survey import Survey
from deniable.survey.layout import Field
from deniable.survey.question import Question
from deniable.wire.tally import Tally

_CHUNK = 1 << 22  # numbers held at once while reports are counted


_marks = count()


def people_of(tally: Tally) -> frozenset[str]:
    """Returns the marks of the reports that a tally has counted; the same tally object always has the same marks.

    Two tallies have different ones, even if their counts are equal, unless `summed` added one to the other.
    """
    if "people" not in tally.__dict__:
        tally.__dict__["people"] = frozenset({f"{next(_marks)}-{tally.n}-{crc32(np.ascontiguousarray(tally.pairs).tobytes()):08x}"})
    return frozenset(tally.__dict__["people"])


def summed(tallies: Collection[Tally]) -> Tally:
    """Returns the sum of tallies, with the marks of all their reports."""
    result = Tally(sum(tally.n for tally in tallies), np.sum([tally.pairs for tally in tallies], axis=0))
    result.__dict__["people"] = frozenset[str]().union(*map(people_of, tallies))
    return result


def find(survey: Survey, name: str) -> tuple[Question, slice]:
    """Returns the question with this id and its stored bits. Raises EstimateError."""
    place = place_of(survey, name)
    return place.item, place.bits


def place_of(survey: Survey, name: str) -> Field:
    """Returns the record field of the item with this id. Raises EstimateError."""
    try:
        return survey.record.field(name)
    except (KeyError, TypeError):  # TypeError: of what is no text, and may be unhashable
        pass
    raise UnknownNameError.of(f"the question must be one of survey {survey.id}", name, (item.id for item in survey.items))


def option_index(question: Question, option: str) -> int:
    """Returns the index of the category with this label. Raises EstimateError."""
    if option not in question.categories:
        raise UnknownNameError.of(f"the option must be one of question {question.id}", option, question.categories)
    return question.categories.index(option)


def counts(survey: Survey, tally: Tally, name: str) -> tuple[Question, int, NDArray[np.int64]]:
    """Returns the question, the number n of reports that were asked it, and how many of these have each bit set, shape (outputs,).

    Raises:
        EstimateError: The question is unknown, or the counts are impossible for n reports.
    """
    place = place_of(survey, name)
    n = _reports(survey, tally, place)
    stored = tally.ones[place.bits]
    every = np.append(stored, n * place.item.channel.d - stored.sum())
    if every.min() < 0 or every.max() > n:
        raise EstimateError(f"the tally must hold counts of {name} that {n:,} reports can have, got {every.min():,} to {every.max():,}")
    return place.item, n, every


def pair_counts(survey: Survey, tally: Tally, a: str, b: str) -> tuple[tuple[Question, Question], int, NDArray[np.int64]]:
    """Returns both questions, the number of reports that were asked both, and how many of these have bits i of a and j of b set."""
    first, second = place_of(survey, a), place_of(survey, b)
    if a == b:
        raise EstimateError(f"the two questions must differ, got {a} twice")
    n = _reports(survey, tally, first, second)
    stored = tally.pairs[first.bits, second.bits]
    rows = _among(tally, first.bits, second.mask)  # how often each bit of a was set where b was asked
    columns = _among(tally, second.bits, first.mask)
    last_column = second.item.d * rows - stored.sum(axis=1)
    last_row = first.item.d * columns - stored.sum(axis=0)
    corner = first.item.d * (n * second.item.d - columns.sum()) - last_column.sum()
    return (first.item, second.item), n, np.block([[stored, last_column[:, None]], [last_row[None, :], np.array([[corner]])]])


def bits_of(survey: Survey, bits: NDArray[np.bool_], names: Sequence[str]) -> tuple[list[Question], list[NDArray[np.bool_]]]:
    """Returns the questions and all bits of each, shape (n, outputs), from unpacked reports, shape (n, record_bits).

    If devices draw the questions, n counts the reports that were asked all of these; `was_asked` says which. Raises EstimateError.
    """
    if bits.ndim != 2 or bits.shape[1] != survey.record.bits:
        raise EstimateError(f"bits must have {survey.record.bits} columns, as survey {survey.id} has, got the shape {bits.shape}")
    bits = bits[was_asked(survey, bits, names)]
    if not len(bits):
        raise EstimateError("bits must hold at least 1 report, got 0: without reports there is no estimate")
    result = [place_of(survey, name) for name in names]
    stored = [bits[:, place.bits] for place in result]
    implied = [part.sum(axis=1) < place.item.d for place, part in zip(result, stored, strict=True)]
    return [place.item for place in result], [np.column_stack([part, last]) for part, last in zip(stored, implied, strict=True)]


def was_asked(survey: Survey, bits: NDArray[np.bool_], names: Sequence[str]) -> NDArray[np.bool_]:
    """Returns whether each report was asked all of these questions, shape (n,)."""
    masks = [place.mask for place in (place_of(survey, name) for name in names) if place.mask is not None]
    return np.asarray(bits[:, masks].all(axis=1))


def check(survey: Survey, tally: Tally) -> None:
    """Requires a tally with this survey's bits, and with counts of each pair of bits that n reports can have.

    Raises:
        EstimateError: The tally is of another survey, or its counts contradict each other.
    """
    bits = survey.record.bits
    if tally.pairs.shape != (bits, bits):
        raise EstimateError(f"the tally must have {bits} bits, as survey {survey.id} has, got {len(tally.pairs)}")
    if isinstance(tally.n, bool) or not isinstance(tally.n, int | np.integer) or tally.n < 0:
        raise EstimateError(f"the tally's n must be a whole number of reports, got {tally.n!r}")
    if not np.issubdtype(tally.pairs.dtype, np.integer):
        raise EstimateError(f"the tally must hold whole numbers of reports, got numbers of the type {tally.pairs.dtype}")
    least, greatest = tally.extent
    if least < 0 or greatest > tally.n:
        raise EstimateError(f"the tally must hold counts from 0 to n = {tally.n}, got {least} to {greatest}")
    if (pair := tally.contradiction) is not None:
        (i, j), both = pair, int(tally.pairs[pair])
        raise EstimateError(
            f"the tally must hold counts that n = {tally.n} reports can have, got {both} with bits {i} and {j} both set, "
            f"{tally.pairs[j, i]} with {j} and {i}, where {tally.pairs[i, i]} have the one and {tally.pairs[j, j]} the other"
        )


def _among(tally: Tally, bits: slice, mask: int | None) -> NDArray[np.int64]:
    return tally.ones[bits] if mask is None else np.asarray(tally.pairs[bits, mask])


def _reports(survey: Survey, tally: Tally, *places: Field) -> int:
    """Returns how many reports answer all of these questions."""
    check(survey, tally)
    masks = [place.mask for place in places if place.mask is not None]
    n = int(tally.pairs[masks[0], masks[-1]]) if masks else tally.n
    if n < 1:
        names = " and ".join(place.item.id for place in places)
        raise EstimateError(f"the tally must hold at least 1 report to {names}, got 0: without reports there is no estimate")
    return n


def count_together(parts: Sequence[NDArray[np.bool_]]) -> NDArray[np.int64]:
    """Counts the reports with bit i of the first question, j of the second, and so on, all set."""
    shape = tuple(part.shape[1] for part in parts)
    rows = math.prod(shape[:-1])
    total = np.zeros((rows, shape[-1]), dtype=np.int64)
    step = max(1, _CHUNK // rows)
    for start in range(0, len(parts[0]), step):
        chunk = [part[start : start + step].astype(np.float32) for part in parts]
        product_of_bits = chunk[0]
        for part in chunk[1:-1]:
            product_of_bits = (product_of_bits[:, :, None] * part[:, None, :]).reshape(len(part), -1)
        total += (product_of_bits.T @ chunk[-1]).astype(np.int64)
    return total.reshape(shape)
