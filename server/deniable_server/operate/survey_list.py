"""Entries of the command `list`: states and numbers of all published surveys, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from deniable.wire.part import Mode, Part
from deniable_server.store.protocol import ESTIMATED, Heading, Store

_BY_HAND: tuple[Mode, ...] = ("by_hand",)


def list_entries(store: Store) -> list[dict[str, Any]]:
    """Returns an entry for each survey: its state, the numbers of counted and waiting records, and of spent codes."""
    counts, waiting, codes = store.submissions.all_counts(), store.submissions.all_waiting(), store.invitations.all_counts()
    return [
        _entry(heading, counts.get(heading.id, {}), waiting.get(heading.id, {}), codes.get(heading.id, (0, 0)))
        for heading in store.surveys.headings()
    ]


def _entry(heading: Heading, counts: Mapping[Part, int], waiting: Mapping[Mode, int], codes: tuple[int, int]) -> dict[str, Any]:
    total, spent = codes if heading.access == "invited" else (None, None)
    return {
        **heading.summary,
        "records": _counted(counts, ESTIMATED),
        "by_hand": _counted(counts, _BY_HAND),
        "waiting": sum(waiting.values()),
        "codes_made": total,
        "codes_spent": spent,
    }


def _counted(counts: Mapping[Part, int], modes: Collection[Mode]) -> int:
    return sum(n for part, n in counts.items() if part.mode in modes)
