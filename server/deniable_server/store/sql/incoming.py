"""Records that come one by one: the writer is woken for the first of them, and takes all that have come when its turn is there.

A commit costs the same for one as for thirty. So where several came with the last one, the next waits for as many: whoever was told of that
one sends the next soon. It waits no longer than the last one took, and LONGEST; who comes alone does not wait at all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from deniable.wire.submission import Submission
from deniable_server.store.errors import StoreError, UnavailableError
from deniable_server.store.protocol import Tell
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.writer import Writer


@dataclass(slots=True, eq=False)
class Arrival:
    """A submission for a survey, and who hears what becomes of it. A future for each would take 3 us more."""

    survey: str
    submission: Submission
    tell: Tell


LONGEST = 0.005  # seconds

Admit = Callable[[Connection, Sequence[Arrival]], list[bool | StoreError]]


class Arrivals:
    """Those that wait. admit: what the writer does with some of them in one transaction; what came of each, in their order."""

    def __init__(self, writer: Writer, admit: Admit) -> None:
        self._writer, self._admit = writer, admit
        self._waiting: list[Arrival] = []
        self._lock = threading.Condition()
        self._last, self._took = 1, 0.0  # of the last commit: how many came, and seconds

    def add(self, arrival: Arrival) -> None:
        """Tells, in the writer's thread, what `admit` says of it once that is durable, or what the commit failed with."""
        with self._lock:
            self._waiting.append(arrival)
            number = len(self._waiting)
            if number == self._last:
                self._lock.notify()
        if number == 1:
            self._ask_for_a_turn()

    def take_back(self, arrival: Arrival) -> bool:
        """Whether its turn had not come: then it is not admitted, and nobody is told."""
        with self._lock:
            if arrival not in self._waiting:
                return False
            self._waiting.remove(arrival)
        return True

    def _gather(self) -> None:
        """In the writer's thread, before a commit: waits for as many as came with the last one."""
        with self._lock:
            self._lock.wait_for(lambda: len(self._waiting) >= self._last, min(self._took, LONGEST))

    def _ask_for_a_turn(self) -> None:
        taken: list[Arrival] = []
        begun = 0.0

        def work(connection: Connection) -> list[bool | StoreError]:
            nonlocal begun
            if not taken:  # else the transaction is tried again
                begun = time.monotonic()
                taken.extend(self._take())
            return self._admit(connection, taken)

        def tell(turn: Future[list[bool | StoreError]]) -> None:
            self._last, self._took = max(1, len(taken)), time.monotonic() - begun
            failure = turn.exception()
            if failure is not None:
                for each in taken or self._take():
                    each.tell(failure)
                return
            for each, outcome in zip(taken, turn.result(), strict=True):
                each.tell(outcome)

        try:
            self._writer.begin(work, self._gather).add_done_callback(tell)
        except UnavailableError as error:  # the store is closed
            for each in self._take():
                each.tell(error)

    def _take(self) -> list[Arrival]:
        """All that wait; from now on they cannot be taken back."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        return waiting
