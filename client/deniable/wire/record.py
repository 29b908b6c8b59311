"""Record format: fixed-size records of perturbed bits, packed and unpacked here only.

If a survey asks a sample of its questions, a record begins with a mask, one bit for each question, set if it was asked; all bits of the
other questions are zero. Then come the questions in order. A question stores all bits of its report but the last, which follows from the
others since exactly d are set (yes/no is one bit, the `yes` bit). Bits fill bytes from the most significant one; the rest of the last
byte is zero. A record's length depends on the survey alone: `Survey.layout`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.survey import Survey
from deniable.wire.possible import check


def pack(survey: Survey, bits: Sequence[NDArray[np.bool_]], mask: NDArray[np.bool_] | None = None) -> bytes:
    """Packs each item's perturbed bits, shape (n, outputs) each and in the survey's order, into n records.

    Args:
        survey: The survey.
        bits: The bits of each item.
        mask: Shape (n, questions), the questions that each respondent was asked, if the survey asks a sample.

    Raises:
        ValueError: `mask` is missing, or the survey asks every question.
    """
    if (mask is None) != (survey.ask is None):
        raise ValueError("mask must be present exactly if the survey asks a sample of its questions")
    stored = [item_bits[:, :-1] for item_bits in bits]
    if mask is not None:
        stored = [mask, *(item_bits & mask[:, [field.mask or 0]] for item_bits, field in zip(stored, survey.record.fields, strict=True))]
    return np.packbits(np.concatenate(stored, axis=1), axis=1).tobytes()


def unpack(survey: Survey, reports: bytes, count: int) -> NDArray[np.bool_]:
    """Returns the stored bits of `count` records, shape (count, record_bits). Raises SubmissionError as `check` does."""
    check(survey, reports, count)
    octets = np.frombuffer(reports, dtype=np.uint8).reshape(count, survey.record.bytes)
    return np.unpackbits(octets, axis=1, count=survey.record.bits).view(np.bool_)
