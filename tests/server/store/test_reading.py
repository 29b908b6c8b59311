"""A store that only reads a database which another process writes to; and connections that are respondents' alone."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from tests.kit.patience import PATIENCE
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable.wire.part import Part
from deniable_server.store import open_store
from deniable_server.store.errors import UnavailableError
from deniable_server.store.protocol import Store
from deniable_server.store.reserved import reserve

DEVICE = [Part(None, "device"), Part(None, "organisation")]


def test_a_store_that_only_reads_sees_what_another_one_writes(store: Store, url: str, survey: Survey) -> None:
    reading = open_store(url, writing=False)
    try:
        for number in (1, 2):
            store.submissions.add("study", submission(survey, 100, mode="organisation"))
            assert reading.submissions.tally("study", DEVICE).n == 100 * number
            assert len(b"".join(reading.submissions.reports("study", DEVICE[1]))) == 100 * number * survey.record.bytes
        withdrawn = submission(survey, 100, mode="organisation")
        store.submissions.add("study", withdrawn)
        store.submissions.withdraw("study", withdrawn.id)
        assert reading.submissions.recount("study", DEVICE).to_bytes() == store.submissions.recount("study", DEVICE).to_bytes()
    finally:
        reading.close()


def test_a_store_that_only_reads_refuses_to_write_and_keeps_nothing(store: Store, url: str, survey: Survey) -> None:
    reading = open_store(url, writing=False)
    writes: list[Any] = [
        lambda: reading.surveys.set_open("study", False),
        lambda: reading.submissions.add("study", submission(survey)),
        lambda: reading.submissions.withdraw("study", bytes(16)),
        lambda: reading.drafts.begin("ada", "text"),
    ]
    try:
        for write in writes:
            with pytest.raises(UnavailableError):
                write()
        assert store.surveys.published("study").is_open
        assert store.drafts.listed("ada") == []
    finally:
        reading.close()


def test_connections_that_others_hold_are_none_of_respondents(store: Store) -> None:
    """As many readers as there may be, and more that wait: a respondent's thread reads nevertheless."""
    held, go_on, readers = threading.Semaphore(0), threading.Event(), 8

    def hold() -> None:
        with store.database.reading():  # type: ignore[attr-defined]
            held.release()
            go_on.wait(PATIENCE)

    with ExitStack() as stack:
        others = stack.enter_context(ThreadPoolExecutor(2 * readers))
        respondents = stack.enter_context(ThreadPoolExecutor(1, initializer=reserve))
        stack.callback(go_on.set)
        held_by = [others.submit(hold) for _ in range(readers)]
        for _ in range(readers):
            assert held.acquire(timeout=PATIENCE)
        waiting = [others.submit(lambda: store.surveys.published("study")) for _ in range(readers)]
        assert respondents.submit(lambda: store.surveys.published("study")).result(PATIENCE).is_open
        go_on.set()
        assert all(one.exception(PATIENCE) is None for one in held_by)
        assert all(isinstance(one.exception(PATIENCE), UnavailableError | None) for one in waiting)
