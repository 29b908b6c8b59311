"""The bits on the wire: fixed-size records, packed and unpacked here and nowhere else.

Where a survey asks a sample of its questions, a record begins with a mask, a bit for each question, set if it was asked; all
bits of the others are zero. Then a record holds the questions in order. A question stores its first k - 1 bits; since exactly d of k are
set, the last one is implied (Yes/no is one bit, the `yes` bit). Bits fill bytes from the most significant
one; the bits left over in the last byte are zero. A record's length depends on the survey alone.

A submission is `{id, digest, count, reports}`: 16 bytes that the client made from a random code (see `codes.py`), the digest
of the definition, and `count` records back to back. Where the survey has public groups it says which one, in `group`; where
people tossed coins themselves, `by_hand` is true; where the survey takes invitations, `invitation` is the code, which the server
spends and does not keep. In the JSON envelope `id`, `reports` and `invitation` are base64url without padding.
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

from deniable.codes import ID_BYTES, SECRET_BYTES
from deniable.document import strict_json
from deniable.errors import SubmissionError
from deniable.question import Question
from deniable.survey import Survey

MAX_COUNT = 100_000
_KEYS = ("id", "digest", "count", "reports")
_OPTIONAL = ("group", "by_hand", "invitation")
_MOST_MARKS = 1000  # brackets and commas, those in a label too
_DIGEST = re.compile(r"[0-9a-f]{64}")
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Submission:
    """Perturbed records on their way: safe to store, to log and to send again."""

    id: bytes
    digest: str
    count: int
    reports: bytes
    group: str | None = None
    by_hand: bool = False
    invitation: bytes | None = None

    def to_json(self) -> bytes:
        """The envelope, as sent; the same submission always gives the same bytes."""
        envelope: dict[str, Any] = {
            "id": _encode64(self.id),
            "digest": self.digest,
            "count": self.count,
            "reports": _encode64(self.reports),
        }
        if self.group is not None:
            envelope["group"] = self.group
        if self.by_hand:
            envelope["by_hand"] = True
        if self.invitation is not None:
            envelope["invitation"] = _encode64(self.invitation)
        return json.dumps(envelope, separators=(",", ":"), ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, body: bytes) -> Submission:
        """Parses an envelope with a closed schema. Raises SubmissionError naming the rule."""
        envelope = _flat_json(body)
        if not isinstance(envelope, Mapping) or not set(_KEYS) <= set(envelope) <= {*_KEYS, *_OPTIONAL}:
            raise SubmissionError(
                "keys", f"the body must be an object with the keys {', '.join(_KEYS)}, and perhaps {', '.join(_OPTIONAL)}"
            )
        count, digest = envelope["count"], envelope["digest"]
        if type(count) is not int or not 1 <= count <= MAX_COUNT:
            raise SubmissionError("count", f"count must be a whole number from 1 to {MAX_COUNT:,}")
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise SubmissionError("digest", "digest must be 64 lower-case hexadecimal digits")
        submission_id = _decode64(envelope, "id")
        if len(submission_id) != ID_BYTES:
            raise SubmissionError("id", f"id must be {ID_BYTES} bytes in base64url, got {len(submission_id)}")
        group, invitation = envelope.get("group"), _decode64(envelope, "invitation") if "invitation" in envelope else None
        if "group" in envelope and not isinstance(group, str):
            raise SubmissionError("group", "group must be one of the survey's groups")
        if envelope.get("by_hand", True) is not True:
            raise SubmissionError("by_hand", "by_hand must be true or left out")
        if invitation is not None and len(invitation) != SECRET_BYTES:
            raise SubmissionError("invitation", f"invitation must be {SECRET_BYTES} bytes in base64url, got {len(invitation)}")
        return cls(submission_id, digest, count, _decode64(envelope, "reports"), group, "by_hand" in envelope, invitation)

    def check(self, survey: Survey) -> None:
        """Refuses what does not belong to this survey: records, group, invitation. Raises SubmissionError naming the rule."""
        unpack(survey, self.reports, self.count)
        if survey.groups and self.group not in survey.groups:
            raise SubmissionError("group", "group must be one of the survey's groups")
        if not survey.groups and self.group is not None:
            raise SubmissionError("group", "group must be left out: the survey has no groups")
        if self.by_hand and not by_hand(survey):
            raise SubmissionError("by_hand", "by_hand must be left out: two coins cannot answer this survey")
        if (survey.access == "invited") != (self.invitation is not None):
            rule = "must be one of the survey's codes" if survey.access == "invited" else "must be left out: the survey is open to all"
            raise SubmissionError("invitation", f"invitation {rule}")
        if self.invitation is not None and self.count != 1:
            raise SubmissionError("count", f"count must be 1 with an invitation, got {self.count:,}")


def withdrawal_secret(body: bytes) -> bytes:
    """The 15 bytes of the code in the body of a withdrawal, `{"code": base64url}`. Raises SubmissionError naming the rule."""
    envelope = _flat_json(body)
    if not isinstance(envelope, Mapping) or set(envelope) != {"code"}:
        raise SubmissionError("keys", "the body must be an object with the key code and no other")
    secret = _decode64(envelope, "code")
    if len(secret) != SECRET_BYTES:
        raise SubmissionError("code", f"code must be {SECRET_BYTES} bytes in base64url, got {len(secret)}")
    return secret


def by_hand(survey: Survey) -> bool:
    """Whether two fair coins can do what the device does: every question is yes/no, is asked, and keeps an answer with chance 3/4."""
    coins = all(q.type == "yes_no" and q.required and q.keep_threshold == 3 << 30 for q in survey.questions)
    return coins and survey.ask is None


@dataclass(frozen=True)
class Place:
    """Where an item's k - 1 stored bits are in a record, and the bit that says whether it was asked, if there is one."""

    item: Question
    bits: slice
    mask: int | None


