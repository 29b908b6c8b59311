"""Many respondents' rows are randomized and sent batch by batch; a job goes on where an earlier run stopped."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from deniable.delivery.account import Account, Rehearsal
from deniable.delivery.background import InBackground
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
_SHOWN = 20


@dataclass(frozen=True)
class SubmissionReport:
    """What became of many rows. Counts are of the whole job, the earlier runs that it resumed included.

    accepted: rows that the server acknowledged. submissions: requests they took. resumed: rows that earlier runs had dealt with, or, by
    `row_key`, had sent from whatever file; requests of these are not counted again. rejected: what was wrong with the rows that were left
    out, each question by itself. code: what withdraws the submission, where it was one respondent's by invitation and made in this run;
    kept nowhere else. pinned: as in `Receipt`.
    """

    survey: str
    digest: str
    accepted: int
    submissions: int
    resumed: int
    rejected: tuple[RejectedRow, ...]
    code: str | None = field(default=None, repr=False)
    pinned: bool = False


@dataclass(frozen=True)
class Bulk:
    """One call of `submit_many`.

    strict: a wrong row stops everything. account: who is charged for the rows before they are sent. row_keys: what recognises rows that
    were sent before; else the job says how many are.
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
        resumed = job.rows if job and not self.row_keys else 0
        done = resumed
        rejected = list(job.rejected) if job else []
        accepted, submissions = done - len({found.row for found in rejected}), job.submissions if resumed and job else 0
        code = None
        if job:
            self.finish_earlier(job)
        total, held = self.check(done) if self.strict and self.source.repeatable else (self.source.total, deque[PerturbedBatch]())
        with _bar(total, done, progress) as advance, InBackground() as sender:
            for part in self.parts(held, done, total):
                self.refuse_more_than_invited(done + part.size)
                if self.strict and part.rejected:
                    raise AnswerError(_listed(part.rejected, f"{done:,} rows before them are dealt with, and nothing of these was sent"))
                sender.wait()
                self.keep(part, job)
                sender.start(partial(self.send, part, job, done))
                if self.account:  # whose persons are charged for no rows before those ahead of them have arrived
                    sender.wait()
                accepted += sum(submission.count for submission, _ in part.submissions)
                submissions += len(part.submissions)
                code = part.submissions[0][1] if part.submissions and self.public.invitation else code
                rejected += part.rejected
                done += part.size
                advance(part.size)
            sender.wait()
        if self.account:
            self.account.settle()
        if job and (left := self.delivery.outbox.waiting(self.delivery.url, job)):
            are = "is" if left == 1 else "are"
            raise DeliveryError(
                f"{counted(left, 'submission')} of this job {are} being sent by another process; run the same command again"
            )
        known = self.row_keys.known if self.row_keys else 0
        rows = (accepted + known, submissions, resumed + known)
        return SubmissionReport(self.survey.id, self.survey.digest, *rows, tuple(rejected), code, self.pinned)

    def parts(self, held: deque[PerturbedBatch], done: int, total: int | None) -> Iterator[PerturbedBatch]:
        """What was perturbed when it was checked; then the rows behind, read and perturbed when they are wanted."""
        while held:
            done += held[0].size
            yield held.popleft()
        if done != total or not self.source.repeatable:
            yield from perturb_many(self.survey, self.source, self.public, self.admit, **self.options(done))

    def options(self, skip: int) -> dict[str, Any]:
        """Which rows to read: those behind the first `skip`, so many at a time."""
        size = self.size if self.source.total is None else even(self.source.total - skip, self.size, self.survey.batch)
        size = max(2, size) if self.public.invitation else size  # so that a second row is seen before the first is sent
        person, row = self.account.column if self.account else None, self.row_keys.column if self.row_keys else None
        return {"columns": self.columns, "person_column": person, "row_key": row, "size": size, "skip": skip}

    def refuse_more_than_invited(self, rows: int) -> None:
        if self.public.invitation and rows > 1:
            raise AnswerError("an invitation is for one respondent: the input must have one row, and has more; nothing of them was sent")

    def admit(self, batch: Batch) -> Batch:
        """The rows of a stretch that may be sent; their persons are charged."""
        self.refuse_many_without_key(batch.size)
        batch = self.row_keys(batch) if self.row_keys else batch
        return self.account.charged(batch) if self.account and batch.rows.size else batch

    def rehearse(self, trial: Rehearsal | None, row_keys: RowKeys | None, batch: Batch) -> Batch:
        """As `admit`, and charges nobody."""
        self.refuse_many_without_key(batch.size)
        batch = row_keys(batch) if row_keys else batch
        return trial(batch) if trial else batch

    def refuse_many_without_key(self, rows: int) -> None:
        """Refuses many rows without a key before they are randomized: the server would refuse them, and they would wait in the outbox."""
        if rows > 1 and self.delivery.key is None and not self.public.invitation:
            raise RefusedError(
                "many records in one submission need a key with the scope submit; nothing of these rows was randomized or sent. "
                "Whoever runs the server makes one with `deniable-server key make --scope submit --name NAME`. "
                "A batch of 1 sends each row by itself and needs none"
            )

    def finish_earlier(self, job: Job) -> None:
        """What an earlier run randomized comes first, what the server turned down included: its rows would be lost otherwise.

        An invitation that was turned down gives way to the one of this run; the perturbed answers stay.
        """
        if self.public.invitation:
            self.delivery.outbox.invite(job, access_codes.read(self.public.invitation))
        self.delivery.each_kept(job, True, self.delivery.send)

    def check(self, skip: int) -> tuple[int, deque[PerturbedBatch]]:
        """Reads all rows before any is sent; returns how many there are, and those that are perturbed already.

        As many as fit into HELD bytes are, so that they need not be read again: unless it is found out only later which may be sent. They
        are in no outbox yet: of a run that ends before all are checked, nothing is left that could be seen.
        """
        rejected: list[RejectedRow] = []
        held: deque[PerturbedBatch] = deque()
        trial = self.account.trial() if self.account else None
        total, most = skip, 0 if self.account or self.row_keys else HELD
        rehearse = partial(self.rehearse, trial, self.row_keys.fresh() if self.row_keys else None)
        for part in perturb_many(self.survey, self.source, self.public, rehearse, most, **self.options(skip)):
            rejected += part.rejected
            total += part.size
            if not part.only_checked:
                held.append(part)
        self.refuse_more_than_invited(total)
        if rejected:
            raise AnswerError(_listed(rejected, "nothing was sent"))
        if trial:
            trial.refuse()
        return total, held

    def keep(self, part: PerturbedBatch, job: Job | None) -> None:
        """Puts all submissions of a stretch into the outbox, in one step with the job's progress, before the first is sent."""
        outbox, url = self.delivery.outbox, self.delivery.url
        made = [submission for submission, _ in part.submissions]
        if job and self.row_keys:
            outbox.advance(url, self.survey.id, job, len(part.marks), made, (), part.marks)
        elif job:
            outbox.advance(url, self.survey.id, job, part.size, made, part.rejected)
        elif made:
            outbox.add(url, self.survey.id, *made)

    def send(self, part: PerturbedBatch, job: Job | None, done: int) -> None:
        try:
            self.delivery.send_all(self.survey.id, [submission for submission, _ in part.submissions])
        except DeliveryError as error:
            raise DeliveryError(f"{error}. {_where_it_stands(job, done, part)}") from None
        except RejectedError as error:
            raise RejectedError(error.status, f"{error}. {_where_it_stands(job, done, part)}") from None


