"""Storage interface of every database, in parts; `sql/` implements it for SQL databases, which then implement `SqlDatabase`.

A store holds drafts, published definitions, settings, perturbed submissions, tallies, invitations, researchers' accounts with their roles,
API keys and webhooks. Of submissions it keeps no order, no time finer than a day, no origin and no link to an invitation.
Every method is safe to call from several threads. Writing raises FullError and UnavailableError, reading UnavailableError.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from deniable.survey import Survey
from deniable.survey.compiled import CompiledSurvey
from deniable.wire.part import Mode, Part
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store.accounts import Accounts
from deniable_server.store.audit import Audit
from deniable_server.store.draft_roles import DraftRoles
from deniable_server.store.drafts import Drafts
from deniable_server.store.factors import Factors
from deniable_server.store.identities import Identities
from deniable_server.store.life import Life
from deniable_server.store.moments import in_zone
from deniable_server.store.people import AccountManagement
from deniable_server.store.roles import Roles
from deniable_server.store.saved_questions import SavedQuestions
from deniable_server.store.studies import Studies
from deniable_server.store.tags import Tags
from deniable_server.store.teams import Teams
from deniable_server.store.webhooks import Webhooks

STATES = ("open", "paused", "closed")
"""The values of `Published.state`."""
WAIT_SECONDS = 5.0  # until a write begins
ESTIMATED: tuple[Mode, ...] = ("device", "organisation")
"""The modes that are estimated together: records perturbed by a respondent's device, or by an organisation for its people."""

PEOPLE: tuple[Mode, ...] = ("device", "by_hand")
"""The modes of people's records, which wait for the release of their survey unless they are sent in bulk."""
STEP = 10
"""Numbers of waiting records are reported in steps of this."""

State = tuple[int, ...]
"""The state of a survey's counts: random numbers, one for each part with records, and a new one with every change of the part."""

Notify = Callable[[bool | BaseException], None]
"""Callback with the outcome of a submission: what `Submissions.add` would have returned or raised. It must not block and must not raise."""
Cancel = Callable[[], bool]
"""Cancels a submission. Returns False if it is already being stored; after True it is not stored, and its callback is not called."""


class Availability:
    """Whether a survey takes answers: what follows from the attributes that `Published` and `Heading` share."""

    is_open: bool
    is_paused: bool
    opens_at: str | None
    is_over: bool
    zone: str

    @property
    def opens(self) -> datetime | None:
        """The local time at which it opens, if that is in the future."""
        return in_zone(self.opens_at, self.zone) if self.opens_at else None

    @property
    def paused(self) -> bool:
        """Whether it takes no answers now, and will take some later."""
        return self.state == "paused"

    @property
    def state(self) -> str:
        """The survey's state, one of STATES: the only words for it in lists, replies, metrics and on pages."""
        if not self.is_open or self.is_over:
            return "closed"
        return "paused" if self.is_paused or self.opens_at else "open"


@dataclass(frozen=True)
class Published(Availability):
    """A published survey. Its definition never changes, its state may. A paused survey counts as open.

    Attributes:
        survey: Its definition.
        is_open: Whether it was not closed yet.
        published_on: The day of its publication, YYYY-MM-DD.
        is_paused: Whether it takes no answers for a while.
        opens_at: The minute in UTC at which it opens, if that is in the future.
        is_over: Whether the minute at which it closes has come.
        zone: The time zone of its researchers.
    """

    survey: Survey
    is_open: bool
    published_on: str
    is_paused: bool = False
    opens_at: str | None = None
    is_over: bool = False
    zone: str = "UTC"


@dataclass(frozen=True)
class Heading(Availability):
    """A published survey as lists show it. `Published` describes the last attributes.

    Attributes:
        id: Its id.
        title: Its title.
        translated: The title in the other languages that have one.
        digest: The digest of its definition.
        epsilon: The total privacy loss of one submission.
        access: "open" or "invited".
    """

    id: str
    title: str
    translated: tuple[str, ...]
    digest: str
    epsilon: float
    access: str
    is_open: bool
    published_on: str
    is_paused: bool = False
    opens_at: str | None = None
    is_over: bool = False
    zone: str = "UTC"

    @property
    def summary(self) -> dict[str, Any]:
        """The fields of a survey that every machine-readable list has."""
        return {
            "id": self.id,
            "title": self.title,
            "state": self.state,
            "published_on": self.published_on,
            "digest": self.digest,
            "epsilon": self.epsilon,
        }

    @property
    def titles(self) -> tuple[str, ...]:
        """The title in every language."""
        return (self.title, *self.translated)


