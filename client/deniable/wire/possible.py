"""Validation of packed records: whether a survey's coins can produce them, without unpacking bits.

A few records are read as integers, and their bits counted under the masks of the survey's rules. Many are checked together, a column of
bytes at a time. Only the latter reports what is wrong; the former is the fast path for valid records.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.errors import SubmissionError
from deniable.survey.compiled import SurveyRules
from deniable.survey.layout import Rule

FEW = 16  # up to so many records, integers are faster
CHUNK_BYTES = 1 << 20  # bytes checked together, so that memory does not grow with the number of records

Columns = NDArray[np.uint8]
"""Byte i of every record, shape (bytes of a record, records)."""


def check(survey: SurveyRules, reports: bytes, count: int) -> None:
    """Checks records as a whole.

    Invalid are another length than count records, padding that is set, an impossible mask, and bits that the question's coins cannot
    produce; the rules are checked in this order.

    Raises:
        SubmissionError: A rule is broken. It names the rule, and the first record that breaks it.
    """
    size = survey.record.bytes
    if len(reports) != count * size:
        raise SubmissionError("length", f"reports must be {count:,} records of {size} bytes, {count * size:,} in all, got {len(reports):,}")
    if count <= FEW and all(_passes(survey, int.from_bytes(reports[at : at + size])) for at in range(0, len(reports), size)):
        return
    octets = np.frombuffer(reports, dtype=np.uint8).reshape(count, size)
    many = max(1, CHUNK_BYTES // size)
    for first in range(0, count, many):
        _check_columns(survey, np.ascontiguousarray(octets[first : first + many].T), first)


def _passes(survey: SurveyRules, record: int) -> bool:
    """Returns whether one record is possible."""
    layout = survey.record
    if record & (1 << 8 * layout.bytes - layout.bits) - 1 or not _can_be_drawn(survey, record):
        return False
    for _, _, bits, d, asked_bit in layout.rules:
        ones = (record & bits).bit_count()
        if asked_bit and not record & asked_bit:
            if ones:
                return False
        elif ones != d and ones != d - 1:
            return False
    return True


def _can_be_drawn(survey: SurveyRules, record: int) -> bool:
    if survey.ask is None:
        return True
    blocks = 0
    for block in survey.block_bits:
        if (inside := record & block) == block:
            blocks += 1
        elif inside:
            return False
    return blocks == survey.ask


def _check_columns(survey: SurveyRules, columns: Columns, first: int) -> None:
    """Checks many records, the first with the number `first`, as `_passes` does."""
    layout = survey.record
    spare = layout.bytes * 8 - layout.bits
    _refuse_if(columns[-1] & ((1 << spare) - 1) != 0, first, "padding", f": the last {spare} bits of a record are padding and must be zero")
    if survey.ask is not None:
        blocks = np.stack([_ones(columns, block) for block in survey.block_bits]) / [[len(block)] for block in survey.blocks]
        wrong = (np.floor(blocks) != blocks).any(axis=0) | (blocks.sum(axis=0) != survey.ask)
        _refuse_if(wrong, first, "mask", f": the mask must name exactly {survey.ask} of {len(survey.blocks)} blocks of questions")
    for rule in layout.rules:
        _refuse_if(~_possible(columns, rule), first, "impossible", _explained(rule))


def _possible(columns: Columns, rule: Rule) -> NDArray[np.bool_]:
    """Returns whether each record is possible: d - 1 or d of the stored bits are set, and none if the question was not asked."""
    ones = _ones(columns, rule.bits)
    possible: NDArray[np.bool_] = (ones == rule.d) | (ones == rule.d - 1)
    if not rule.mask:
        return possible
    return np.where(_ones(columns, rule.mask) != 0, possible, ones == 0)


def _ones(columns: Columns, bits: int) -> NDArray[np.uint16]:
    """Returns how many of these bits each record has, shape (records,)."""
    counts = np.zeros(columns.shape[1], dtype=np.uint16)
    for number, mask in _masks(bits, len(columns)):
        counts += np.bitwise_count(columns[number] & mask)
    return counts


@lru_cache(maxsize=1 << 13)  # of current surveys: computing them for each chunk would take as long as the counting
def _masks(bits: int, size: int) -> tuple[tuple[int, np.uint8], ...]:
    """Returns the bytes of a record that have some of these bits, each with the bits in it."""
    return tuple((number, np.uint8(mask)) for number, mask in enumerate(bits.to_bytes(size)) if mask)


def _explained(rule: Rule) -> str:
    unasked = ", and none where it was not asked" if rule.mask else ""
    stored = f"so {rule.d - 1} or {rule.d} of the {rule.outputs - 1} that are stored"
    return f", question {rule.item}: exactly {rule.d} of {rule.outputs} bits must be set, {stored}{unasked}"


def _refuse_if(wrong: NDArray[np.bool_], first: int, rule: str, message: str) -> None:
    if wrong.any():
        raise SubmissionError(rule, f"record {first + int(wrong.argmax())}{message}")
