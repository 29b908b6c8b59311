"""Thread pool for the application, with a limit on waiting requests."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from werkzeug.exceptions import ServiceUnavailable

from deniable_server.web.lanes import Lane, enter

BUSY = "the server is overloaded; nothing was stored, send the same again later"
REST = 3.0  # seconds for each second of computing
LONGEST_REST = 0.1
P = ParamSpec("P")
T = TypeVar("T")


class Workers:
    """A pool of threads for a lane. When `waiting` requests wait for a thread, further ones are refused with "try again later"."""

    def __init__(self, name: str, threads: int, waiting: int, lane: Lane) -> None:
        self._pool = ThreadPoolExecutor(threads, f"deniable-{name}", enter, (lane,))
        self._most = threads + waiting
        self.busy = 0  # requests that have a thread or wait for one

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `work` in a thread. If it is cancelled before a thread takes it, `work` does not start.

        Raises:
            ServiceUnavailable: Too many requests wait.
        """
        if self.busy >= self._most:
            raise ServiceUnavailable(BUSY)
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[T] = loop.create_future()
        self.busy += 1
        done = self._pool.submit(work, *args, **kwargs)
        done.add_done_callback(lambda done: loop.call_soon_threadsafe(self._settle, waiter, done))
        try:
            return await waiter
        except asyncio.CancelledError:
            done.cancel()
            raise

    def _settle(self, waiter: asyncio.Future[T], done: Future[T]) -> None:
        self.busy -= 1
        if waiter.cancelled() or done.cancelled():
            return
        if failure := done.exception():
            waiter.set_exception(failure)
        else:
            waiter.set_result(done.result())


class RestingWorkers(Workers):
    """Threads for requests that anyone can send. They rest after each request, one at a time, so that submissions keep the interpreter.

    In the long run all of them together compute for a part of the time, `1 / REST`. A thread that waits for something else keeps no other
    from working.
    """

    def __init__(self, name: str, threads: int, waiting: int, lane: Lane) -> None:
        super().__init__(name, threads, waiting, lane)
        self._rest = threading.Lock()

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `work` as `Workers.run` does; the result comes after the rest."""
        return await super().run(self._with_rest(work), *args, **kwargs)

    def _with_rest(self, work: Callable[P, T]) -> Callable[P, T]:
        def resting(*args: P.args, **kwargs: P.kwargs) -> T:
            begin = time.thread_time()
            try:
                return work(*args, **kwargs)
            finally:
                seconds = min(REST * (time.thread_time() - begin), LONGEST_REST)
                with self._rest:
                    time.sleep(seconds)

        return resting
