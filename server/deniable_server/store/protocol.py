"""What any database must do: shelves, each with what belongs together, and a copy of it all.

A store holds drafts, published definitions, how surveys are run, perturbed submissions, tallies, invitations, researchers' accounts with
their roles, keys and webhooks. Of submissions it keeps no order, no time finer than a day, and nothing about where one came from or which
invitation it had. Every method is safe to call from several threads; what writes raises FullError and UnavailableError, what reads
UnavailableError.
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
from deniable_server.store.people import People
from deniable_server.store.roles import Roles
from deniable_server.store.webhooks import Webhooks

STATES = ("open", "paused", "closed")
"""What `Published.state` may be."""
WAIT_SECONDS = 5.0  # for the turn of what is to be written
ESTIMATED: tuple[Mode, ...] = ("device", "organisation")
"""The ways of perturbing that are estimated together: by a respondent's device, or by an organisation for its people."""

Tell = Callable[[bool | BaseException], None]
"""Hears once what became of a submission: what `Submissions.add` would have returned or raised. It must not wait, and must not raise."""
TakeBack = Callable[[], bool]
"""Whether a submission's turn had not come: then it is not kept, and nobody hears of it."""


@dataclass(frozen=True)
class Published:
    """A published survey: its definition never changes; `is_open` and `paused` may. One that is paused is open: people may come later."""

    survey: Survey
    is_open: bool
    published_on: str  # a day, YYYY-MM-DD
    paused: bool = False

    @property
    def state(self) -> str:
        """Returns the survey's state, one of STATES: the only words for it in lists, replies, metrics and on pages."""
        return "paused" if self.paused else "open" if self.is_open else "closed"


@dataclass(frozen=True)
class Heading:
    """What a list names a published survey by."""

    id: str
    title: str
    is_open: bool
    published_on: str  # a day, YYYY-MM-DD
    translated: tuple[str, ...] = ()
    """The title in other languages, as far as it is translated."""

    @property
    def titles(self) -> tuple[str, ...]:
        """Returns the title in every language."""
        return (self.title, *self.translated)


class Surveys(Protocol):
    """The shelf of definitions."""

    def publish(self, survey: Survey, owner: str | None = None) -> bool:
        """Publishes a survey, which this account owns from then on; or nobody, and so the operators (`Roles`).

        False if exactly this one was published before. Raises ConflictError for other bytes under its id, where `owner` has no role in
        what was published before, for an id that looks like another survey's (`looks_like`), and for one that begins with `PREVIEW`:
        those are tried, never published; UnknownAccountError.
        """

    def looks_like(self, survey_id: str) -> str | None:
        """Returns the id of a published survey that this id looks like, but for itself; None where there is none."""

    def published(self, survey_id: str) -> Published:
        """A published survey. Raises UnknownSurveyError."""

    def all(self) -> list[Published]:
        """All published surveys, by id."""

    def headings(self) -> list[Heading]:
        """The same as a list names them: in a fraction of the time, since no question is read."""

    def set_open(self, survey_id: str, is_open: bool) -> None:
        """Opens or closes a survey for submissions; closing counts all that waits.

        Opening one again forgets when it was to close, and that it was archived. Raises UnknownSurveyError, and ClosedError where its
        records were deleted.
        """

    def pause(self, survey_id: str, paused: bool) -> None:
        """Stops taking submissions for a while, or goes on. What waits goes on waiting: whoever pauses again and again sees nothing of it.

        Raises UnknownSurveyError, ClosedError.
        """