def rows_at_once(survey: Survey) -> int:
    """How many rows make a submission of half a megabyte, and at most two million cells."""
    return max(1, min(MAX_COUNT, (1 << 19) // survey.record.bytes, (1 << 21) // len(survey.items)))


def even(rows: int, most: int, least: int) -> int:
    """How many rows a request, at most `most`, so that the last one has no fewer than `least`: these would wait for others to be counted.

    `most` where no number does that.
    """
    sizes = range(most, least - 1, -1) if rows > most else ()
    return next((size for size in sizes if not 0 < rows % size < least), most)


def counted(number: int, noun: str) -> str:
    """1 row, 1,001 rows."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _where_it_stands(job: Job | None, done: int, part: PerturbedBatch) -> str:
    these = f"rows {done + 1:,} to {done + part.size:,} are" if part.size > 1 else f"row {done + 1:,} is"
    stand = f"Rows up to {done:,} are dealt with; {these} randomized and in the outbox"
    return f"{stand}; the same command again goes on from there" if job else f"{stand}; the rows behind them were not touched"


def _listed(rejected: list[RejectedRow], state: str) -> str:
    rows = len({found.row for found in rejected})
    verb = "has" if rows == 1 else "have"
    shown = "\n".join(str(found) for found in rejected[:_SHOWN])
    more = f"\n… and {len(rejected) - _SHOWN:,} more" if len(rejected) > _SHOWN else ""
    return f"{counted(rows, 'row')} {verb} answers that cannot be sent; {state}\n{shown}{more}"


@contextmanager
def _bar(total: int | None, done: int, wanted: bool) -> Iterator[Callable[[int], None]]:
    if not wanted or total is None:
        yield lambda rows: None
        return
    import click  # loaded by whoever wants to see a bar

    with click.progressbar(length=total, file=sys.stderr, label="Sending") as bar:
        bar.update(done)
        yield bar.update
