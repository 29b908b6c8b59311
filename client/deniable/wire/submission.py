"""Serialization of submissions: the JSON envelope.

A submission is `{id, digest, count, reports}`: 16 bytes derived from a random code (see `access_codes.py`), the digest of the
definition, and `count` concatenated records. `group` names the public group, if the survey has groups; `mode` says who perturbed the
answers if it was not a person's own device; `invitation` is the code, if the survey takes invitations, which the server spends and
does not keep. In the JSON envelope `id`, `reports` and `invitation` are base64url without padding.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable.errors import SubmissionError
from deniable.survey import Survey
from deniable.survey.document import strict_json
from deniable.wire.access_codes import ID_BYTES, SECRET_BYTES
from deniable.wire.part import MODES, Mode, Part
from deniable.wire.possible import check

MAX_COUNT = 100_000
_KEYS = ("id", "digest", "count", "reports")
_OPTIONAL = ("group", "mode", "invitation")
_MOST_MARKS = 1000  # brackets and commas, including the ones in a label
_DIGEST = re.compile(r"[0-9a-f]{64}")
_BASE64URL = re.compile(rb"[A-Za-z0-9_-]*")
_REPORTS = re.compile(rb'"reports"[ \t\n\r]*:[ \t\n\r]*"([A-Za-z0-9_-]*)"')
_STANDARD = bytes.maketrans(b"-_", b"+/")
_PIECE = 1 << 20  # characters decoded at a time, a multiple of 4


@dataclass(frozen=True)
class Submission:
    """A submission of perturbed records: safe to store, to log and to send again."""

    id: bytes
    digest: str
    count: int
    reports: bytes
    group: str | None = None
    mode: Mode = "device"
    invitation: bytes | None = None

    @property
    def part(self) -> Part:
        """The part of the survey's records that these are counted in."""
        return Part(self.group, self.mode)

    def to_json(self) -> bytes:
        """Returns the envelope as sent; the same submission always has the same bytes."""
        envelope: dict[str, Any] = {
            "id": _encode64(self.id),
            "digest": self.digest,
            "count": self.count,
            "reports": _encode64(self.reports),
        }
        if self.group is not None:
            envelope["group"] = self.group
        if self.mode != "device":
            envelope["mode"] = self.mode
        if self.invitation is not None:
            envelope["invitation"] = _encode64(self.invitation)
        return json.dumps(envelope, separators=(",", ":"), ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, body: bytes) -> Submission:
        """Parses an envelope with a closed schema. Raises SubmissionError with the rule that is broken."""
        rest, reports = _cut_out_reports(body)
        envelope = _flat_json(rest)
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
        mode = envelope.get("mode", "device")
        if "mode" in envelope and mode not in MODES[1:]:
            raise SubmissionError("mode", f"mode must be {' or '.join(MODES[1:])}, or left out")
        if invitation is not None and len(invitation) != SECRET_BYTES:
            raise SubmissionError("invitation", f"invitation must be {SECRET_BYTES} bytes in base64url, got {len(invitation)}")
        records = _decode64(envelope, "reports", reports if envelope["reports"] == "" else b"")
        return cls(submission_id, digest, count, records, group, mode, invitation)

    def check(self, survey: Survey) -> None:
        """Checks that records, group and invitation belong to this survey. Raises SubmissionError with the rule that is broken."""
        check(survey, self.reports, self.count)
        if survey.groups and self.group not in survey.groups:
            raise SubmissionError("group", "group must be one of the survey's groups")
        if not survey.groups and self.group is not None:
            raise SubmissionError("group", "group must be left out: the survey has no groups")
        if self.mode == "by_hand" and not survey.coins_can_answer:
            raise SubmissionError("mode", "mode must not be by_hand: two coins cannot answer this survey")
        if (survey.access == "invited") != (self.invitation is not None):
            rule = "must be one of the survey's codes" if survey.access == "invited" else "must be left out: the survey is open to all"
            raise SubmissionError("invitation", f"invitation {rule}")
        if self.invitation is not None and self.count != 1:
            raise SubmissionError("count", f"count must be 1 with an invitation, got {self.count:,}")


def secret_of(body: bytes) -> bytes:
    """Returns the 15 bytes of the code in a body `{"code": base64url}`: of a withdrawal, or an invitation. Raises SubmissionError."""
    envelope = _flat_json(body)
    if not isinstance(envelope, Mapping) or set(envelope) != {"code"}:
        raise SubmissionError("keys", "the body must be an object with the key code and no other")
    secret = _decode64(envelope, "code")
    if len(secret) != SECRET_BYTES:
        raise SubmissionError("code", f"code must be {SECRET_BYTES} bytes in base64url, got {len(secret)}")
    return secret


def _flat_json(body: bytes) -> Any:
    """Parses an envelope, which has few values: one with many is refused before it fills the memory. Raises SubmissionError."""
    try:
        if sum(body.count(mark) for mark in (b"[", b"{", b",")) > _MOST_MARKS:
            raise ValueError
        return strict_json(body)
    except (ValueError, RecursionError):
        raise SubmissionError("json", "the body must be one JSON object in UTF-8, each key once") from None


def _encode64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _cut_out_reports(body: bytes) -> tuple[bytes, memoryview]:
    """Returns an envelope with its reports replaced by an empty text, and their characters, without copying them.

    Without a backslash every quotation mark begins or ends a text, so removing one text leaves the rest unchanged.
    """
    match = None if b"\\" in body else _REPORTS.search(body)
    if match is None:
        return body, memoryview(b"")
    return body[: match.start(1)] + body[match.end(1) :], memoryview(body)[match.start(1) : match.end(1)]


def _decode64(envelope: Mapping[str, Any], key: str, cut_out: bytes | memoryview = b"") -> bytes:
    """Returns the bytes of a field in their only spelling: no padding, no other alphabet, no spare bits set.

    Args:
        envelope: The envelope.
        key: The field.
        cut_out: The characters that were cut out of the envelope, if any.

    Raises:
        SubmissionError: It has another spelling.
    """
    text = envelope[key]
    if isinstance(text, str) and text.isascii():
        characters = cut_out or text.encode()
        if _BASE64URL.fullmatch(characters) and len(characters) % 4 != 1:
            raw = _decoded(characters)
            tail = len(raw) % 3
            if not tail or _encode64(raw[-tail:]).encode() == characters[-tail - 1 :]:
                return raw
    raise SubmissionError(key, f"{key} must be base64url without padding")


def _decoded(characters: bytes | memoryview) -> bytes:
    """Returns decoded bytes, piece by piece into a growing buffer."""
    whole = io.BytesIO()
    for at in range(0, len(characters), _PIECE):
        piece = bytes(characters[at : at + _PIECE]).translate(_STANDARD)
        whole.write(binascii.a2b_base64(piece + b"=" * (-len(piece) % 4)))
    return whole.getvalue()
