"""The bits on the wire: fixed-size records, packed and unpacked here and nowhere else.

A record holds the questions in order. A question stores its first k - 1 bits; since exactly d of k are
set, the last one is implied (Yes/no is one bit, the `yes` bit). Bits fill bytes from the most significant
one; the bits left over in the last byte are zero. A record's length depends on the survey alone.

A submission is `{id, digest, count, reports}`: 16 random bytes made by the client, the digest of the
definition, and `count` records back to back. In the JSON envelope `id` and `reports` are base64url
without padding.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.document import strict_json
from deniable.errors import SubmissionError
from deniable.survey import Survey

ID_BYTES = 16
MAX_COUNT = 100_000
_KEYS = ("id", "digest", "count", "reports")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Submission:
    """Perturbed records on their way: safe to store, to log and to send again."""

    id: bytes
    digest: str
    count: int
    reports: bytes

    def to_json(self) -> bytes:
        """The envelope, as sent; the same submission always gives the same bytes."""
        envelope = {"id": _encode64(self.id), "digest": self.digest, "count": self.count, "reports": _encode64(self.reports)}
        return json.dumps(envelope, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, body: bytes) -> Submission:
        """Parses an envelope with a closed schema. Raises SubmissionError naming the rule."""
        try:
            envelope = strict_json(body)
        except (ValueError, RecursionError):
            raise SubmissionError("json", "the body must be one JSON object in UTF-8, each key once") from None
        if not isinstance(envelope, Mapping) or set(envelope) != set(_KEYS):
            raise SubmissionError("keys", f"the body must be an object with exactly the keys {', '.join(_KEYS)}")
        count, digest = envelope["count"], envelope["digest"]
        if type(count) is not int or not 1 <= count <= MAX_COUNT:
            raise SubmissionError("count", f"count must be a whole number from 1 to {MAX_COUNT:,}")
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise SubmissionError("digest", "digest must be 64 lower-case hexadecimal digits")
        submission_id = _decode64(envelope, "id")
        if len(submission_id) != ID_BYTES:
            raise SubmissionError("id", f"id must be {ID_BYTES} bytes in base64url, got {len(submission_id)}")
        return cls(submission_id, digest, count, _decode64(envelope, "reports"))


def record_bits(survey: Survey) -> int:
    """Stored bits of one record, padding not counted: the sum of k - 1."""
    return sum(item.k - 1 for item in survey.items)


def record_bytes(survey: Survey) -> int:
    """Length of one record in bytes."""
    return -(-record_bits(survey) // 8)


def pack(survey: Survey, bits: Sequence[NDArray[np.bool_]]) -> bytes:
    """Packs each question's perturbed bits, shape (n, k) each and in the survey's order, into n records."""
    stored = np.concatenate([question_bits[:, :-1] for question_bits in bits], axis=1)
    return np.packbits(stored, axis=1).tobytes()


def unpack(survey: Survey, reports: bytes, count: int) -> NDArray[np.bool_]:
    """The stored bits of `count` records, shape (count, record_bits). Raises SubmissionError.

    Refused as a whole: another length than count records, padding that is set, and bits that the
    question's coins cannot produce; the message names the record and the rule.
    """
    size, width = record_bytes(survey), record_bits(survey)
    if len(reports) != count * size:
        raise SubmissionError("length", f"reports must be {count:,} records of {size} bytes, {count * size:,} in all, got {len(reports):,}")
    octets = np.frombuffer(reports, dtype=np.uint8).reshape(count, size)
    bits = np.unpackbits(octets, axis=1).view(np.bool_)
    if (padded := np.flatnonzero(bits[:, width:].any(axis=1))).size:
        raise SubmissionError("padding", f"record {padded[0]}: the last {size * 8 - width} bits of a record are padding and must be zero")
    start = 0
    for question in survey.items:
        ones = bits[:, start : start + question.k - 1].sum(axis=1)
        start += question.k - 1
        # the implied bit is set when d - 1 of the stored ones are
        if (impossible := np.flatnonzero((ones != question.d) & (ones != question.d - 1))).size:
            raise SubmissionError(
                "impossible",
                f"record {impossible[0]}, question {question.id}: exactly {question.d} of {question.k} bits must be set, "
                f"so {question.d - 1} or {question.d} of the {question.k - 1} that are stored",
            )
    return bits[:, :width]


def _encode64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _decode64(envelope: Mapping[str, Any], key: str) -> bytes:
    """One spelling for each byte string: no padding, no other alphabet, no spare bits set."""
    text = envelope[key]
    if isinstance(text, str) and _BASE64URL.fullmatch(text):
        try:
            raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except binascii.Error:
            raw = None
        if raw is not None and _encode64(raw) == text:
            return raw
    raise SubmissionError(key, f"{key} must be base64url without padding")
