"""Threads that run the application, and how many requests may wait for one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from werkzeug.exceptions import ServiceUnavailable

from deniable_server.web.lanes import Lane, enter

BUSY = "the server has more to do than it can; nothing was stored, send the same again later"
P = ParamSpec("P")
T = TypeVar("T")


class Workers:
    """`threads` threads; beyond `waiting` requests that wait for one of them, the next are told to come back later.

    lane: what the threads serve.
    """

    def __init__(self, name: str, threads: int, waiting: int, lane: Lane) -> None:
        self._pool = ThreadPoolExecutor(threads, f"deniable-{name}", enter, (lane,))
        self._most = threads + waiting
        self.busy = 0  # requests that have a thread or wait for one

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Does `work` in a thread. Raises ServiceUnavailable where too many wait, and what `work` raises.

        Cancelled while it waits for a thread, `work` is not begun.
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
