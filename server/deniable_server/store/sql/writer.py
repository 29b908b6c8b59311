"""Group commit: one thread writes, and requests that arrive together are committed together.

A commit costs an fsync, so one commit for each request would make the disk the limit. Jobs that arrive during a commit share
the next one, and their callers get their results when it is on the disk. No wait is long: if another program occupies
the database, or a long job the writer, a job that did not start in time is cancelled.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from deniable_server.store.errors import StoreError, UnavailableError, busy
from deniable_server.store.protocol import WAIT_SECONDS
from deniable_server.store.sql.connection import Connection

T = TypeVar("T")
MOST_JOBS = 512
IDLE_SECONDS = 0.2
MOST_COMMITS = 256  # until the traces of their order are removed, even if the writer is never idle
BUSY_SECONDS = 2.5  # until another program must release the database
ATTEMPTS = 3


class MemoryState(Protocol):
    """State in memory beside the database: read at the beginning of each commit, written at its end."""

    def refresh(self, connection: Connection) -> None:
        """Reads changes of other processes, at the beginning of a commit."""

    def settle(self, connection: Connection) -> None:
        """Writes changes, at the end of a commit."""

    def forget(self) -> None:
        """Discards the state after a failed commit."""


class Engine(Protocol):
    """Write access to one kind of database."""

    @property
    def errors(self) -> type[Exception]:
        """Base class of the errors that its connections raise."""

    def connect(self) -> Connection:
        """Opens the connection for writing."""

    def begin(self, connection: Connection) -> None:
        """Begins a transaction that excludes other writers."""

    def commit(self, connection: Connection) -> None:
        """Commits the transaction; when this returns, it survives a power cut."""

    def recovered(self, connection: Connection) -> Connection:
        """Returns a connection without a transaction after an error: this one, or a new one if it is lost."""

    def passes(self, error: Exception) -> bool:
        """Returns whether a failed transaction stored nothing and may succeed if it is retried."""

    def tidy(self, connection: Connection) -> bool:
        """Removes traces of the order of commits, while no job runs. Returns False if it must be retried."""

    def explain(self, error: Exception) -> StoreError:
        """Returns the error to raise to the caller of a failed request."""


@dataclass
class _Job:
    work: Callable[[Connection], Any]
    alone: bool = False
    undone: bool = True  # if it fails; a job that only reads has nothing to undo
    before: Callable[[], None] | None = None
    done: Future[Any] = field(default_factory=Future)


class Writer:
    """A thread that runs jobs on one connection."""

    def __init__(self, engine: Engine, books: MemoryState) -> None:
        self._jobs: queue.Queue[_Job | None] = queue.Queue()
        self._engine, self._books = engine, books
        self._commits = 0  # since it was last tidied
        self._door, self._open = threading.Lock(), True
        self._connection = engine.connect()
        self._thread = threading.Thread(target=self._run, name="deniable-writer", daemon=True)
        self._thread.start()

    def run(self, work: Callable[[Connection], T]) -> T:
        """Runs `work` inside a transaction and returns its result once that is durable.

        An exception of `work` undoes only its own changes and is raised here.

        Raises:
            FullError, UnavailableError: The commit failed, which undoes every job in it.
            BusyError: The job did not start within WAIT_SECONDS.
        """
        result: T = self._wait(_Job(work))
        return result

    def begin(self, work: Callable[[Connection], T], before: Callable[[], None] | None = None) -> Future[T]:
        """Queues `work`, which must only execute queries, and returns a future with what `run` would return or raise.

        Args:
            work: The job. If its future is cancelled before its turn, it does not run.
            before: Called at its turn, before the transaction begins; it may wait a moment.
        """
        job = _Job(work, undone=False, before=before)
        self._put(job)
        return job.done

    def run_alone(self, work: Callable[[Connection], T]) -> T:
        """Runs `work` outside any transaction, as VACUUM requires."""
        result: T = self._wait(_Job(work, alone=True))
        return result

    def close(self) -> None:
        """Finishes the queued jobs, then stops."""
        self._jobs.put(None)
        self._thread.join()

    def _wait(self, job: _Job) -> Any:
        self._put(job)
        try:
            return job.done.result(WAIT_SECONDS)
        except TimeoutError:
            if job.done.cancel():
                raise busy() from None
        return job.done.result()

    def _put(self, job: _Job) -> None:
        with self._door:  # no job is queued after the queue is closed
            if not self._open:
                raise UnavailableError("the store is closed")
            self._jobs.put(job)

    def _run(self) -> None:
        try:
            while (batch := self._next_batch()) is not None:
                batch = [job for job in batch if job.done.set_running_or_notify_cancel()]
                if batch and batch[0].alone:
                    self._settle(batch[0])
                elif batch:
                    self._commit(batch)
        finally:
            with self._door:
                self._open = False
            if self._commits:  # else it would stop other writers for nothing
                self._tidy()
            self._connection.close()
            while not self._jobs.empty():
                if (job := self._jobs.get()) and job.done.set_running_or_notify_cancel():
                    job.done.set_exception(UnavailableError("the store is closed"))

    def _next_batch(self) -> list[_Job] | None:
        """Returns the jobs of the next commit, all of the queue; None when the writer must stop."""
        if self._commits >= MOST_COMMITS:
            self._tidy()
        try:
            job = self._jobs.get(timeout=IDLE_SECONDS if self._commits else None)
        except queue.Empty:
            self._tidy()
            return []
        batch: list[_Job] = []
        while job is not None and not job.alone:
            batch.append(job)
            if job.before:
                job.before()
            if len(batch) == MOST_JOBS or self._jobs.empty():
                return batch
            job = self._jobs.get()
        if not batch:
            return None if job is None else [job]
        self._jobs.put(job)  # after these: the stop, or a job that must run alone
        return batch

    def _commit(self, batch: list[_Job]) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                outcomes = self._attempt(batch)
                break
            except Exception as error:
                self._books.forget()
                self._recover()
                if attempt == ATTEMPTS or not self._engine.passes(error):
                    for job in batch:
                        job.done.set_exception(self._engine.explain(error) if isinstance(error, self._engine.errors) else error)
                    return
        self._commits += 1
        for job, result, failure in outcomes:
            if failure is None:
                job.done.set_result(result)
            else:
                job.done.set_exception(failure)

    def _attempt(self, batch: list[_Job]) -> list[tuple[_Job, Any, BaseException | None]]:
        self._engine.begin(self._connection)
        self._books.refresh(self._connection)
        outcomes = [(job, *self._outcome(job)) for job in batch]
        self._books.settle(self._connection)
        self._engine.commit(self._connection)
        return outcomes

    def _outcome(self, job: _Job) -> tuple[Any, BaseException | None]:
        """Runs one job of a commit in a savepoint. Raises a database error, since it may have undone everything."""
        connection = self._connection
        if job.undone:
            connection.execute("SAVEPOINT job")
        try:
            result, failure = job.work(connection), None
        except self._engine.errors:
            raise
        except Exception as error:
            if job.undone:
                connection.execute("ROLLBACK TO job")
            result, failure = None, error
        if job.undone:
            connection.execute("RELEASE job")
        return result, failure

    def _settle(self, job: _Job) -> None:
        try:
            job.done.set_result(job.work(self._connection))
        except self._engine.errors as error:
            self._recover()
            job.done.set_exception(self._engine.explain(error))
        except Exception as error:
            job.done.set_exception(error)

    def _recover(self) -> None:
        """Replaces the connection with one without a transaction: the same, or a new one if it is lost."""
        self._connection = self._engine.recovered(self._connection)

    def _tidy(self) -> None:
        try:
            done = self._engine.tidy(self._connection)
        except self._engine.errors:
            done = False
        self._commits = 0 if done else 1


class NoWriter(Writer):
    """The writer of a read-only process: it refuses every job."""

    def __init__(self) -> None:
        """Creates the writer without a thread."""

    def _put(self, job: _Job) -> None:
        raise UnavailableError("this process only reads the database")

    def close(self) -> None:
        """Ends the writer, which has no thread to stop."""
