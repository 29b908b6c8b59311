"""Serialization of submissions: the JSON envelope.

A submission is `{id, digest, count, reports}`: 16 bytes derived from a random code (see `access_codes.py`), the digest of the
definition, and `count` concatenated records. `group` names the public group, if the survey has groups; `mode` says who perturbed the
answers if it was not a person's own device. In a survey by invitation, `token` is what the code was exchanged for (see `tokens.py`); a
record by hand has the code itself, `invitation`. In the JSON envelope bytes are base64url without padding.
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
from deniable.survey.compiled import SurveyRules
from deniable.survey.document import strict_json
from deniable.wire.access_codes import ID_BYTES, SECRET_BYTES
from deniable.wire.part import MODES, Mode, Part
from deniable.wire.possible import check
from deniable.wire.tokens import NONCE_BYTES, SIGNATURE_BYTES, Token

MAX_COUNT = 100_000
_KEYS = ("id", "digest", "count", "reports")
_OPTIONAL = ("group", "mode", "invitation", "token")
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
    token: Token | None = None

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
        if self.token is not None:
            envelope["token"] = {"nonce": _encode64(self.token.nonce), "signature": _encode64(self.token.signature)}
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
        submission_id = _bytes_of(envelope, "id", ID_BYTES)
        group = envelope.get("group")
        if "group" in envelope and not isinstance(group, str):
            raise SubmissionError("group", "group must be one of the survey's groups")
        mode = envelope.get("mode", "device")
        if "mode" in envelope and mode not in MODES[1:]:
            raise SubmissionError("mode", f"mode must be {' or '.join(MODES[1:])}, or left out")
        invitation = _bytes_of(envelope, "invitation", SECRET_BYTES) if "invitation" in envelope else None
        token = _token(envelope["token"]) if "token" in envelope else None
        records = _decode64(envelope, "reports", reports if envelope["reports"] == "" else b"")
        return cls(submission_id, digest, count, records, group, mode, invitation, token)

    def check(self, survey: SurveyRules) -> None:
        """Checks that records, group and invitation belong to this survey. Raises SubmissionError with the rule that is broken.

        Only a record by hand may have the code itself: a device exchanges it for a token first. The token's signature is not checked here.
        """
        check(survey, self.reports, self.count)
        if survey.groups and self.group not in survey.groups:
            raise SubmissionError("group", "group must be one of the survey's groups")
        if not survey.groups and self.group is not None:
            raise SubmissionError("group", "group must be left out: the survey has no groups")
        if self.mode == "by_hand" and not survey.coins_can_answer:
            raise SubmissionError("mode", "mode must not be by_hand: two coins cannot answer this survey")
        if survey.access != "invited" and (self.invitation or self.token):
            name = "token" if self.token else "invitation"
            raise SubmissionError(name, f"{name} must be left out: the survey is open to all")
        if survey.access == "invited":
            self._check_admission()

    def _check_admission(self) -> None:
        """Checks that a record of a survey by invitation has either a token or, by hand, a code."""
        if self.token is None and self.mode != "by_hand":
            raise SubmissionError("token", "token must be a token of the survey: exchange an invitation code first")
        if (self.token is None) == (self.invitation is None):
            raise SubmissionError("invitation", "invitation must be one of the survey's codes, for a record by hand without a token")
        if self.count != 1:
            raise SubmissionError("count", f"count must be 1 with an invitation, got {self.count:,}")


def secret_of(body: bytes) -> bytes:
    """Returns the 15 bytes of the code in a body `{"code": base64url}`: of a withdrawal, or an invitation. Raises SubmissionError."""
    envelope = _flat_json(body)
    if not isinstance(envelope, Mapping) or set(envelope) != {"code"}:
        raise SubmissionError("keys", "the body must be an object with the key code and no other")
    return _bytes_of(envelope, "code", SECRET_BYTES)


def exchange_of(body: bytes) -> tuple[bytes, bytes]:
    """Returns the code and the blinded message in a body `{"code": base64url, "blinded": base64url}`. Raises SubmissionError."""
    envelope = _flat_json(body)
    if not isinstance(envelope, Mapping) or set(envelope) != {"code", "blinded"}:
        raise SubmissionError("keys", "the body must be an object with the keys code and blinded and no other")
    return _bytes_of(envelope, "code", SECRET_BYTES), _bytes_of(envelope, "blinded", SIGNATURE_BYTES)


def _token(value: Any) -> Token:
    """Parses the token of an envelope. Raises SubmissionError."""
    if not isinstance(value, Mapping) or set(value) != {"nonce", "signature"}:
        raise SubmissionError("token", "token must be an object with the keys nonce and signature and no other")
    try:
        return Token(_bytes_of(value, "nonce", NONCE_BYTES), _bytes_of(value, "signature", SIGNATURE_BYTES))
    except SubmissionError as error:
        raise SubmissionError("token", f"token: {error}") from None


def _bytes_of(envelope: Mapping[str, Any], key: str, size: int) -> bytes:
    """Returns the bytes of a field that always has the same number of bytes. Raises SubmissionError."""
    content = _decode64(envelope, key)
    if len(content) != size:
        raise SubmissionError(key, f"{key} must be {size} bytes in base64url, got {len(content)}")
    return content


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
