"""One thing at a time is done in the background: sending, while the next rows are read and perturbed."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from types import TracebackType
from typing import Self


class InBackground:
    """Does what it is given in a thread, one after the other; whoever leaves waits for it, unless an interrupt is why.

    What is left to itself then goes on to its end, or ends with the process: what it is about to send is in the outbox, and safe there.
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
        """Begins something, once what was begun before is done. Raises what that raised."""
        self.wait()
        self._thread = Thread(target=self._do, args=(work,), daemon=True, name="deniable-sender")
        self._thread.start()

    def wait(self) -> None:
        """Until nothing is under way. Raises what it raised, once."""
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
