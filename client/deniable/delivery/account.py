"""Privacy accounts of persons: charges before their answers are sent. Messages name a person by row, never by key."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from deniable.device.tables import Batch
from deniable.errors import RefusedError, RejectedRow
from deniable.privacy.ledger import JobRows, Ledger, Trial, Use

_LISTED = 20


@dataclass(frozen=True)
class Account:
    """Charges `use` to the persons of rows, with keys in `column`, up to `cap`.

    Attributes:
        strict: If a row is invalid or its person would exceed the cap, no one of the batch is charged.
        job: The job as `Ledger.job` names it, if the input has a name.
    """

    ledger: Ledger
    use: Use
    cap: float
    column: str
    strict: bool
    job: bytes | None = None

    def charge(self, batch: Batch) -> Batch:
        """Charges the persons of rows, and returns the charged rows; others are rejected, or all refused. Call it under a seal.

        Raises:
            RefusedError: With `strict`, someone would exceed the cap. The message names rows.
        """
        if self.strict and batch.rejected:
            return batch  # nothing of it will be sent
        charged = self.ledger.charge(self.people(batch), self.use, self.cap, job_rows=self.job_rows(batch), all_or_none=self.strict)
        if self.strict:
            self.refuse(_without(batch, charged), f"nothing of theirs was sent; {int(batch.rows[0]) - 1:,} rows before them are processed")
        reason = f"would raise this person's total epsilon above {self.cap:.12g}"
        rejected = [RejectedRow(row, self.column, reason) for row in _without(batch, charged)]
        return replace(batch.only(np.array(charged, dtype=np.bool_)), rejected=[*batch.rejected, *rejected])

    def trial(self) -> Rehearsal:
        """Returns a dry run, which finds rows above the cap in all batches of an input."""
        return Rehearsal(self, self.ledger.trial(self.use, self.cap))

    def settle(self) -> None:
        """Marks the job as completed."""
        if self.job:
            self.ledger.settle(self.job)

    def people(self, batch: Batch) -> list[bytes]:
        """Returns the hashes of a batch's persons."""
        return [self.ledger.hashed(person) for person in batch.people]

    def job_rows(self, batch: Batch) -> JobRows | None:
        """Returns a batch's place in the job."""
        return JobRows(self.job, batch.rows.tolist()) if self.job else None

    def refuse(self, rows: list[int], state: str) -> None:
        """Raises RefusedError if there are any rows."""
        if rows:
            listed = ", ".join(f"{row:,}" for row in rows[:_LISTED])
            more = f" and {len(rows) - _LISTED:,} more" if len(rows) > _LISTED else ""
            these = f"row{'s' if len(rows) > 1 else ''} {listed}{more}"
            raise RefusedError(f"{these}: with this survey these persons' total epsilon would exceed person_cap, {self.cap:.12g}; {state}")


@dataclass(frozen=True)
class Rehearsal:
    """Dry run over batches: charges no one, and collects the rows whose persons would exceed the cap."""

    account: Account
    trial: Trial
    rows_above_cap: list[int] = field(default_factory=list)

    def __call__(self, batch: Batch) -> Batch:
        """Notes the rows of a batch above the cap, and returns the batch."""
        self.rows_above_cap.extend(_without(batch, self.trial(self.account.people(batch), self.account.job_rows(batch))))
        return batch

    def refuse(self) -> None:
        """Raises RefusedError if a person would exceed the cap."""
        self.account.refuse(self.rows_above_cap, "nothing was sent")


def charge_one(ledger: Ledger, person: bytes, use: Use, cap: float) -> None:
    """Charges one person, by hash. Raises RefusedError above the cap."""
    if not ledger.charge([person], use, cap)[0]:
        raise RefusedError(f"with this survey, this person's total epsilon would exceed person_cap, {cap:.12g}; nothing was sent")


def _without(batch: Batch, charged: list[bool]) -> list[int]:
    return [row for row, fits in zip(batch.rows.tolist(), charged, strict=True) if not fits]
