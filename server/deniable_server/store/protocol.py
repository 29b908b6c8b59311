"""What the server keeps, and what any database behind it must do.

A store holds published definitions, perturbed submissions, tallies, researchers' accounts and keys. It keeps no
order, no time finer than a day, and nothing about where a submission came from or which invitation it had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally

if TYPE_CHECKING:
    from deniable_server.store.accounts import Accounts


@dataclass(frozen=True)
class Published:
    """A published survey: its definition never changes, `is_open` may."""

    survey: Survey
    is_open: bool
    published_on: str  # a day, YYYY-MM-DD


class Store(Protocol):
    """The whole contract of a database. Every method is safe to call from several threads. `accounts` is a shelf of its own."""

    @property
    def accounts(self) -> Accounts: ...

    def publish(self, survey: Survey) -> bool:
        """Publishes a survey. False if exactly this one was published before. Raises ConflictError for other bytes under its id."""

    def published(self, survey_id: str) -> Published:
        """A published survey. Raises UnknownSurveyError."""

    def surveys(self) -> list[Published]:
        """All published surveys, by id."""

    def set_open(self, survey_id: str, is_open: bool) -> None:
        """Opens or closes a survey for submissions; closing counts all that waits.

        Raises UnknownSurveyError, FullError, UnavailableError.
        """

    def add(self, survey_id: str, submission: Submission) -> bool:
        """Keeps a submission that its `check` let pass; when it returns, the submission survives a power cut.

        It waits, sealed, until a batch of its part (group, by hand or not) has come, or the survey is closed; then the batch is counted.
        False if exactly this one was kept before. Its invitation, if it has one, is used up in the same transaction, and marked
        as spent with the batch; what is refused or repeated spends nothing. Raises UnknownSurveyError, ClosedError, InvitationError,
        ConflictError, in this order, so that who has no right to submit learns nothing of an id; and FullError, UnavailableError.
        """

    def withdraw(self, survey_id: str, submission_id: bytes) -> None:
        """Erases a submission, in a closed survey too; the same if it is not there.

        It leaves the counts with the next batch of changes, of a closed survey at once. Its id stays, so that the same submission is
        refused if it comes later. Ids that were not there stay up to a number that the database limits for each survey.
        Raises UnknownSurveyError, FullError, UnavailableError.
        """

    def count(self, survey_id: str, group: str | None = None, by_hand: bool = False) -> int:
        """How many records are counted: the n of the tally below. Raises UnknownSurveyError, UnavailableError."""

    def tally(self, survey_id: str, group: str | None = None, by_hand: bool = False) -> Tally:
        """The tally of all that is counted, or of one public group; never waits for whoever writes.

        by_hand: of those made by hand, which no other tally holds. A group that nobody is in has an empty tally. Raises
        UnknownSurveyError, UnavailableError.
        """

    def recount(self, survey_id: str, group: str | None = None, by_hand: bool = False) -> Tally:
        """The same tally, counted anew from every report that is kept, and from those that are erased and still to leave the counts."""

    def invite(self, survey_id: str, hashes: Sequence[bytes]) -> None:
        """Keeps the hashes of new invitations (`codes.invitation_hash`). Raises UnknownSurveyError, FullError, UnavailableError."""

    def invitations(self, survey_id: str) -> tuple[int, int]:
        """How many invitations a survey has, and how many of them are spent, as far as their records are counted."""

    def backup(self, target: Path) -> None:
        """Copies the database to a new file while it is used, without its key.

        Raises FileExistsError, OSError, FullError, UnavailableError.
        """

    def close(self) -> None:
        """Writes what waits and lets go of the database."""
