"""Background thread that sends while the next rows are read and perturbed, one task at a time."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from types import TracebackType
from typing import Self


class BackgroundThread:
    """Runs tasks in a thread, one after the other; leaving waits for the last one, unless because of an interrupt.

    A task left alone ends by itself or with the process: what it sends is safe in the outbox.
    """

    def __init__(self) -> None:
        self._thread: Thread | None = None
        self._error: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None or isinstance(error, Exception):
            self.wait()

    def start(self, work: Callable[[], None]) -> None:
        """Starts a task after the one before has ended. Raises that one's error."""
        self.wait()
        self._thread = Thread(target=self._do, args=(work,), daemon=True, name="deniable-sender")
        self._thread.start()

    def wait(self) -> None:
        """Waits until no task runs. Raises its error, once."""
        if self._thread:
            self._thread.join()
            self._thread = None
        error, self._error = self._error, None
        try:
            if error:
                raise error
        finally:
            error = None

    def _do(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            self._error = error
