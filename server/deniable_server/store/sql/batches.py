"""Batches: selects the waiting submissions of a part to count, so that observers see at least a batch of records arrive at once.

A batch is counted only while another full batch keeps waiting. Therefore the submissions that are counted when the survey
closes are a full batch, too. The submissions that stay are drawn at random each time; waiting submissions have no order.
"""

from __future__ import annotations

import secrets
import struct
from collections.abc import Sequence
from typing import TypeVar

from deniable_server.store.sql.waiting import Waiting

T = TypeVar("T")


def take(batch: int, waiting: Waiting) -> Waiting:
    """Removes and returns the submissions to count now, of a part whose survey is open.

    A submission as large as a batch is counted at once and alone: its records stay together, so they would hide no others.
    Withdrawn records leave the counts together with arriving ones, or as a batch by themselves.

    Args:
        batch: The batch size in records.
        waiting: The part's waiting submissions. The result is removed from it.
    """
    whole = [id_ for id_, records in waiting.arrived.items() if records.count >= batch]
    single = [(id_, records.count) for id_, records in waiting.arrived.items() if records.count < batch]
    due = Waiting({id_: waiting.arrived.pop(id_) for id_ in [*whole, *beyond_a_batch(single, batch)]})
    if due.arrived or sum(records.count for records in waiting.withdrawn.values()) >= batch:
        due.withdrawn, waiting.withdrawn = waiting.withdrawn, {}
    return due


def beyond_a_batch(waiting: Sequence[tuple[T, int]], batch: int) -> list[T]:
    """Returns all but a batch of the waiting entries, drawn at random, if the returned ones make a batch too; otherwise nothing.

    Args:
        waiting: Ids or codes with their numbers of records.
        batch: The batch size in records.
    """
    if sum(count for _, count in waiting) < 2 * batch:
        return []
    remaining, removed = 0, []
    for entry, count in in_random_order(waiting):
        if remaining >= batch:
            removed.append((entry, count))
        else:
            remaining += count
    return [entry for entry, _ in removed] if sum(count for _, count in removed) >= batch else []


def in_random_order(entries: Sequence[T]) -> list[T]:
    """Returns entries in an unpredictable order: sorted by 16 random bytes each, read from the system in one call."""
    keys = struct.iter_unpack("16s", secrets.token_bytes(16 * len(entries)))
    return [entries[index] for _, index in sorted(zip(keys, range(len(entries)), strict=True))]
