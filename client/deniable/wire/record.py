"""The bits on the wire: fixed-size records, packed and unpacked here and nowhere else.

Where a survey asks a sample of its questions, a record begins with a mask, a bit for each question, set if it was asked; all
bits of the others are zero. Then a record holds the questions in order. A question stores all bits of its report but the last; since
exactly d of them are set, that one is implied (Yes/no is one bit, the `yes` bit). Bits fill bytes from the most significant one; the
bits left over in the last byte are zero. A record's length depends on the survey alone: `Survey.layout`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.errors import SubmissionError
from deniable.survey import Survey
from deniable.survey.layout import Field


def pack(survey: Survey, bits: Sequence[NDArray[np.bool_]], asked: NDArray[np.bool_] | None = None) -> bytes:
    """Packs each item's perturbed bits, shape (n, outputs) each and in the survey's order, into n records.

    asked: shape (n, questions), which questions each respondent was asked, where the survey asks a sample.
    """
    if (asked is None) != (survey.ask is None):
        raise ValueError("asked must be given if, and only if, the survey asks a sample of its questions")
    stored = [item_bits[:, :-1] for item_bits in bits]
    if asked is not None:
        stored = [asked, *(part & asked[:, [field.mask or 0]] for part, field in zip(stored, survey.record.fields, strict=True))]
    return np.packbits(np.concatenate(stored, axis=1), axis=1).tobytes()


def unpack(survey: Survey, reports: bytes, count: int) -> NDArray[np.bool_]:
    """The stored bits of `count` records, shape (count, record_bits). Raises SubmissionError.

    Refused as a whole: another length than count records, padding that is set, a mask that cannot be drawn, and bits that
    the question's coins cannot produce; the message names the record and the rule.
    """
    size, width = survey.record.bytes, survey.record.bits
    if len(reports) != count * size:
        raise SubmissionError("length", f"reports must be {count:,} records of {size} bytes, {count * size:,} in all, got {len(reports):,}")
    octets = np.frombuffer(reports, dtype=np.uint8).reshape(count, size)
    bits = np.unpackbits(octets, axis=1).view(np.bool_)
    if (padded := np.flatnonzero(bits[:, width:].any(axis=1))).size:
        raise SubmissionError("padding", f"record {padded[0]}: the last {size * 8 - width} bits of a record are padding and must be zero")
    if survey.ask is not None:
        _check_mask(survey, bits[:, : len(survey.questions)])
    for field in survey.record.fields:
        _check_item(field, bits)
    return bits[:, :width]


def _check_mask(survey: Survey, mask: NDArray[np.bool_]) -> None:
    """Exactly `ask` blocks are asked, each of them whole."""
    drawn = np.stack([mask[:, list(block)].sum(axis=1) / len(block) for block in survey.blocks], axis=1)
    wrong = np.flatnonzero((np.floor(drawn) != drawn).any(axis=1) | (drawn.sum(axis=1) != survey.ask))
    if wrong.size:
        raise SubmissionError(
            "mask", f"record {wrong[0]}: the mask must name exactly {survey.ask} of {len(survey.blocks)} blocks of questions"
        )


def _check_item(field: Field, bits: NDArray[np.bool_]) -> None:
    """The implied bit is set when d - 1 of the stored ones are; nothing is set of what was not asked."""
    channel, ones = field.item.channel, bits[:, field.bits].sum(axis=1)
    possible = (ones == channel.d) | (ones == channel.d - 1)
    if field.mask is not None:
        possible = np.where(bits[:, field.mask], possible, ones == 0)
    if (impossible := np.flatnonzero(~possible)).size:
        d, bits_of_report = channel.d, channel.outputs
        rule = f"exactly {d} of {bits_of_report} bits must be set, so {d - 1} or {d} of the {bits_of_report - 1} that are stored"
        unasked = "" if field.mask is None else ", and none where it was not asked"
        raise SubmissionError("impossible", f"record {impossible[0]}, question {field.item.id}: {rule}{unasked}")
