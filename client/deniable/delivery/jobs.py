"""Submission jobs: many respondents' rows are randomized and sent batch by batch; a job resumes where an earlier run stopped."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from deniable.delivery.account import Account, Rehearsal
from deniable.delivery.background import BackgroundThread
from deniable.delivery.outbox import Job
from deniable.delivery.row_keys import RowKeys
from deniable.delivery.sender import Delivery
from deniable.device.perturb import PerturbedBatch, perturb_many
from deniable.device.sources.rows import Rows
from deniable.device.tables import Batch
from deniable.errors import AnswerError, DeliveryError, RefusedError, RejectedError, RejectedRow
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.public import Public
from deniable.wire.submission import MAX_COUNT

HELD = 32 << 20
"""Bytes of perturbed records that wait in memory until all rows are checked."""
_LISTED = 20


@dataclass(frozen=True)
class SubmissionReport:
    """Result of submitting many rows. Counts are of the whole job, including the earlier runs that it resumed.

    Attributes:
        survey: The id of the survey.
        digest: The digest of its definition.
        accepted: Rows that the server acknowledged.
        submissions: Requests that these took.
        resumed: Rows of earlier runs, or with `row_key` rows sent before from any file, whose requests are not counted again.
        rejected: The problems of the rows that were left out, each question by itself.
        code: The withdrawal code, if the submission was one respondent's by invitation and made in this run; stored nowhere else.
        pinned: As in `Receipt`.
    """

    survey: str
    digest: str
    accepted: int
    submissions: int
    resumed: int
    rejected: tuple[RejectedRow, ...]
    code: str | None = field(default=None, repr=False)
    pinned: bool = False


@dataclass
class _Totals:
    """Running totals of a job.

    Attributes:
        rows: Rows that are processed.
        accepted: Rows that were not rejected.
        submissions: Requests.
        rejected: The problems of rejected rows.
        code: The withdrawal code of the first submission in the last batch; with an invitation it is the only one.
    """

    rows: int = 0
    accepted: int = 0
    submissions: int = 0
    rejected: list[RejectedRow] = field(default_factory=list)
    code: str | None = field(default=None, repr=False)

    @classmethod
    def of_job(cls, job: Job, *, by_row_key: bool) -> _Totals:
        """Returns the totals of a job's earlier runs. Rows with keys are not counted: they are recognised one by one."""
        rows = 0 if by_row_key else job.rows
        rejected = list(job.rejected)
        return cls(rows, rows - len({row.row for row in rejected}), job.submissions if rows else 0, rejected)

    def add(self, batch: PerturbedBatch) -> None:
        """Adds a batch."""
        self.rows += batch.size
        self.accepted += sum(submission.count for submission, _ in batch.submissions)
        self.submissions += len(batch.submissions)
        self.rejected += batch.rejected
        if batch.submissions:
            self.code = batch.submissions[0][1]


