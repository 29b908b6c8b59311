"""One thread writes; requests that arrive together are committed together.

A commit costs an fsync, so one commit for each request makes the disk the limit. Jobs that wait while a
commit is under way share the next one, and their callers hear back only when it is on the disk. Nobody waits for long: where another
program holds the file, or a long job the writer, a job that was not begun in time is taken back.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from deniable_server.store.errors import FullError, StoreError, UnavailableError

T = TypeVar("T")
MOST_JOBS = 512
IDLE_SECONDS = 0.2
CHECKPOINT_COMMITS = 256
WAIT_SECONDS = 5.0  # for a job's turn
BUSY_SECONDS = 2.5  # for another program to let go of the file


class Books(Protocol):
    """What is kept in memory beside the database: read at the beginning of each commit, written at its end."""

    def refresh(self, connection: sqlite3.Connection) -> None: ...

    def settle(self, connection: sqlite3.Connection) -> None: ...

    def forget(self) -> None: ...


@dataclass
class _Job:
    work: Callable[[sqlite3.Connection], Any]
    alone: bool = False
    done: Future[Any] = field(default_factory=Future)


class Writer:
    """Runs jobs on one connection."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], books: Books) -> None:
        self._jobs: queue.Queue[_Job | None] = queue.Queue()
        self._connect, self._books = connect, books
        self._commits = 0  # since the write-ahead log was last emptied
        self._thread = threading.Thread(target=self._run, name="deniable-writer", daemon=True)
        self._thread.start()

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Does `work` inside a transaction and returns its result once that is durable.

        An exception of `work` undoes its own changes only and is raised here. Raises FullError or
        UnavailableError if the commit failed, which undoes every job in it, or if it was not begun in WAIT_SECONDS.
        """
        result: T = self._wait(_Job(work))
        return result

    def run_alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Does `work` outside any transaction, as VACUUM needs."""
        result: T = self._wait(_Job(work, alone=True))
        return result

    def close(self) -> None:
        """Finishes what was asked before, then stops."""
        self._jobs.put(None)
        self._thread.join()

    def _wait(self, job: _Job) -> Any:
        if not self._thread.is_alive():
            raise UnavailableError("the store is closed")
        self._jobs.put(job)
        try:
            return job.done.result(WAIT_SECONDS)
        except TimeoutError:
            if job.done.cancel():
                raise UnavailableError("the server's database is busy; nothing was kept, send the same again later") from None
        return job.done.result()

    def _run(self) -> None:
        connection = self._connect()
        try:
            while (batch := self._next_batch(connection)) is not None:
                batch = [job for job in batch if job.done.set_running_or_notify_cancel()]
                if batch and batch[0].alone:
                    _settle(batch[0], connection)
                elif batch:
                    self._commit(connection, batch)
        finally:
            self._empty_log(connection)
            connection.close()
            while not self._jobs.empty():
                if (job := self._jobs.get()) and job.done.set_running_or_notify_cancel():
                    job.done.set_exception(UnavailableError("the store is closed"))

    def _next_batch(self, connection: sqlite3.Connection) -> list[_Job] | None:
        """The jobs of the next commit: all that wait now; None when the writer is to stop."""
        if self._commits >= CHECKPOINT_COMMITS:
            self._empty_log(connection)
        try:
            job = self._jobs.get(timeout=IDLE_SECONDS if self._commits else None)
        except queue.Empty:
            self._empty_log(connection)
            return []
        batch: list[_Job] = []
        while job is not None and not job.alone:
            batch.append(job)
            if len(batch) == MOST_JOBS or self._jobs.empty():
                return batch
            job = self._jobs.get()
        if not batch:
            return None if job is None else [job]
        self._jobs.put(job)  # after these: the stop, or a job that needs to be alone
        return batch

    def _commit(self, connection: sqlite3.Connection, batch: list[_Job]) -> None:
        outcomes: list[tuple[_Job, Any, BaseException | None]] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            self._books.refresh(connection)
            for job in batch:
                outcomes.append((job, *_attempt(job, connection)))
            self._books.settle(connection)
            connection.execute("COMMIT")
        except Exception as error:
            self._books.forget()
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            for job in batch:
                job.done.set_exception(explain(error) if isinstance(error, sqlite3.Error) else error)
            return
        self._commits += 1
        for job, result, failure in outcomes:
            if failure is None:
                job.done.set_result(result)
            else:
                job.done.set_exception(failure)

    def _empty_log(self, connection: sqlite3.Connection) -> None:
        """Moves the write-ahead log into the database and cuts it to nothing: it shows the order of commits."""
        try:
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error:
            busy = 1
        self._commits = 1 if busy else 0


def explain(error: sqlite3.Error) -> StoreError:
    """What an error of the database means to whoever sent the request."""
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
        return FullError("the server's disk is full; nothing was kept, send the same again later")
    return UnavailableError("the server's database cannot be used now; nothing was kept, send the same again later")


def _attempt(job: _Job, connection: sqlite3.Connection) -> tuple[Any, BaseException | None]:
    """Runs one job of a commit in a savepoint. A database error is raised, since it may have undone everything."""
    connection.execute("SAVEPOINT job")
    try:
        result, failure = job.work(connection), None
    except sqlite3.Error:
        raise
    except Exception as error:
        connection.execute("ROLLBACK TO job")
        result, failure = None, error
    connection.execute("RELEASE job")
    return result, failure


def _settle(job: _Job, connection: sqlite3.Connection) -> None:
    try:
        job.done.set_result(job.work(connection))
    except sqlite3.Error as error:
        job.done.set_exception(explain(error))
    except Exception as error:
        job.done.set_exception(error)
