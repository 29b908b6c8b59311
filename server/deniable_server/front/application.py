"""RSGI application for granian: collects a request and passes it to a thread, without blocking the event loop."""

from __future__ import annotations

import asyncio
from typing import Any

from flask import Flask
from granian._granian import RSGIHTTPProtocol
from granian.rsgi import Scope
from werkzeug.exceptions import HTTPException, ServiceUnavailable

from deniable_server.front import direct, gateway
from deniable_server.front.bodies import RESPONDENTS_MEMORY, Bodies, stream
from deniable_server.front.gateway import Environ, GatewayReply, Sent
from deniable_server.front.public_pages import PageVisit, PublicPages
from deniable_server.front.workers import RestingWorkers, Workers
from deniable_server.web.lanes import READING, Lane, lane_of
from deniable_server.web.limits import SMALL, most_bytes_of
from deniable_server.web.offload import GONE, Gone

READY_SECONDS = 2.0  # until the database must answer
HOLD_SECONDS = 1.0  # delay of a "too many requests" reply, which costs no thread and slows clients that retry at once
POLL_SECONDS = 0.02
FLUSH_SECONDS = 0.25  # until granian's thread, which gives no signal, has passed a reply to the system, even on a busy machine
OPENED_SECONDS = 10.0  # until granian has opened a file to send, which then needs no name any more
STOPPING = "the server is about to stop; nothing was stored, send the same again later"
ALIVE = "/healthz"
READY = "/readyz"
COMPUTATIONS = 2  # at a time