@dataclass(frozen=True)
class Bulk:
    """One call of `submit_many`.

    Attributes:
        strict: An invalid row stops everything.
        account: Charges persons for their rows before these are sent.
        row_keys: Identifies rows that were sent before; otherwise the job counts them.
    """

    delivery: Delivery
    survey: Survey
    source: Rows
    public: Public
    columns: Mapping[str, str] | None
    size: int
    strict: bool
    pinned: bool
    account: Account | None = None
    row_keys: RowKeys | None = None

    def run(self, job: Job | None, progress: bool) -> SubmissionReport:
        """Sends all rows that are not sent yet, and returns the report."""
        totals = _Totals() if job is None else _Totals.of_job(job, by_row_key=self.row_keys is not None)
        resumed = totals.rows
        if job:
            self.finish_earlier(job)
        total, ready = self.check(resumed) if self.strict and self.source.repeatable else (self.source.total, deque[PerturbedBatch]())
        with _progress_bar(total, resumed, progress) as advance, BackgroundThread() as sender:
            for batch in self.batches(ready, resumed, total):
                self.refuse_batch(batch, totals.rows)
                sender.wait()
                self.keep(batch, job)
                sender.start(partial(self.send, batch, job, totals.rows))
                if self.account:  # persons are charged for rows only after earlier rows have arrived
                    sender.wait()
                totals.add(batch)
                advance(batch.size)
            sender.wait()
        if self.account:
            self.account.settle()
        if job:
            self.refuse_unfinished(job)
        return self.report(totals, resumed)

    def report(self, totals: _Totals, resumed: int) -> SubmissionReport:
        """Returns the report of a job, which resumed after so many rows."""
        earlier = self.row_keys.sent_before if self.row_keys else 0
        return SubmissionReport(
            self.survey.id,
            self.survey.digest,
            totals.accepted + earlier,
            totals.submissions,
            resumed + earlier,
            tuple(totals.rejected),
            totals.code if self.public.invitation else None,
            self.pinned,
        )

    def refuse_batch(self, batch: PerturbedBatch, done: int) -> None:
        """Refuses rows after the one of an invitation, and invalid rows. Raises AnswerError."""
        self.refuse_more_than_invited(done + batch.size)
        if self.strict and batch.rejected:
            raise AnswerError(_listed(batch.rejected, f"{done:,} rows before them are processed, and nothing of these was sent"))

    def refuse_unfinished(self, job: Job) -> None:
        """Raises DeliveryError if another process is sending submissions of the job."""
        if waiting := self.delivery.outbox.waiting(self.delivery.url, job):
            are = "is" if waiting == 1 else "are"
            raise DeliveryError(
                f"{counted(waiting, 'submission')} of this job {are} being sent by another process; run the same command again"
            )

    def batches(self, ready: deque[PerturbedBatch], done: int, total: int | None) -> Iterator[PerturbedBatch]:
        """Yields batches perturbed while they were checked; then reads and perturbs the remaining rows as needed."""
        while ready:
            done += ready[0].size
            yield ready.popleft()
        if done != total or not self.source.repeatable:
            yield from perturb_many(self.survey, self.source, self.public, self.admit, **self.options(done))

    def options(self, skip: int) -> dict[str, Any]:
        """Returns which rows to read: those after the first `skip`, in batches."""
        size = self.size if self.source.total is None else even(self.source.total - skip, self.size, self.survey.batch)
        size = max(2, size) if self.public.invitation else size  # so that a second row is seen before the first is sent
        person, row = self.account.column if self.account else None, self.row_keys.column if self.row_keys else None
        return {"columns": self.columns, "person_column": person, "row_key": row, "size": size, "skip": skip}

    def refuse_more_than_invited(self, rows: int) -> None:
        """Refuses more than one row with an invitation. Raises AnswerError."""
        if self.public.invitation and rows > 1:
            raise AnswerError("the input must have one row, since an invitation is for one respondent; nothing was sent")

    def admit(self, batch: Batch) -> Batch:
        """Returns the rows of a batch that may be sent, and charges their persons."""
        self.refuse_many_without_key(batch.size)
        batch = self.row_keys(batch) if self.row_keys else batch
        return self.account.charge(batch) if self.account and batch.rows.size else batch

    def rehearse(self, trial: Rehearsal | None, row_keys: RowKeys | None, batch: Batch) -> Batch:
        """Returns the rows as `admit` does, without charging."""
        self.refuse_many_without_key(batch.size)
        batch = row_keys(batch) if row_keys else batch
        return trial(batch) if trial else batch

    def refuse_many_without_key(self, rows: int) -> None:
        """Refuses many rows without a key before they are randomized: the server would refuse them, and they would wait in the outbox."""
        if rows > 1 and self.delivery.key is None and not self.public.invitation:
            raise RefusedError(
                "many records in one submission need an API key with the scope submit; nothing of these rows was randomized or sent. "
                "The server's operator makes one with `deniable-server key make --scope submit --name NAME`. "
                "A batch of 1 sends each row by itself and needs no key"
            )

    def finish_earlier(self, job: Job) -> None:
        """Sends what an earlier run randomized, rejected submissions included: its rows would be lost otherwise.

        An invitation that was not exchanged yet is replaced by this run's; the perturbed answers stay.
        """
        if self.public.invitation:
            code = access_codes.read(self.public.invitation)
            if self.delivery.outbox.invite(job, code):
                self.delivery.tokens.prepare(self.survey, code)
        self.delivery.resend(job, True, self.delivery.send)

    def check(self, skip: int) -> tuple[int, deque[PerturbedBatch]]:
        """Reads all rows before any is sent; returns their number, and the batches that are perturbed already.

        Up to HELD bytes are kept so that they need not be read again, unless it is known only later which may be sent. They are not in the
        outbox yet: a run that ends before all rows are checked leaves nothing behind.
        """
        rejected: list[RejectedRow] = []
        ready: deque[PerturbedBatch] = deque()
        trial = self.account.trial() if self.account else None
        total, most = skip, 0 if self.account or self.row_keys else HELD
        rehearse = partial(self.rehearse, trial, self.row_keys.fresh() if self.row_keys else None)
        for batch in perturb_many(self.survey, self.source, self.public, rehearse, most, **self.options(skip)):
            rejected += batch.rejected
            total += batch.size
            if not batch.only_checked:
                ready.append(batch)
        self.refuse_more_than_invited(total)
        if rejected:
            raise AnswerError(_listed(rejected, "nothing was sent"))
        if trial:
            trial.refuse()
        return total, ready

    def keep(self, batch: PerturbedBatch, job: Job | None) -> None:
        """Puts all submissions of a stretch into the outbox, in one step with the job's progress, before the first is sent."""
        outbox, url = self.delivery.outbox, self.delivery.url
        submissions = [submission for submission, _ in batch.submissions]
        for submission in submissions:
            if submission.invitation is not None:
                self.delivery.tokens.prepare(self.survey, submission.invitation)
        if job and self.row_keys:
            outbox.advance(url, self.survey.id, job, len(batch.marks), submissions, (), batch.marks)
        elif job:
            outbox.advance(url, self.survey.id, job, batch.size, submissions, batch.rejected)
        elif submissions:
            outbox.add(url, self.survey.id, *submissions)

    def send(self, batch: PerturbedBatch, job: Job | None, done: int) -> None:
        """Sends a batch. Errors also say how far the job is."""
        try:
            self.delivery.send_all(self.survey.id, [submission for submission, _ in batch.submissions])
        except DeliveryError as error:
            raise DeliveryError(f"{error}. {_progress_in_words(job, done, batch)}") from None
        except RejectedError as error:
            raise RejectedError(error.status, f"{error}. {_progress_in_words(job, done, batch)}") from None


