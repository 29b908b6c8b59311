"""What a submission has to keep to, for requests of Flask and for those that are answered in front of it (`front/direct.py`)."""

from __future__ import annotations

from dataclasses import replace

from flask import Response, jsonify

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.api.callers import key_needed
from deniable_server.store.accounts import ApiKey
from deniable_server.store.errors import UnavailableError, busy
from deniable_server.store.protocol import WAIT_SECONDS, Store, TakeBack, Tell
from deniable_server.web.errors import DigestError
from deniable_server.web.rate_limiter import Rate

_KNOWN = 256  # surveys that are kept in memory


def most_bytes(survey: Survey, count: int) -> int:
    """The most bytes of a submission of `count` records: those, the rest of the envelope, and a label at 12 bytes a character."""
    label = max((len(group) for group in survey.groups), default=0)
    return 1024 + 12 * label + -(-4 * survey.record.bytes * count // 3)


def check_length(survey: Survey, length: int, key: ApiKey | None) -> None:
    """Before a body is read: it has the size of one record, or comes with a key. Raises Unauthorized, which says how to get one."""
    if key is None and length > most_bytes(survey, 1):
        raise key_needed("the body must have the size of one record without a key with the scope submit")


def read(survey: Survey, body: bytes, key: ApiKey | None) -> Submission:
    """Returns the submission in a body, if the survey takes it with this key, or without one.

    Who perturbed the records follows from the key: with one it was an organisation, or people by hand; never without one.
    Raises Unauthorized for more than one record, or those of an organisation, without a key; SubmissionError and DigestError.
    """
    submission = Submission.from_json(body)
    if key is None and submission.count != 1:
        raise key_needed(f"count must be 1 without a key with the scope submit, got {submission.count:,}")
    if key is None and submission.mode == "organisation":
        raise key_needed("mode must not be organisation without a key with the scope submit")
    if key is not None and submission.mode == "device":
        submission = replace(submission, mode="organisation")
    if submission.digest != survey.digest:
        raise DigestError(f"digest must be that of the published definition, {survey.digest}")
    submission.check(survey)
    return submission


def accepted(count: int, rate: Rate) -> Response:
    """The reply to a submission that is on the disk."""
    return limited(jsonify(accepted=count), rate)


def limited(response: Response, rate: Rate) -> Response:
    """A reply that says how many such requests are answered."""
    response.headers["RateLimit-Policy"] = rate.policy
    return response


class Door:
    """Takes submissions of one record from whoever has no key, and keeps nobody waiting: the result comes later."""

    patience = WAIT_SECONDS

    def __init__(self, store: Store, rate: Rate) -> None:
        self._store, self._rate = store, rate
        self._surveys: dict[str, Survey] = {}

    def survey(self, survey_id: str) -> Survey | None:
        """A survey that `learn` has read, whose definition never changes."""
        return self._surveys.get(survey_id)

    def learn(self, survey_id: str) -> Survey:
        """Reads a survey from the database, which may take a while. Raises UnknownSurveyError and UnavailableError."""
        survey = self._store.surveys.published(survey_id).survey
        if len(self._surveys) >= _KNOWN:
            self._surveys.clear()
        self._surveys[survey_id] = survey
        return survey

    def count(self) -> None:
        """Counts one more. Raises TooManyError."""
        self._rate.take()

    def take(self, survey: Survey, body: bytes, tell: Tell) -> TakeBack:
        """Begins to keep a submission, as `Submissions.adding` does. Raises as `check_length` and `read` do.

        Whoever does not want to wait longer than `patience` takes it back, and says `busy`.
        """
        check_length(survey, len(body), None)
        return self._store.submissions.adding(survey.id, read(survey, body, None), tell)

    def accepted(self) -> Response:
        """The reply to one that was kept."""
        return accepted(1, self._rate)

    def busy(self) -> UnavailableError:
        """What whoever waited for too long, and took it back, is told."""
        return busy()
