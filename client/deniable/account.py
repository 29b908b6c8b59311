"""The persons whose answers are sent: the ledger is charged for each before that. They are named by their row, never by their key."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deniable.errors import RefusedError
from deniable.ledger import Ledger, Place, Trial, Use
from deniable.rows import Batch, Rejected

_SHOWN = 20


@dataclass(frozen=True)
class Account:
    """Charges `use` to the persons of rows, whose keys are in `column`, up to `cap`.

    strict: where somebody would come above it, nobody of the batch is charged. job: as `Ledger.job` names it, where the input has a name.
    """

    ledger: Ledger
    use: Use
    cap: float
    column: str
    strict: bool
    job: bytes | None = None

    def charged(self, batch: Batch) -> Batch:
        """The rows whose persons are charged now; the others are rejected, or all refused. Raises RefusedError."""
        people = self._hashed(batch)
        may = self.ledger.charge(people, self.use, self.cap, place=self._place(batch), all_or_none=self.strict)
        if self.strict and not all(may):
            raise RefusedError(_listed([found.row for found in self._above(batch, may)], self.cap, "nothing of theirs was sent"))
        keep = np.array(may, dtype=np.bool_)
        return replace(batch.only(keep), rejected=[*batch.rejected, *self._above(batch, may)])

    def trial(self) -> Trial:
        """For `above`, over all batches of an input."""
        return self.ledger.trial(self.use, self.cap)

    def above(self, batch: Batch, trial: Trial) -> list[int]:
        """The numbers of the rows whose persons would come above the cap, after the batches before."""
        return [found.row for found in self._above(batch, trial(self._hashed(batch), self._place(batch)))]

    def refuse(self, rows: list[int]) -> None:
        """Raises RefusedError where there are any."""
        if rows:
            raise RefusedError(_listed(rows, self.cap, "nothing was sent"))

    def settle(self) -> None:
        """The job is done."""
        if self.job:
            self.ledger.settle(self.job)

    def _hashed(self, batch: Batch) -> list[bytes]:
        return [self.ledger.hashed(person) for person in batch.people]

    def _place(self, batch: Batch) -> Place | None:
        return Place(self.job, batch.rows.tolist()) if self.job else None

    def _above(self, batch: Batch, may: list[bool]) -> list[Rejected]:
        reason = f"would bring what this person has given away above {self.cap:.12g}"
        return [Rejected(row, self.column, reason) for row, fits in zip(batch.rows.tolist(), may, strict=True) if not fits]


def charge_one(ledger: Ledger, person: bytes, use: Use, cap: float) -> None:
    """Charges one person, hashed. Raises RefusedError above the cap."""
    if not ledger.charge([person], use, cap)[0]:
        raise RefusedError(f"with this survey, the sum of epsilon of this person would be above person_cap, {cap:.12g}; nothing was sent")


def _listed(rows: list[int], cap: float, state: str) -> str:
    shown = ", ".join(f"{row:,}" for row in rows[:_SHOWN])
    more = f" and {len(rows) - _SHOWN:,} more" if len(rows) > _SHOWN else ""
    these = f"row{'s' if len(rows) > 1 else ''} {shown}{more}"
    return f"{these}: with this survey the persons' sums of epsilon would be above person_cap, {cap:.12g}; {state}"