class Submissions(Protocol):
    """The shelf of perturbed records and their tallies. Everything here raises UnknownSurveyError for a survey that is not published."""

    def add(self, survey_id: str, submission: Submission) -> bool:
        """Keeps a submission that its `check` let pass; when it returns, the submission survives a power cut.

        It waits, sealed, until it is of a batch that is counted while another one stays behind, or the survey is closed. One that is
        a whole batch is counted at once. False if exactly this one was kept before. Its invitation, if it has one, is used up in the
        same transaction, and marked as spent with a batch of codes; what is refused or repeated spends nothing. Raises
        UnknownSurveyError, ClosedError, PausedError, ConflictError, InvitationError, in this order: nothing looks at a code but what
        spends it, so that whoever has the list of codes cannot ask.
        """

    def adding(self, survey_id: str, submission: Submission, tell: Tell) -> TakeBack:
        """The same for one record, without waiting: `tell` hears what `add` returns or raises once it does, in another thread perhaps.

        Whoever waits no longer, for WAIT_SECONDS say, takes it back.
        """

    def withdraw(self, survey_id: str, submission_id: bytes) -> None:
        """Erases a submission, in a closed survey too; the same if it is not there.

        It leaves the counts with the next records that come, or with a batch of others that leave, of a closed survey at once. Its id
        stays, so that the same submission is refused if it comes later. Ids that were not there stay up to a number that the database
        limits for each survey.
        """

    def withdraw_all(self, submission_ids: Collection[bytes]) -> int:
        """Erases submissions that were withdrawn after a backup was made, of whatever survey, and refuses all of these ids from then on.

        Returns how many there were.
        """

    def counts(self, survey_id: str) -> Mapping[Part, int]:
        """How many records are counted, for each part that has some. Costs the same however many questions there are."""

    def tally(self, survey_id: str, parts: Collection[Part]) -> Tally:
        """The tally of all that is counted of some parts, added up; empty where they have nothing. Never waits for whoever writes."""

    def recount(self, survey_id: str, parts: Collection[Part]) -> Tally:
        """The same tally, counted anew from every report that is kept, and from those that are erased and still to leave the counts."""

    def reports(self, survey_id: str, part: Part) -> Iterator[bytes]:
        """The counted records of a part, whole ones back to back, some at a time and in no order; all of one state of the database.

        They are those that `tally` counts: a record that was withdrawn leaves both at the same time. So it does not leave at the moment
        when it is withdrawn. But whoever reads before and after it leaves sees which one it was, perturbed as it is; and whoever may
        submit can make it leave at once, with a bulk of their own.
        """

    def reports_by_part(self, survey_id: str, parts: Collection[Part]) -> Iterator[tuple[Part, Iterator[bytes]]]:
        """Yields the records of several parts, as `reports` does, all of one state of the database.

        A part without records is left out. The records of one part must be read before the next part is asked for. The cost grows with
        the parts that are asked for, not with their square: what waits is opened once for all of them.
        """


class Access(Protocol):
    """The shelf of invitations: hashes of their codes (`access_codes.invitation_hash`), and marks of those that are spent."""

    def invite(self, survey_id: str, hashes: Sequence[bytes]) -> None:
        """Keeps the hashes of new invitations. Raises UnknownSurveyError."""

    def invitations(self, survey_id: str) -> tuple[int, int]:
        """How many invitations a survey has, and how many of them are spent, as far as their records are counted."""

    def used(self) -> list[tuple[str, bytes]]:
        """All codes that were used, each with its survey: those marked as spent, and those whose records wait. For a restore only."""

    def spend(self, codes: Collection[tuple[str, bytes]]) -> int:
        """Marks codes that were spent after a backup was made, each with its survey. Returns how many were not marked yet."""

    def usable(self, survey_id: str, code_hash: bytes) -> bool:
        """Whether a code is one of the survey's and not marked as spent. Spends nothing. Raises UnknownSurveyError.

        The marks change with a whole batch: a code whose record still waits counts as usable here, and is refused when it is sent again.
        Otherwise whoever has the list of codes could ask every minute and see when each person answered.
        """


class Store(Protocol):
    """The whole contract of a database."""

    @property
    def surveys(self) -> Surveys: ...

    @property
    def submissions(self) -> Submissions: ...

    @property
    def access(self) -> Access: ...

    @property
    def accounts(self) -> Accounts: ...

    @property
    def people(self) -> People: ...

    @property
    def roles(self) -> Roles: ...

    @property
    def factors(self) -> Factors: ...

    @property
    def audit(self) -> Audit: ...

    @property
    def life(self) -> Life: ...

    @property
    def drafts(self) -> Drafts: ...

    @property
    def webhooks(self) -> Webhooks: ...

    def backup(self, target: Path) -> None:
        """Copies the database to a new file while it is used, without its key.

        Raises FileExistsError, OSError, FullError, UnavailableError.
        """

    def trouble(self) -> str | None:
        """What keeps the database from its work now, in one line for the server's log; None where nothing does."""

    def rewrite(self) -> None:
        """Writes everything anew, so that no order shows in what is stored and nothing that was erased is left."""

    def close(self) -> None:
        """Writes what waits and lets go of the database."""


def estimated(survey: Survey, group: str | None = None) -> list[Part]:
    """The parts that are estimated together: of one group, or of all the survey's groups."""
    return [Part(label, mode) for label in _labels(survey, group) for mode in ESTIMATED]


def by_hand(survey: Survey, group: str | None = None) -> list[Part]:
    """The parts of those who answered with real coins: of one group, or of all the survey's groups."""
    return [Part(label, "by_hand") for label in _labels(survey, group)]


def _labels(survey: Survey, group: str | None) -> Sequence[str | None]:
    return [group] if group is not None else survey.groups or [None]