def places_of(survey: Survey) -> tuple[Place, ...]:
    """The place of every item, in order."""
    start, found = len(survey.questions) if survey.ask else 0, []
    for number, question in enumerate(survey.questions):
        for item in question.items:
            found.append(Place(item, slice(start, start + item.k - 1), number if survey.ask else None))
            start += item.k - 1
    return tuple(found)


def record_bits(survey: Survey) -> int:
    """Stored bits of one record, padding not counted: the mask if there is one, and the sum of k - 1."""
    return sum(item.k - 1 for item in survey.items) + (len(survey.questions) if survey.ask else 0)


def record_bytes(survey: Survey) -> int:
    """Length of one record in bytes."""
    return -(-record_bits(survey) // 8)


def pack(survey: Survey, bits: Sequence[NDArray[np.bool_]], asked: NDArray[np.bool_] | None = None) -> bytes:
    """Packs each item's perturbed bits, shape (n, k) each and in the survey's order, into n records.

    asked: shape (n, questions), which questions each respondent was asked, where the survey asks a sample.
    """
    if (asked is None) != (survey.ask is None):
        raise ValueError("asked must be given if, and only if, the survey asks a sample of its questions")
    stored = [item_bits[:, :-1] for item_bits in bits]
    if asked is not None:
        stored = [asked, *(part & asked[:, [place.mask or 0]] for part, place in zip(stored, places_of(survey), strict=True))]
    return np.packbits(np.concatenate(stored, axis=1), axis=1).tobytes()


def unpack(survey: Survey, reports: bytes, count: int) -> NDArray[np.bool_]:
    """The stored bits of `count` records, shape (count, record_bits). Raises SubmissionError.

    Refused as a whole: another length than count records, padding that is set, a mask that cannot be drawn, and bits that
    the question's coins cannot produce; the message names the record and the rule.
    """
    size, width = record_bytes(survey), record_bits(survey)
    if len(reports) != count * size:
        raise SubmissionError("length", f"reports must be {count:,} records of {size} bytes, {count * size:,} in all, got {len(reports):,}")
    octets = np.frombuffer(reports, dtype=np.uint8).reshape(count, size)
    bits = np.unpackbits(octets, axis=1).view(np.bool_)
    if (padded := np.flatnonzero(bits[:, width:].any(axis=1))).size:
        raise SubmissionError("padding", f"record {padded[0]}: the last {size * 8 - width} bits of a record are padding and must be zero")
    if survey.ask is not None:
        _check_mask(survey, bits[:, : len(survey.questions)])
    for place in places_of(survey):
        _check_item(place, bits)
    return bits[:, :width]


def _check_mask(survey: Survey, mask: NDArray[np.bool_]) -> None:
    """Exactly `ask` blocks are asked, each of them whole."""
    drawn = np.stack([mask[:, list(block)].sum(axis=1) / len(block) for block in survey.blocks], axis=1)
    wrong = np.flatnonzero((np.floor(drawn) != drawn).any(axis=1) | (drawn.sum(axis=1) != survey.ask))
    if wrong.size:
        raise SubmissionError(
            "mask", f"record {wrong[0]}: the mask must name exactly {survey.ask} of {len(survey.blocks)} blocks of questions"
        )


def _check_item(place: Place, bits: NDArray[np.bool_]) -> None:
    """The implied bit is set when d - 1 of the stored ones are; nothing is set of what was not asked."""
    item, ones = place.item, bits[:, place.bits].sum(axis=1)
    possible = (ones == item.d) | (ones == item.d - 1)
    if place.mask is not None:
        possible = np.where(bits[:, place.mask], possible, ones == 0)
    if (impossible := np.flatnonzero(~possible)).size:
        rule = f"exactly {item.d} of {item.k} bits must be set, so {item.d - 1} or {item.d} of the {item.k - 1} that are stored"
        unasked = "" if place.mask is None else ", and none where it was not asked"
        raise SubmissionError("impossible", f"record {impossible[0]}, question {item.id}: {rule}{unasked}")


def _flat_json(body: bytes) -> Any:
    """The JSON of an envelope, which holds a few texts and numbers: one of many values is refused before it fills the memory."""
    try:
        if sum(body.count(mark) for mark in (b"[", b"{", b",")) > _MOST_MARKS:
            raise ValueError
        return strict_json(body)
    except (ValueError, RecursionError):
        raise SubmissionError("json", "the body must be one JSON object in UTF-8, each key once") from None


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
