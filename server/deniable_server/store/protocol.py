"""Storage interface of every database, in parts; `sql/` implements it for SQL databases, which then implement `SqlDatabase`.

A store holds drafts, published definitions, settings, perturbed submissions, tallies, invitations, researchers' accounts with their roles,
API keys and webhooks. Of submissions it keeps no order, no time finer than a day, no origin and no link to an invitation.
Every method is safe to call from several threads. Writing raises FullError and UnavailableError, reading UnavailableError.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from deniable.survey import Survey
from deniable.wire.part import Mode, Part
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store.accounts import Accounts
from deniable_server.store.audit import Audit
from deniable_server.store.drafts import Drafts
from deniable_server.store.factors import Factors
from deniable_server.store.life import Life
from deniable_server.store.people import AccountManagement
from deniable_server.store.roles import Roles
from deniable_server.store.webhooks import Webhooks

STATES = ("open", "paused", "closed")
"""The values of `Published.state`."""
WAIT_SECONDS = 5.0  # until a write begins
ESTIMATED: tuple[Mode, ...] = ("device", "organisation")
"""The modes that are estimated together: records perturbed by a respondent's device, or by an organisation for its people."""

Notify = Callable[[bool | BaseException], None]
"""Callback with the outcome of a submission: what `Submissions.add` would have returned or raised. It must not block and must not raise."""
Cancel = Callable[[], bool]
"""Cancels a submission. Returns False if it is already being stored; after True it is not stored, and its callback is not called."""


@dataclass(frozen=True)
class Published:
    """A published survey. Its definition never changes; `is_open` and `paused` may. A paused survey counts as open."""

    survey: Survey
    is_open: bool
    published_on: str  # a day, YYYY-MM-DD
    paused: bool = False

    @property
    def state(self) -> str:
        """The survey's state, one of STATES: the only words for it in lists, replies, metrics and on pages."""
        return "paused" if self.paused else "open" if self.is_open else "closed"


@dataclass(frozen=True)
class Heading:
    """A published survey as lists show it."""

    id: str
    title: str
    is_open: bool
    published_on: str  # a day, YYYY-MM-DD
    translated: tuple[str, ...] = ()
    """The title in the other languages that have one."""

    @property
    def titles(self) -> tuple[str, ...]:
        """The title in every language."""
        return (self.title, *self.translated)


class Surveys(Protocol):
    """Storage interface for published definitions."""

    def publish(self, survey: Survey, owner: str | None = None) -> bool:
        """Publishes a survey.

        Args:
            survey: The survey.
            owner: The account that owns it from then on; None for the operators (`Roles`).

        Returns:
            False if exactly this survey was published before.

        Raises:
            ConflictError: Its id belongs to another definition or to a survey that `owner` has no role in, looks like another
                survey's id (`looks_like`), or begins with `PREVIEW`.
            UnknownAccountError: There is no such account.
        """

    def looks_like(self, survey_id: str) -> str | None:
        """Returns the id of another published survey that this id looks like, or None."""

    def published(self, survey_id: str) -> Published:
        """Returns a published survey. Raises UnknownSurveyError."""

    def all(self) -> list[Published]:
        """Returns all published surveys, sorted by id."""

    def headings(self) -> list[Heading]:
        """Returns all published surveys as lists show them, in a fraction of the time of `all`, since no question is parsed."""

    def set_open(self, survey_id: str, is_open: bool) -> None:
        """Opens or closes a survey for submissions. Closing it counts all waiting submissions.

        Reopening it clears its closing conditions, and unarchives it.

        Raises:
            UnknownSurveyError: There is no such survey.
            ClosedError: Its records were deleted, so it cannot be reopened.
        """

    def pause(self, survey_id: str, paused: bool) -> None:
        """Pauses or resumes a survey. Waiting submissions keep waiting, so repeated pauses reveal nothing about them.

        Raises:
            UnknownSurveyError: There is no such survey.
            ClosedError: It is closed.
        """


