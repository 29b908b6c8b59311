"""Validation of submissions, both for Flask and for the fast path in front of it (`front/direct.py`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flask import Response, jsonify

from deniable.errors import SubmissionError
from deniable.survey.compiled import CompiledSurvey, SurveyRules
from deniable.wire.access_codes import invitation_hash
from deniable.wire.submission import Submission, exchange_of
from deniable.wire.tokens import modulus_of
from deniable_server.api.callers import key_needed
from deniable_server.store.accounts import ApiKey
from deniable_server.store.blind_signing import is_signed
from deniable_server.store.byte_cache import ByteCache
from deniable_server.store.errors import UnavailableError, busy
from deniable_server.store.protocol import WAIT_SECONDS, Cancel, Notify, Store
from deniable_server.web.errors import DigestError
from deniable_server.web.rate_limiter import Rate

CACHE_BYTES = 16 << 20  # of compiled surveys


def most_bytes(survey: SurveyRules, count: int) -> int:
    """Returns the most bytes of a submission of `count` records: records, the rest of the envelope, a label at 12 bytes a character."""
    label = max((len(group) for group in survey.groups), default=0)
    return 1024 + 12 * label + -(-4 * survey.record.bytes * count // 3)


def check_length(survey: SurveyRules, length: int, key: ApiKey | None) -> None:
    """Raises Unauthorized, before a body is read, if it is larger than one record and comes without a key."""
    if key is None and length > most_bytes(survey, 1):
        raise key_needed("the body must have the size of one record without a key with the scope submit")


def read(survey: SurveyRules, body: bytes, key: ApiKey | None) -> Submission:
    """Parses a submission and checks that the survey accepts it with this key, or without one.

    The key determines the mode: with one, an organisation or people by hand; without one, never these.

    Raises:
        Unauthorized: It has several records, or an organisation's, but no key.
        SubmissionError: It breaks a rule of the survey, or its token is not signed with the survey's key.
        DigestError: It is for another definition.
    """
    submission = Submission.from_json(body)
    if key is None and submission.count != 1:
        raise key_needed(f"count must be 1 without a key with the scope submit, got {submission.count:,}")
    if key is None and submission.mode == "organisation":
        raise key_needed("mode must not be organisation without a key with the scope submit")
    if key is not None and submission.mode == "device":
        submission = replace(submission, mode="organisation")
    if submission.digest != survey.digest:
        raise DigestError(f"digest must be the published definition's, {survey.digest}")
    submission.check(survey)
    if submission.token and not is_signed(survey, submission.token):
        raise SubmissionError("token", "token must be signed with the survey's key")
    return submission


def read_exchange(survey: SurveyRules, body: bytes) -> tuple[bytes, bytes]:
    """Parses a request for a token. Returns the hash of the invitation code, and the blinded token.

    Raises:
        SubmissionError: It breaks a rule, or the survey takes no invitations.
    """
    secret, blinded = exchange_of(body)
    if survey.access != "invited":
        raise SubmissionError("invitation", "code must be left out: the survey is open to all")
    if not 0 < int.from_bytes(blinded, "big") < modulus_of(survey.issuer):
        raise SubmissionError("blinded", "blinded must be a number from 1 to below the modulus of the survey's key")
    return invitation_hash(survey.id, secret), blinded


def accepted(count: int, rate: Rate) -> Response:
    """Returns the reply to a stored submission."""
    return limited(jsonify(accepted=count), rate)


def limited(response: Response, rate: Rate) -> Response:
    """Adds the rate limit policy to a reply."""
    response.headers["RateLimit-Policy"] = rate.policy
    return response


class DirectSubmissions:
    """Non-blocking submission of single records without an API key: the result comes later."""

    patience = WAIT_SECONDS

    def __init__(self, store_of: Callable[[str], Store], rate: Rate) -> None:
        self._store_of, self._rate = store_of, rate
        self._surveys: ByteCache[str, CompiledSurvey] = ByteCache(CACHE_BYTES)

    def survey(self, survey_id: str) -> CompiledSurvey | None:
        """Returns a survey that `learn` has read; definitions never change."""
        return self._surveys.get(survey_id)

    def learn(self, survey_id: str) -> CompiledSurvey:
        """Reads a survey from the database, which may take a while. Raises UnknownSurveyError and UnavailableError."""
        survey = self._store_of(survey_id).surveys.compiled(survey_id)
        self._surveys.put(survey_id, survey, survey.size)
        return survey

    def count(self) -> None:
        """Counts a submission against the rate limit. Raises RateLimitError."""
        self._rate.take()

    def take(self, survey: SurveyRules, body: bytes, notify: Notify) -> Cancel:
        """Begins to store a submission, as `Submissions.add_later` does. Raises as `check_length` and `read` do.

        A caller that stops waiting, after `patience` seconds, cancels it and replies with `busy`.
        """
        check_length(survey, len(body), None)
        return self._store_of(survey.id).submissions.add_later(survey.id, read(survey, body, None), notify)

    def accepted(self) -> Response:
        """Returns the reply to a stored submission."""
        return accepted(1, self._rate)

    def busy(self) -> UnavailableError:
        """Returns the error for a submission that was cancelled after waiting too long."""
        return busy()
