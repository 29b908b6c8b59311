"""What of a part is counted now, and what goes on waiting: whoever looks before and after sees a batch of records come, or more.

A part lets go of a batch only where another one stays behind, so that those who wait when the survey is closed are a batch as well. Which
ones stay is drawn anew each time: what waits has no order, and needs none.
"""

from __future__ import annotations

import secrets
import struct
from collections.abc import Sequence
from typing import TypeVar

from deniable.survey import Survey
from deniable_server.store.sql.waiting import Waiting

T = TypeVar("T")


def take(survey: Survey, waiting: Waiting) -> Waiting | None:
    """Takes out what is to be counted now of a part whose survey is open; None if nothing is.

    A submission of a whole batch is counted at once, and alone: its records would hide no others, since they stand together. Records
    that are to leave the counts do so with others that come, or a batch of them by themselves.
    """
    batch = survey.batch
    whole = [id_ for id_, records in waiting.arrived.items() if records.count >= batch]
    single = [(id_, records.count) for id_, records in waiting.arrived.items() if records.count < batch]
    due = Waiting({id_: waiting.arrived.pop(id_) for id_ in [*whole, *_beyond_a_batch(single, batch)]})
    if due.arrived or sum(records.count for records in waiting.withdrawn) >= batch:
        due.withdrawn, waiting.withdrawn = waiting.withdrawn, []
    due.codes = set(waiting.codes if batch == 1 else _beyond_a_batch([(code, 1) for code in waiting.codes], batch))
    waiting.codes -= due.codes
    return due if due.arrived or due.withdrawn or due.codes else None


def left_behind(survey: Survey, due: Waiting) -> int:
    """How many more records a part is known to have, now that these are counted: a batch, where some have waited with others."""
    return survey.batch if any(records.count < survey.batch for records in due.arrived.values()) else 0


def _beyond_a_batch(waiting: Sequence[tuple[T, int]], batch: int) -> list[T]:
    """Of things and their numbers of records: all but as many as make a batch, if the others make one too; else nothing."""
    if sum(count for _, count in waiting) < 2 * batch:
        return []
    stays, goes = 0, []
    for thing, count in in_any_order(waiting):
        if stays >= batch:
            goes.append((thing, count))
        else:
            stays += count
    return [thing for thing, _ in goes] if sum(count for _, count in goes) >= batch else []


def in_any_order(things: Sequence[T]) -> list[T]:
    """All of them, in an order that nobody can foresee: that of 16 random bytes for each, since every draw asks the system."""
    drawn = struct.iter_unpack("16s", secrets.token_bytes(16 * len(things)))
    return [things[at] for _, at in sorted(zip(drawn, range(len(things)), strict=True))]