class Front:
    """Answers the requests to `host` and `port` with the application `app`.

    Each lane has its own threads, and respondents' bodies have their own memory. Respondents' writing requests wait for the database's
    writer; their reading requests have other threads and do not.
    """

    def __init__(self, app: Flask, backend: direct.SubmissionBackend, host: str, port: int) -> None:
        self._app = app
        self._base = gateway.base_environ(host, port)
        self._bodies, self._others_bodies = Bodies(RESPONDENTS_MEMORY), Bodies()
        self._writing = Workers("writing", threads=16, waiting=512, lane=Lane.RESPONDENTS)
        self._reading = Workers("reading", threads=8, waiting=256, lane=Lane.RESPONDENTS)
        self._lanes = {
            Lane.BULK: Workers("bulk", threads=4, waiting=64, lane=Lane.BULK),
            Lane.RESEARCHERS: Workers("researchers", threads=8, waiting=128, lane=Lane.RESEARCHERS),
            Lane.COMPUTING: Workers("computing", threads=COMPUTATIONS, waiting=64, lane=Lane.COMPUTING),
        }
        self._strangers = {lane: RestingWorkers("strangers", 8, 128, lane) for lane in (Lane.RESPONDENTS, Lane.RESEARCHERS)}
        self._sent: set[Sent] = set()
        self._open = 0  # requests that are not answered yet
        self._stopping = False
        self._direct = direct.Direct(app, backend, self._base, self._reading)
        self._pages = PublicPages(app, self._base, self._reading)
        alive = {**self._base, "REQUEST_METHOD": "GET", "PATH_INFO": ALIVE, "QUERY_STRING": "", "SERVER_PROTOCOL": "HTTP/1.1"}
        self._alive = gateway.call(app, alive)

    async def __rsgi__(self, scope: Scope, proto: RSGIHTTPProtocol) -> None:
        """Answers one request."""
        if scope.path == ALIVE and scope.method in READING[:2]:
            _send(self._alive, proto)  # even if all threads are busy and the database is gone
            return
        headers = scope.headers.items()
        self._open += 1
        try:
            if plain := direct.plain(scope, headers):
                reply = await self._take(*plain, scope, proto)
            elif visit := self._pages.visit(scope, headers):
                reply = await self._show(visit, gateway.environ_of(scope, headers, self._base), proto)
            else:
                reply = await self._answer(gateway.environ_of(scope, headers, self._base), proto)
            if reply and reply.file:
                self._sent.add(reply.file)
                asyncio.get_running_loop().call_later(OPENED_SECONDS, self._forget, reply.file)
            elif reply:
                await asyncio.sleep(HOLD_SECONDS)
                _send(reply, proto)
        except HTTPException as error:
            environ = gateway.environ_of(scope, headers, self._base)
            if isinstance(error, ServiceUnavailable):
                await self._drop(environ, proto)
            _send(gateway.refuse(self._app, environ, error), proto)
        finally:
            self._open -= 1

    async def finish(self, seconds: float) -> bool:
        """Accepts no more requests and waits for those in progress. Incomplete bodies are refused with "try again later".

        Returns:
            False if requests are still in progress after `seconds`.
        """
        self._stopping = True
        self._bodies.stop()
        self._others_bodies.stop()
        try:
            async with asyncio.timeout(seconds):
                while self._open:
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            return False
        finally:
            for file in tuple(self._sent):
                self._forget(file)
        await asyncio.sleep(FLUSH_SECONDS)
        return True

    def _forget(self, file: Sent) -> None:
        """Deletes the name of a file that is being sent or was sent."""
        self._sent.discard(file)
        file.close()

    async def _answer(self, environ: Environ, proto: RSGIHTTPProtocol) -> GatewayReply | None:
        """Sends the reply. Returns one that must be delayed instead, or whose file must be closed."""
        if self._stopping:
            raise ServiceUnavailable(STOPPING)
        if environ["PATH_INFO"] == READY:
            await self._ready(environ, proto)
            return None
        lane = lane_of(self._app, environ)
        workers = self._workers(lane, environ)
        bodies = self._bodies if lane is Lane.RESPONDENTS else self._others_bodies
        length = _length(environ)
        if length is None or length > SMALL:
            return await self._large(environ, proto, length, workers, bodies)
        body = await bodies.collect_small(proto, length) if length else b""
        whole = gateway.with_body(environ, body)
        if lane is Lane.COMPUTING:
            return await self._unless_gone(whole, proto, workers)
        return await workers.run(gateway.answer, self._app, whole, proto)

    async def _show(self, visit: PageVisit, environ: Environ, proto: RSGIHTTPProtocol) -> GatewayReply | None:
        """Sends a page from the cache, or else as `_answer` does. Such a page needs no body, so a large one is dropped."""
        if self._stopping:
            raise ServiceUnavailable(STOPPING)
        reply = await self._pages.reply(visit)
        if reply is None:
            return await self._answer(environ, proto)
        length, headers = _length(environ), reply.headers
        if length is None or length > SMALL:
            await self._drop(environ, proto)
            headers = [*headers, ("Connection", "close")]
        elif length:
            await self._bodies.collect_small(proto, length)
        proto.response_bytes(reply.status, headers, reply.body)
        return None

    async def _unless_gone(self, environ: Environ, proto: RSGIHTTPProtocol, workers: Workers) -> GatewayReply | None:
        """Sends the reply while its client is connected. When the client disconnects, the work is cancelled."""
        gone = environ[GONE] = Gone()
        answer = asyncio.ensure_future(workers.run(gateway.answer, self._app, environ, proto))
        leaving = asyncio.ensure_future(proto.client_disconnect())
        await asyncio.wait({answer, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            leaving.cancel()
            return answer.result()
        gone.set()
        answer.cancel()
        return None

    def _workers(self, lane: Lane, environ: Environ) -> Workers:
        """Returns the threads for a request. Those that anyone can send, without a session or a credential, have threads that rest."""
        reads = environ["REQUEST_METHOD"] in READING
        if lane in self._strangers and reads and "HTTP_COOKIE" not in environ and "HTTP_AUTHORIZATION" not in environ:
            return self._strangers[lane]
        if lane is Lane.RESPONDENTS:
            return self._reading if reads else self._writing
        return self._lanes[lane]

    async def _take(self, survey_id: str, length: int, scope: Scope, proto: RSGIHTTPProtocol) -> GatewayReply | None:
        """Sends the reply to a plain submission, as `_answer` does."""
        if self._stopping:
            raise ServiceUnavailable(STOPPING)
        body = await self._bodies.collect_small(proto, length)
        try:
            reply = await self._direct.take(survey_id, body)
        except Exception as error:  # the application words the reply to every error
            environ = gateway.environ_of(scope, scope.headers.items(), self._base)
            return await self._writing.run(gateway.explain, self._app, gateway.with_body(environ, body), error, proto)
        _send(reply, proto)
        return None

    async def _large(
        self, environ: Environ, proto: RSGIHTTPProtocol, length: int | None, workers: Workers, bodies: Bodies
    ) -> GatewayReply | None:
        """Answers a request whose body may be too long. The application sets the limit, and refuses a longer body.

        The rest of a refused body is read and dropped first, since otherwise its client might lose the reply.
        """
        most = await workers.run(most_bytes_of, self._app, environ)
        if length is not None and length > most:
            reply = await workers.run(gateway.call, self._app, environ)
            await self._drop(environ, proto)
            proto.response_bytes(reply.status, [*reply.headers, ("Connection", "close")], reply.body)
            return None
        with bodies.room(most if length is None else length):
            chunks = stream(proto)
            whole = gateway.with_body(dict(environ), await bodies.collect(chunks, length, most))  # the only reference to the body
            if int(whole["CONTENT_LENGTH"]) > most:
                await bodies.drop(chunks, length)
            async with bodies.turn(int(whole["CONTENT_LENGTH"])):
                if workers is self._lanes[Lane.COMPUTING]:
                    return await self._unless_gone(whole, proto, workers)
                return await workers.run(gateway.answer, self._app, whole, proto)

    async def _drop(self, environ: Environ, body: Any) -> None:
        """Reads the rest of a refused body, except that a client that sent `Expect` is refused before it sends."""
        if "HTTP_EXPECT" not in environ:
            await self._bodies.drop(body, _length(environ))

    async def _ready(self, environ: Environ, proto: RSGIHTTPProtocol) -> None:
        try:
            async with asyncio.timeout(READY_SECONDS):
                reply = await self._reading.run(gateway.call, self._app, environ)
        except TimeoutError:
            raise ServiceUnavailable(f"the database does not answer within {READY_SECONDS:.0f} seconds") from None
        _send(reply, proto)


def _length(environ: Environ) -> int | None:
    """Returns the length of a request's body in bytes; None for a chunked one."""
    if "CONTENT_LENGTH" in environ:
        return int(environ["CONTENT_LENGTH"])
    return None if "HTTP_TRANSFER_ENCODING" in environ else 0


def _send(reply: GatewayReply, proto: RSGIHTTPProtocol) -> None:
    proto.response_bytes(reply.status, reply.headers, reply.body)
