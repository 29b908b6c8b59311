"""What is read from the file for the sizes of many groups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.server.store.test_counts import GROUPS, QUESTIONS, filled

from deniable.survey import Survey
from deniable.wire.part import Part
from deniable_server.store.protocol import Store

PAGE = 4096
__all__ = ["filled"]


def bytes_read(store: Store, query: Callable[[], object]) -> int:
    """What a thread reads from the file for a query, with next to no cache of SQLite's."""
    with store.database.reading() as connection:
        connection.execute("PRAGMA cache_size = 0")

    def read() -> int:
        return int(Path("/proc/thread-self/io").read_text().split()[1])

    query()
    before = read()
    query()
    return read() - before


def test_sizes_of_all_groups_are_read_without_their_pairs(filled: tuple[Store, Survey]) -> None:
    store, survey = filled
    assert bytes_read(store, lambda: store.submissions.counts("many")) < GROUPS * 4 * PAGE
    assert store.submissions.counts("many") == {Part(group): 2 for group in survey.groups}


def test_sizes_from_the_tallies_would_be_found_out(filled: tuple[Store, Survey]) -> None:
    store, survey = filled
    pairs = 8 * QUESTIONS * (QUESTIONS + 1) // 2
    assert bytes_read(store, lambda: [store.submissions.tally("many", [Part(group)]).n for group in survey.groups]) > GROUPS * pairs
