"""What the server keeps, and what any database behind it must do.

A store holds published definitions, perturbed submissions, tallies and researchers' accounts. It keeps no
order, no time finer than a day, and nothing about where a submission came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from deniable.errors import DeniableError
from deniable.submission import Submission
from deniable.survey import Survey
from deniable.tally import Tally


class StoreError(DeniableError):
    """Base of what a store refuses."""


class UnknownSurveyError(StoreError):
    """No survey with this id is published."""


class ClosedError(StoreError):
    """The survey takes no more submissions."""


class ConflictError(StoreError):
    """The id is taken by other bytes: of a submission, or of a published definition."""


class FullError(StoreError):
    """The disk is full. Nothing of the request was kept; it may be sent again."""


class UnavailableError(StoreError):
    """The database cannot be written or read now. Nothing of the request was kept; it may be sent again."""


@dataclass(frozen=True)
class Published:
    """A published survey: its definition never changes, `is_open` may."""

    survey: Survey
    is_open: bool
    published_on: str  # a day, YYYY-MM-DD


class Store(Protocol):
    """The whole contract of a database. Every method is safe to call from several threads."""

    def publish(self, survey: Survey) -> bool:
        """Publishes a survey. False if exactly this one was published before. Raises ConflictError for other bytes under its id."""

    def published(self, survey_id: str) -> Published:
        """A published survey. Raises UnknownSurveyError."""

    def surveys(self) -> list[Published]:
        """All published surveys, by id."""

    def set_open(self, survey_id: str, is_open: bool) -> None:
        """Opens or closes a survey for submissions. Raises UnknownSurveyError."""

    def add(self, survey_id: str, submission: Submission) -> bool:
        """Keeps a validated submission; when it returns, the submission survives a power cut.

        False if exactly this one was kept before. Raises ConflictError, ClosedError, UnknownSurveyError,
        FullError, UnavailableError.
        """

    def tally(self, survey_id: str) -> Tally:
        """The tally of all submissions kept so far; each report is scanned once in its life."""

    def recount(self, survey_id: str) -> Tally:
        """The same tally, counted anew from every report."""

    def set_password(self, user: str, password_hash: str) -> None:
        """Makes an account, or changes its password."""

    def password_hash(self, user: str) -> str | None:
        """The password hash of an account, or None if there is no such account."""

    def close(self) -> None:
        """Writes what waits and lets go of the database."""
