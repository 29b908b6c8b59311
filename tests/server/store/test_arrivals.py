"""Records that come one by one are kept together, and each hears what it would have heard alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from queue import Queue
from typing import Any

import pytest
from tests.kit.servers.later import adding, telling
from tests.kit.servers.tallies import recount_of

from deniable.survey import Survey
from deniable.wire.access_codes import submission_id
from deniable.wire.submission import Submission
from deniable_server.store.errors import ConflictError, PausedError, StoreError, UnavailableError, UnknownSurveyError
from deniable_server.store.protocol import Store
from deniable_server.store.sql import incoming
from deniable_server.store.sql.incoming import IncomingQueue, IncomingSubmission

Make = Callable[..., Submission]


@contextmanager
def together(store: Any) -> Iterator[None]:
    """What comes meanwhile waits for the writer, which takes it in one turn."""
    begun, hold = threading.Event(), threading.Event()
    store.database.writer.begin(lambda connection: begun.set() or hold.wait(60))
    assert begun.wait(60)
    try:
        yield
    finally:
        hold.set()


class Counting:
    """A connection that notes its statements."""

    def __init__(self, connection: Any) -> None:
        self.connection, self.statements = connection, []

    def execute(self, statement: str, *values: Any) -> Any:
        self.statements.append(statement)
        return self.connection.execute(statement, *values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)


def statements_for(store: Any, made: list[Submission]) -> int:
    """How many statements the writer executes for submissions that come together."""
    writer = store.database.writer
    with together(store):
        told = [adding(store, "study", each) for each in made]
        counting = writer._connection = Counting(writer._connection)
    assert [each.result(60) for each in told] == [True] * len(made)
    store.invitations.add("study", [])  # the commit is over, and so are its notes
    writer._connection = counting.connection
    first = next(at for at, statement in enumerate(counting.statements) if "FROM submissions WHERE id IN" in statement)
    return len([statement for statement in counting.statements[first:] if "intake" in statement or "submissions" in statement])


def test_thirty_are_looked_up_by_as_many_statements_as_one(store: Any, submissions: Make) -> None:
    store.database.rewriting.stop()  # its statements would come between
    for _ in range(9):
        store.submissions.add("study", submissions())
    tenth = statements_for(store, [submissions()])
    assert statements_for(store, [submissions() for _ in range(30)]) == tenth  # each reaches a step of ten, where a survey may be full


def test_each_of_many_hears_what_it_would_hear_alone(store: Store, survey: Survey, submissions: Make) -> None:
    secret, kept = bytes(range(15)), submissions()
    assert store.submissions.add("study", kept)
    store.submissions.withdraw("study", submission_id(secret))
    paused = Survey.from_dict({**survey.to_dict(), "id": "paused"})
    store.surveys.publish(paused)
    store.surveys.pause("paused", True)
    new, again = submissions(), submissions()
    cases = [
        *(("study", new), ("study", kept), ("study", again), ("study", again), ("study", replace(kept, id=new.id, mode="organisation"))),
        *(("study", replace(kept, mode="organisation")), ("study", submissions(id_=submission_id(secret)))),
        *(("nowhere", submissions()), ("paused", submissions(to=paused)), ("study", submissions())),
    ]
    with together(store):
        told = [adding(store, *each) for each in cases]
    outcomes = [each.exception(60) or each.result() for each in told]
    assert [outcome if isinstance(outcome, bool) else type(outcome) for outcome in outcomes] == [
        *(True, False, True, False, ConflictError),
        *(ConflictError, ConflictError),
        *(UnknownSurveyError, PausedError, True),
    ]
    store.surveys.set_open("study", False)
    assert recount_of(store, "study").n == 4


def test_a_commit_that_is_tried_again_keeps_the_same_ones_and_tells_each_once(
    store: Any, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, failed = store.database, []
    commit, errors = database.commit, database.errors

    def fails_once(connection: Any) -> None:
        if not store.submissions._arrivals._waiting and not failed:
            failed.append(adding(store, "study", later))  # which is for the next turn
            raise errors("lost")
        commit(connection)

    made, later, heard = [submissions() for _ in range(3)], submissions(), []
    with together(store):
        told = [adding(store, "study", each) for each in made]
        for each in told:
            each.add_done_callback(lambda done: heard.append(done.result()))
        monkeypatch.setattr(database, "commit", fails_once)
        monkeypatch.setattr(database, "passes", lambda error: True)
    assert [each.result(60) for each in told] == [True] * 3
    assert [each.result(60) for each in failed] == [True]
    assert heard == [True] * 3
    store.surveys.set_open("study", False)
    assert recount_of(store, "study").n == 4


def test_a_commit_that_fails_is_told_to_all_of_them(store: Any, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with together(store):
        told = [adding(store, "study", submissions()) for _ in range(3)]
        failing = store.database.errors("lost")

        commit = store.database.commit

        def fail(connection: Any) -> None:
            if not store.submissions._arrivals._waiting and not told[0].done():  # theirs
                raise failing
            commit(connection)

        monkeypatch.setattr(store.database, "commit", fail)
        monkeypatch.setattr(store.database, "passes", lambda error: False)
    assert [type(each.exception(60)) for each in told] == [UnavailableError] * 3
    store.surveys.set_open("study", False)
    assert recount_of(store, "study").n == 0


class Desk:
    """A writer whose turns come when they are called."""

    def __init__(self) -> None:
        self.turns: list[tuple[Any, Any, Future[Any]]] = []

    def begin(self, work: Any, before: Any) -> Future[Any]:
        self.turns.append((work, before, Future()))
        return self.turns[-1][2]

    def turn(self) -> None:
        work, before, done = self.turns.pop(0)
        before()
        done.set_result(work(None))


def waiting_list() -> tuple[Desk, IncomingQueue, list[int]]:
    """taken: how many were admitted in each turn."""
    desk, taken = Desk(), []

    def admit(_: object, arrived: Any) -> list[bool | StoreError]:
        taken.append(len(arrived))
        return [True] * len(arrived)

    return desk, IncomingQueue(desk, admit), taken  # type: ignore[arg-type]


def test_the_writer_is_asked_once_for_all_that_wait(submissions: Make) -> None:
    desk, waiting, taken = waiting_list()
    one = submissions()
    told = [Future[bool]() for _ in range(9)]
    arrived = [IncomingSubmission("study", one, telling(each)) for each in told]
    for each in arrived:
        waiting.add(each)
    assert waiting.cancel(arrived[4])
    assert len(desk.turns) == 1
    desk.turn()
    assert taken == [8]
    assert not waiting.cancel(arrived[3])
    assert [each.done() for each in told] == [True] * 4 + [False] + [True] * 4


def test_after_several_at_once_the_next_waits_for_as_many_and_never_for_ever(submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "LONGEST", 60.0)
    desk, waiting, taken = waiting_list()
    one = submissions()
    for _ in range(3):
        waiting.add(IncomingSubmission("study", one, print))
    desk.turn()
    waiting._took = 60.0  # a slow disk
    waiting.add(IncomingSubmission("study", one, print))
    turn = threading.Thread(target=desk.turn)
    turn.start()
    waiting.add(IncomingSubmission("study", one, print))
    assert taken == [3]
    waiting.add(IncomingSubmission("study", one, print))
    turn.join()
    assert taken == [3, 3]
    waiting._took = 0.001
    waiting.add(IncomingSubmission("study", one, print))
    desk.turn()  # nobody else comes
    waiting._took = 60.0
    waiting.add(IncomingSubmission("study", one, print))
    desk.turn()  # who comes alone after one who came alone does not wait
    assert taken == [3, 3, 1, 1]


def test_what_comes_when_the_writer_has_looked_for_the_last_time_hears_that_the_store_is_closed(store: Any, submissions: Make) -> None:
    told: list[Future[bool]] = []

    class LastLook(Queue[Any]):
        def empty(self) -> bool:
            nothing = super().empty()
            if nothing and not store.database.writer._open:
                told.append(adding(store, "study", submissions()))
            return nothing

    store.submissions.add("study", submissions())
    jobs = store.database.writer._jobs
    store.database.writer._jobs = LastLook()
    jobs.put(None)  # the writer, who waits at the old one, ends
    store.database.writer._thread.join(60)
    assert len(told) == 1
    with pytest.raises(UnavailableError, match="the store is closed"):
        told[0].result(60)
