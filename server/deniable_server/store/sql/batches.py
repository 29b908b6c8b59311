"""Batches: which waiting submissions of a part are counted now, so that observers see at least a batch of records arrive at once.

A batch is counted only if another batch stays behind, so that the submissions that are counted when the survey closes
are a batch too. Which ones stay is drawn at random each time; waiting submissions have no order.
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
    """Takes out what is to be counted now of a part whose survey is open.

    A submission as large as a batch is counted at once and alone: its records stay together, so they would hide no others.
    Withdrawn records leave the counts together with arriving ones, or as a batch by themselves.

    Returns:
        The submissions and withdrawals to count, or None.
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
    """Returns how many more records a part is known to have after these are counted: a batch, if some waited with others."""
    return survey.batch if any(records.count < survey.batch for records in due.arrived.values()) else 0


def _beyond_a_batch(waiting: Sequence[tuple[T, int]], batch: int) -> list[T]:
    """Returns all but a batch of the waiting things, drawn at random, if the returned ones make a batch too; otherwise nothing.

    Args:
        waiting: Things with their numbers of records.
        batch: The batch size in records.
    """
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
    """Returns things in an unpredictable order: sorted by 16 random bytes each, read from the system in one call."""
    keys = struct.iter_unpack("16s", secrets.token_bytes(16 * len(things)))
    return [things[at] for _, at in sorted(zip(keys, range(len(things)), strict=True))]