def rows_at_once(survey: Survey) -> int:
    """Returns how many rows make a submission of half a megabyte, and at most two million cells."""
    return max(1, min(MAX_COUNT, (1 << 19) // survey.record.bytes, (1 << 21) // len(survey.items)))


def even(rows: int, most: int, least: int) -> int:
    """Returns the number of rows in a request, so that the last request has at least `least`; fewer would wait to be counted.

    At most `most`, and `most` if no number does that.
    """
    sizes = range(most, least - 1, -1) if rows > most else ()
    return next((size for size in sizes if not 0 < rows % size < least), most)


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun: 1 row, 1,001 rows."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _progress_in_words(job: Job | None, done: int, batch: PerturbedBatch) -> str:
    these = f"rows {done + 1:,} to {done + batch.size:,} are" if batch.size > 1 else f"row {done + 1:,} is"
    state = f"Rows up to {done:,} are processed; {these} randomized and in the outbox"
    return f"{state}; run the same command again to resume" if job else f"{state}; later rows were not touched"


def _listed(rejected: list[RejectedRow], state: str) -> str:
    rows = len({row.row for row in rejected})
    verb = "has" if rows == 1 else "have"
    lines = "\n".join(str(row) for row in rejected[:_LISTED])
    more = f"\n… and {len(rejected) - _LISTED:,} more" if len(rejected) > _LISTED else ""
    return f"{counted(rows, 'row')} {verb} answers that cannot be sent; {state}\n{lines}{more}"


@contextmanager
def _progress_bar(total: int | None, done: int, is_shown: bool) -> Iterator[Callable[[int], None]]:
    if not is_shown or total is None:
        yield lambda rows: None
        return
    import click  # loaded only for a bar

    with click.progressbar(length=total, file=sys.stderr, label="Sending") as bar:
        bar.update(done)
        yield bar.update
