"""Queue of single incoming records: the writer commits all queued records together.

A commit costs the same for one record as for thirty. If several were in the last commit, the next commit waits for as many, since
their senders will soon send again. It waits no longer than the last commit took, and at most LONGEST; a lone record does not wait.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from deniable.wire.submission import Submission
from deniable_server.store.errors import StoreError, UnavailableError
from deniable_server.store.protocol import Notify
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.writer import Writer


@dataclass(slots=True, eq=False)
class IncomingSubmission:
    """A submission to a survey, and the callback for its outcome. A future for each submission would take 3 us more."""

    survey: str
    submission: Submission
    notify: Notify


LONGEST = 0.005  # seconds

Admit = Callable[[Connection, Sequence[IncomingSubmission]], list[bool | StoreError]]


class IncomingQueue:
    """The queue.

    Args:
        writer: The writer that commits them.
        admit: Stores submissions in one transaction, and returns the outcome of each, in order.
    """

    def __init__(self, writer: Writer, admit: Admit) -> None:
        self._writer, self._admit = writer, admit
        self._waiting: list[IncomingSubmission] = []
        self._lock = threading.Condition()
        self._last, self._took = 1, 0.0  # of the last commit: how many came, and seconds

    def add(self, arrival: IncomingSubmission) -> None:
        """Queues a submission. Its callback is called in the writer's thread once the outcome is durable, or the commit has failed."""
        with self._lock:
            self._waiting.append(arrival)
            number = len(self._waiting)
            if number == self._last:
                self._lock.notify()
        if number == 1:
            self._begin_commit()

    def cancel(self, arrival: IncomingSubmission) -> bool:
        """Removes a submission from the queue. Returns whether it was still there; then its callback is not called."""
        with self._lock:
            if arrival not in self._waiting:
                return False
            self._waiting.remove(arrival)
        return True

    def _gather(self) -> None:
        """Waits for as many submissions as the last commit had. Called in the writer's thread before a commit."""
        with self._lock:
            self._lock.wait_for(lambda: len(self._waiting) >= self._last, min(self._took, LONGEST))

    def _begin_commit(self) -> None:
        batch: list[IncomingSubmission] = []
        started = 0.0

        def work(connection: Connection) -> list[bool | StoreError]:
            nonlocal started
            if not batch:  # else the transaction is retried
                started = time.monotonic()
                batch.extend(self._take())
            return self._admit(connection, batch)

        def notify_all(turn: Future[list[bool | StoreError]]) -> None:
            self._last, self._took = max(1, len(batch)), time.monotonic() - started
            failure = turn.exception()
            if failure is not None:
                for each in batch or self._take():
                    each.notify(failure)
                return
            for each, outcome in zip(batch, turn.result(), strict=True):
                each.notify(outcome)

        try:
            self._writer.begin(work, self._gather).add_done_callback(notify_all)
        except UnavailableError as error:  # the store is closed
            for each in self._take():
                each.notify(error)

    def _take(self) -> list[IncomingSubmission]:
        """Takes all submissions out of the queue; they can no longer be cancelled."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        return waiting
