"""Fast path for single-record submissions, without a thread and without Flask; nearly all requests while people answer.

It takes only plain requests: a small JSON body of known length, without an API key, from a page of this site. Flask handles all
other requests and all errors, so that each error message exists once. It also builds the success reply, once at startup.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from flask import Flask, Response
from granian.rsgi import Scope
from werkzeug.exceptions import ServiceUnavailable

from deniable_server.front import gateway
from deniable_server.front.gateway import Environ, GatewayReply
from deniable_server.front.workers import BUSY, Workers
from deniable_server.web.limits import REFUSED, SMALL

MOST = 512  # submissions that may wait for the writer; further ones are refused with "try again later"
PATH = re.compile(r"/api/v1/surveys/([A-Za-z0-9_-]+)/submissions")
_NOT_PLAIN = {"authorization", "content-encoding", "expect", "transfer-encoding"}
_OWN = {"same-origin", "none"}


Outcome = bool | BaseException
"""Whether a submission is new, or the error of a refused one."""


class SubmissionBackend(Protocol):
    """Interface to the validation and storage of submissions."""

    patience: float

    def count(self) -> None:
        """Counts a submission against the rate limit."""

    def survey(self, survey_id: str) -> Any:
        """Returns a survey that was read before, or None."""

    def learn(self, survey_id: str) -> Any:
        """Reads a survey from the database."""

    def take(self, survey: Any, body: bytes, notify: Callable[[Outcome], None]) -> Callable[[], bool]:
        """Begins to store a submission. Returns the function that cancels it."""
        raise NotImplementedError

    def busy(self) -> Exception:
        """Returns the error for a submission that waited too long."""
        raise NotImplementedError

    def accepted(self) -> Response:
        """Returns the reply to a stored submission."""
        raise NotImplementedError


class Direct:
    """Takes submissions for an application. `workers` read surveys from the database first, if necessary."""

    def __init__(self, app: Flask, backend: SubmissionBackend, base: Environ, workers: Workers) -> None:
        self._backend = backend
        self._workers, self._waiting = workers, 0
        self._lock = threading.Lock()
        self._outcomes: list[tuple[asyncio.Future[GatewayReply], Outcome]] = []  # not yet passed to the event loop
        environ = {**base, "REQUEST_METHOD": "POST", "PATH_INFO": "/api/v1/surveys/s/submissions", "QUERY_STRING": ""}
        self._environ = {**environ, "SERVER_PROTOCOL": "HTTP/1.1"}
        self._success = self._success_reply(app)
        self._busy = gateway.call(app, {**self._environ, REFUSED: ServiceUnavailable(BUSY)})

    async def take(self, survey_id: str, body: bytes) -> GatewayReply:
        """Returns the reply once a submission is on the disk, or if too many are waiting. Raises the error of a refused one."""
        self._backend.count()
        survey = self._backend.survey(survey_id)
        if survey is None:
            survey = await self._workers.run(self._backend.learn, survey_id)
        if self._waiting >= MOST:
            return self._busy
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[GatewayReply] = loop.create_future()
        cancel = self._backend.take(survey, body, partial(self._receive, loop, reply))
        self._waiting += 1
        patience = loop.call_later(self._backend.patience, self._time_out, cancel, reply)
        try:
            return await reply
        finally:
            patience.cancel()

    def _receive(self, loop: asyncio.AbstractEventLoop, reply: asyncio.Future[GatewayReply], outcome: Outcome) -> None:
        """Passes an outcome from the writer's thread to the event loop, which is woken once for each commit."""
        with self._lock:
            self._outcomes.append((reply, outcome))
            if len(self._outcomes) > 1:
                return
        loop.call_soon_threadsafe(self._settle)

    def _time_out(self, cancel: Callable[[], bool], reply: asyncio.Future[GatewayReply]) -> None:
        """Cancels a submission that has waited too long, unless it is already being stored."""
        if cancel():
            self._resolve(reply, self._backend.busy())

    def _settle(self) -> None:
        with self._lock:
            outcomes, self._outcomes = self._outcomes, []
        for reply, outcome in outcomes:
            self._resolve(reply, outcome)

    def _resolve(self, reply: asyncio.Future[GatewayReply], outcome: Outcome) -> None:
        self._waiting -= 1
        if reply.cancelled():
            return
        if isinstance(outcome, bool):
            reply.set_result(self._success)
        else:
            reply.set_exception(outcome)

    def _success_reply(self, app: Flask) -> GatewayReply:
        """Returns the reply of success, with all headers that the application adds."""
        with app.request_context(self._environ):
            response: Any = app.process_response(self._backend.accepted())
            return GatewayReply(response.status_code, response.get_wsgi_headers(self._environ).to_wsgi_list(), response.get_data())


def plain(scope: Scope, headers: list[tuple[str, str]]) -> tuple[str, int] | None:
    """Returns the survey's id and the body's length of a plain submission; None for any other request."""
    match = PATH.fullmatch(scope.path) if scope.method == "POST" and not scope.query_string else None
    values = dict(headers)
    if match is None or len(values) != len(headers) or not values.keys().isdisjoint(_NOT_PLAIN):
        return None
    length, site = values.get("content-length", ""), values.get("sec-fetch-site")
    if not (site in _OWN or (site is None and "origin" not in values)) or values.get("content-type") != "application/json":
        return None
    return (match[1], int(length)) if re.fullmatch("[0-9]{1,5}", length) and 0 < int(length) <= SMALL else None