class Surveys(Protocol):
    """Storage interface for published definitions."""

    def publish(self, survey: Survey, owner: str | None = None, *, with_key: bool = True, source: str = "", draft: str = "") -> bool:
        """Publishes a survey. A survey by invitation gets a new key for tokens: its definition, and so its digest, are fixed only now.

        Args:
            survey: The survey. A key in it is replaced.
            owner: The account that owns it from then on; None for the operators (`Roles`).
            with_key: Whether this server gives tokens; if not, the definition stays as it is.
            source: The survey file that a new survey comes from, which is stored with it (`source`).
            draft: The id of the draft of a new survey. Its author becomes an owner, the people and teams with a role in it get that
                role, and the survey gets its tags. If the draft is a new wave, the survey joins the study, provided that `owner` is
                an editor or an owner of the survey that it follows.

        Returns:
            False if this survey was published before; its key makes no difference.

        Raises:
            ConflictError: Its id belongs to another definition or to a survey that `owner` has no role in, looks like another
                survey's id (`looks_like`), begins with `PREVIEW`, or is a trial's (`is_trial`).
            UnknownAccountError: There is no such account.
        """

    def source(self, survey_id: str) -> str | None:
        """Returns the survey file of a published survey, or None without one. Raises UnknownSurveyError."""

    def looks_like(self, survey_id: str) -> str | None:
        """Returns the id of another published survey that this id looks like, or None."""

    def count(self) -> int:
        """Returns the number of published surveys."""

    def ids(self) -> list[str]:
        """Returns the ids of all published surveys, sorted."""

    def compiled(self, survey_id: str) -> CompiledSurvey:
        """Returns what checking and counting records needs of a survey, without parsing its definition. Raises UnknownSurveyError."""

    def compile_some(self, most: int) -> int:
        """Compiles up to `most` surveys that were published by a server with another version of the encoding. Returns their number.

        Surveys that are not compiled are parsed whenever they are read. If none is left, nothing is written.
        """

    def sharing(self, survey: Survey, survey_ids: Collection[str]) -> list[str]:
        """Returns the other surveys among these with an item of the same id and type as a survey, sorted."""

    def wrongly_compiled(self, surveys: Sequence[Survey]) -> list[str]:
        """Returns the ids of these published surveys whose stored compilation differs from their definition."""

    def published(self, survey_id: str) -> Published:
        """Returns a published survey. Raises UnknownSurveyError."""

    def all(self) -> list[Published]:
        """Returns all published surveys, sorted by id. Parses every definition."""

    def headings(self, survey_ids: Collection[str] | None = None) -> list[Heading]:
        """Returns published surveys as lists show them, without parsing a definition.

        Args:
            survey_ids: Only these surveys; by default all.
        """

    def set_open(self, survey_id: str, is_open: bool) -> None:
        """Opens or closes a survey for submissions.

        Closing it releases all waiting submissions, unless they are fewer than a batch in all. A survey with `release: daily` that
        had a release on the same day releases them the next day. Reopening it clears its closing conditions, and unarchives it.

        Raises:
            UnknownSurveyError: There is no such survey.
            ClosedError: It cannot be reopened: its records were deleted, or with `release: close` they were released.
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

        A person's record waits, encrypted, for the release of its survey (`release_due`, `Surveys.set_open`). A bulk submission, of an
        organisation or of several records, waits until its batch is counted while another batch stays behind; one as large as a
        batch is counted at once.
        The invitation code, if any, is used up in the same transaction, and marked as spent at a release. A refused or repeated
        submission spends nothing. The code is checked last, and only by the submission that spends it, so that nobody can probe a
        list of codes.

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

        A waiting submission leaves no trace. A counted one leaves the counts with the next release or batch, or with a batch of other
        withdrawals; for a closed survey at once. Its id is remembered, so that the same submission is refused later.
        Unknown ids are remembered up to a limit for each survey.
        """

    def withdraw_all(self, submission_ids: Collection[bytes]) -> int:
        """Erases submissions of any survey that were withdrawn after a backup was made, and refuses their ids from then on.

        Returns:
            How many of them were stored.
        """

    def counts(self, survey_id: str) -> Mapping[Part, int]:
        """Returns the number of counted records of each part that has any. The cost does not depend on the number of questions."""

    def state(self, survey_id: str, parts: Collection[Part] | None = None) -> State:
        """Returns the state of the counts of some parts, by default of all: while it is the same, so are `counts`, `tally` and `reports`.

        It has no meaning, and must be shown to no one. A waiting record does not change it, and a withdrawn record changes it only when
        it leaves the counts.
        """

    def all_counts(self) -> Mapping[str, Mapping[Part, int]]:
        """Returns `counts` of all surveys with counted records, by survey id, in one query."""

    def all_waiting(self) -> Mapping[str, Mapping[Mode, int]]:
        """Returns `waiting` of all surveys with waiting records, by survey id, in one query."""

    def waiting(self, survey_id: str) -> Mapping[Mode, int]:
        """Returns how many records of each mode of PEOPLE wait for the release of their survey, in steps of STEP."""

    def withdrawn(self, survey_id: str) -> int:
        """Returns how many submissions were withdrawn since the survey was published; of an open survey in steps of STEP."""

    def release_due(self, now: datetime) -> list[str]:
        """Releases the records of all surveys with `release: daily` whose release is due.

        Each part counts all but a batch of its records if that is a batch, too; a closed survey counts all. The next release is drawn
        for a random second of the next day.

        Returns:
            The ids of the surveys with newly counted records.
        """

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

    def all_counts(self) -> Mapping[str, tuple[int, int]]:
        """Returns `count` of all surveys with invitations, by survey id, in one query."""

    def used(self) -> list[tuple[str, bytes]]:
        """Returns all used codes with their surveys: spent ones, and codes of waiting submissions. For a restore only."""

    def spend(self, codes: Collection[tuple[str, bytes]]) -> int:
        """Marks codes that were spent after a backup was made. Returns how many were not marked yet."""

    def spend_tokens(self, tags: Collection[tuple[str, bytes]]) -> int:
        """Marks tokens that were used after a backup was made, by survey and keyed hash. Returns how many were not marked yet."""

    def exchange(self, survey_id: str, code_hash: bytes, blinded: bytes) -> bytes:
        """Uses up a code for a blinded token, and returns the signature with the survey's key (`deniable.wire.tokens`).

        The same code with the same blinded token gets the same signature again, however often; with another one it counts as used.

        Raises:
            UnknownSurveyError, ClosedError, PausedError, InvitationError: It is refused; checked in this order.
            ValueError: The blinded token is not a number below the modulus of the key.
        """

    def has(self, survey_id: str, code_hash: bytes) -> bool:
        """Returns whether a code belongs to the survey, spent or not. Raises UnknownSurveyError.

        Otherwise, someone with the list of codes could poll and see when each person answers.
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
    def saved_questions(self) -> SavedQuestions:
        """Researchers' own questions, to insert into drafts."""

    @property
    def studies(self) -> Studies:
        """Studies and their waves."""

    @property
    def tags(self) -> Tags:
        """Tags of surveys and drafts."""

    @property
    def draft_roles(self) -> DraftRoles:
        """Accounts' and teams' roles in drafts."""

    @property
    def teams(self) -> Teams:
        """Teams and their roles in surveys."""

    @property
    def identities(self) -> Identities:
        """Bindings of accounts to a provider of single sign-on."""

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

    def count_servers(self) -> int:
        """Returns the number of servers on this database, this process included from the first call on. Raises UnavailableError."""

    def moved_to(self) -> str | None:
        """Returns the name of the database that replaces this one since a move, or None. Raises UnavailableError."""

    def tidy(self) -> None:
        """Removes traces of the order of commits soon, which a killed process may have left."""

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
