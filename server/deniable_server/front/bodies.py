"""Request bodies on their way in: each has a size limit and a deadline, and all together have a memory limit."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from typing import Any

from granian._granian import RSGIProtocolClosed, RSGIProtocolError
from werkzeug.exceptions import BadRequest, HTTPException, RequestTimeout, ServiceUnavailable

SECONDS = 10.0  # for any body
BYTES_PER_SECOND = 64 << 10  # a body that arrives at least this fast may take longer
HASTE = 1.0  # seconds for a body while the server is stopping
MEMORY = 96 << 20  # bytes of all large bodies together; one of 100,000 records of 256 bytes is 33 MiB
RESPONDENTS_MEMORY = 8 << 20  # bytes of all respondents' bodies together; the largest, a form for coins, has 40 kB
DROPPED = 1 << 20  # bytes of a refused body that are read, so that its client gets the reply: any form has fewer
HUGE = 8 << 20  # bytes: larger bodies are handled one at a time, since their records and the database's copies double their size
_PACE = f"within {SECONDS:.0f} seconds, or at {BYTES_PER_SECOND:,} bytes a second"


async def stream(body: Any) -> AsyncIterator[bytes]:
    """Yields a body's chunks; a reader can stop and continue later, although granian lets a body be read only once."""
    async for chunk in body:
        yield chunk


class Bodies:
    """Collects the bodies of requests. `memory` is the most bytes of large ones together."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._deadlines: set[asyncio.Timeout] = set()
        self._room = memory
        self._turn = asyncio.Semaphore(1)
        self._stopping = False

    async def collect_small(self, body: Any, length: int) -> bytes:
        """Returns a body of the `length` bytes that its header declares; granian accepts no more. Raises as `collect` does."""
        return await self._in_time(lambda _: body(), length)

    async def collect(self, body: Any, length: int | None, most: int) -> bytes:
        """Returns a whole body of `length` bytes, or a chunked one of at most `most` bytes; of a longer one just more than `most`.

        Raises:
            RequestTimeout: It arrives too slowly.
            BadRequest: The client disconnects.
            ServiceUnavailable: The server is about to stop.
        """

        async def read(deadline: asyncio.Timeout) -> bytes:
            whole = io.BytesIO()  # a list of chunks and the joined body would take twice its size
            await self._pass_on(body, whole.write, deadline, length, most)
            return whole.getvalue()

        return await self._in_time(read, length)

    async def drop(self, body: Any, length: int | None) -> None:
        """Reads and discards the rest of a refused body, because browsers send all of it before they read the reply. Raises nothing.

        Args:
            body: Yields its bytes.
            length: Its whole length; None for a chunked body. At most DROPPED bytes of a chunked body are read, nothing of a longer one.
        """

        async def read(deadline: asyncio.Timeout) -> bytes:
            await self._pass_on(body, len, deadline, length, DROPPED)
            return b""

        if length is None or 0 < length <= DROPPED:
            with suppress(HTTPException):
                await self._in_time(read, None)

    async def _pass_on(self, body: Any, take: Callable[[bytes], int], deadline: asyncio.Timeout, length: int | None, most: int) -> None:
        """Passes each chunk of a body to `take`, up to its end or to the first byte over `most`, while it arrives fast enough."""
        size, begun = 0, asyncio.get_running_loop().time()
        async for chunk in body:
            take(chunk)
            size += len(chunk)
            if size == length or size > most:
                break
            if not self._stopping:
                deadline.reschedule(begun + SECONDS + size / BYTES_PER_SECOND)

    async def _in_time(self, read: Callable[[asyncio.Timeout], Awaitable[bytes]], length: int | None) -> bytes:
        try:
            async with asyncio.timeout(HASTE if self._stopping else SECONDS) as deadline:
                self._deadlines.add(deadline)
                try:
                    whole = await read(deadline)
                finally:
                    self._deadlines.discard(deadline)
        except TimeoutError:
            if self._stopping:
                raise ServiceUnavailable("the server is about to stop; nothing was stored, send the same again later") from None
            raise RequestTimeout(f"the body must arrive {_PACE}; nothing was stored, send the same again") from None
        except (asyncio.CancelledError, RSGIProtocolClosed, RSGIProtocolError):  # granian's errors for a client that has disconnected
            raise BadRequest("the body must be sent to its end") from None
        if length is not None and len(whole) != length:
            raise BadRequest("the body must have the length that the request declared")
        return whole

    @contextmanager
    def room(self, size: int) -> Iterator[None]:
        """Reserves memory for a large body until it is handled. Raises ServiceUnavailable if there is not enough."""
        if size > self._room:
            raise ServiceUnavailable("the server holds too many large bodies now; nothing was stored, send the same again later")
        self._room -= size
        try:
            yield
        finally:
            self._room += size

    def turn(self, size: int) -> AbstractAsyncContextManager[None]:
        """Returns a lock under which only one body of HUGE bytes or more is handled at a time."""
        return self._turn if size >= HUGE else nullcontext()

    def stop(self) -> None:
        """Stops waiting for bodies."""
        self._stopping = True
        for deadline in self._deadlines:
            deadline.reschedule(0)