class Submissions(Protocol):
    """Storage interface for perturbed records and their tallies. Every method raises UnknownSurveyError if the survey is not published."""

    def add(self, survey_id: str, submission: Submission) -> bool:
        """Stores a submission that its `check` accepted; when this returns, the submission survives a power cut.

        It waits, encrypted, until its batch is counted while another batch stays behind, or until the survey closes. A submission as
        large as a batch is counted at once. Its invitation code, if any, is used up in the same transaction, and marked as spent
        together with a batch of codes. A refused or repeated submission spends nothing. The code is checked last, and only by the
        submission that spends it, so that nobody can probe a list of codes.

        Returns:
            False if exactly this submission was stored before.

        Raises:
            UnknownSurveyError, ClosedError, PausedError, ConflictError, InvitationError: It is refused; checked in this order.
        """

    def add_later(self, survey_id: str, submission: Submission, notify: Notify) -> Cancel:
        """Stores one record without blocking. `notify` receives the result of `add` when it is known, perhaps in another thread.

        Returns:
            A function that cancels the submission, for a caller that stops waiting, after WAIT_SECONDS for example.
        """

    def withdraw(self, survey_id: str, submission_id: bytes) -> None:
        """Erases a submission, of a closed survey too; does nothing if it is not stored.

        It leaves the counts together with the next records that arrive, or with a batch of other withdrawals; for a closed survey
        at once. Its id is remembered, so that the same submission is refused later.
        Unknown ids are remembered up to a limit for each survey.
        """

    def withdraw_all(self, submission_ids: Collection[bytes]) -> int:
        """Erases submissions of any survey that were withdrawn after a backup was made, and refuses their ids from then on.

        Returns:
            How many of them were stored.
        """

    def counts(self, survey_id: str) -> Mapping[Part, int]:
        """Returns the number of counted records of each part that has any. The cost does not depend on the number of questions."""

    def tally(self, survey_id: str, parts: Collection[Part]) -> Tally:
        """Returns the sum of the tallies of some parts, empty if they have no records. Does not wait for writers."""

    def recount(self, survey_id: str, parts: Collection[Part]) -> Tally:
        """Recomputes the same tally from every stored record, including erased ones that have not left the counts yet."""

    def reports(self, survey_id: str, part: Part) -> Iterator[bytes]:
        """Yields the counted records of a part in chunks of whole records, in no order, from one snapshot of the database.

        They are the records that `tally` counts: a withdrawn record leaves both at the same time, not at the moment of withdrawal.
        A reader who compares the records before and after sees which perturbed record left; and someone who may submit can
        force it to leave at once with a bulk submission.
        """

    def reports_by_part(self, survey_id: str, parts: Collection[Part]) -> Iterator[tuple[Part, Iterator[bytes]]]:
        """Yields the records of several parts as `reports` does, all from one snapshot of the database.

        Parts without records are left out. Read the records of one part before you request the next part. The cost is linear in the
        number of parts, since the waiting records are decrypted once for all of them.
        """


class Invitations(Protocol):
    """Storage interface for invitations: hashes of their codes (`access_codes.invitation_hash`), and which of them are spent."""

    def add(self, survey_id: str, hashes: Sequence[bytes]) -> None:
        """Stores the hashes of new invitation codes. Raises UnknownSurveyError."""

    def count(self, survey_id: str) -> tuple[int, int]:
        """Returns the number of invitations of a survey, and of those that are spent, as far as their records are counted."""

    def used(self) -> list[tuple[str, bytes]]:
        """Returns all used codes with their surveys: spent ones, and codes of waiting submissions. For a restore only."""

    def spend(self, codes: Collection[tuple[str, bytes]]) -> int:
        """Marks codes that were spent after a backup was made. Returns how many were not marked yet."""

    def is_usable(self, survey_id: str, code_hash: bytes) -> bool:
        """Returns whether a code belongs to the survey and is not marked as spent, without spending it. Raises UnknownSurveyError.

        Marks change with a whole batch: the code of a waiting submission counts as usable here, but is refused when it is sent again.
        Otherwise, someone with the list of codes could poll and see when each person answered.
        """


class Store(Protocol):
    """The whole interface of a store."""

    @property
    def surveys(self) -> Surveys:
        """Published definitions."""

    @property
    def submissions(self) -> Submissions:
        """Perturbed records and their tallies."""

    @property
    def invitations(self) -> Invitations:
        """Invitation codes."""

    @property
    def accounts(self) -> Accounts:
        """Accounts, sessions and API keys."""

    @property
    def people(self) -> AccountManagement:
        """Accounts as operators manage them."""

    @property
    def roles(self) -> Roles:
        """Accounts' roles in surveys."""

    @property
    def factors(self) -> Factors:
        """Second factors."""

    @property
    def audit(self) -> Audit:
        """The audit log."""

    @property
    def life(self) -> Life:
        """Settings and growth of surveys."""

    @property
    def drafts(self) -> Drafts:
        """Drafts of surveys."""

    @property
    def webhooks(self) -> Webhooks:
        """Webhooks and their waiting messages."""

    def backup(self, target: Path) -> None:
        """Copies the database to a new file while it is in use, without its key.

        Raises:
            FileExistsError: The file exists.
            OSError: The file cannot be written.
            FullError, UnavailableError: The database cannot be copied now.
        """

    def trouble(self) -> str | None:
        """Returns what prevents the database from working now, in one line for the server's log; None if it works."""

    def rewrite(self) -> None:
        """Rewrites the whole database, so that stored rows show no order and no erased data is left."""

    def close(self) -> None:
        """Commits the queued jobs and closes the database."""


def estimated(survey: Survey, group: str | None = None) -> list[Part]:
    """Returns the parts that are estimated together: of one group, or of all groups of the survey."""
    return [Part(label, mode) for label in _labels(survey, group) for mode in ESTIMATED]


def by_hand(survey: Survey, group: str | None = None) -> list[Part]:
    """Returns the parts of respondents who tossed real coins: of one group, or of all groups of the survey."""
    return [Part(label, "by_hand") for label in _labels(survey, group)]


def _labels(survey: Survey, group: str | None) -> Sequence[str | None]:
    return [group] if group is not None else survey.groups or [None]
