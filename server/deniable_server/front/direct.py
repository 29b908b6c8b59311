"""Submissions of single records, taken without a thread and without Flask: what nearly all requests are while people answer.

Only what is plain is taken here: a small JSON body of known length, no key, no other site's page. All else, and whatever goes wrong here,
is for Flask, so each refusal is said in one place. The reply of success is Flask's own, made once.
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
from deniable_server.front.gateway import Environ, Reply
from deniable_server.front.workers import BUSY, Workers
from deniable_server.web.limits import REFUSED, SMALL

MOST = 512  # submissions that wait for the writer; the next are told to come back
PATH = re.compile(r"/api/v1/surveys/([A-Za-z0-9_-]+)/submissions")
_NOT_PLAIN = {"authorization", "content-encoding", "expect", "transfer-encoding"}
_OWN = {"same-origin", "none"}


Outcome = bool | BaseException
"""Whether a submission is new, or why it was not kept."""


class Door(Protocol):
    """Who knows what a submission has to keep to, and where it is kept."""

    patience: float

    def count(self) -> None: ...

    def survey(self, survey_id: str) -> Any: ...

    def learn(self, survey_id: str) -> Any: ...

    def take(self, survey: Any, body: bytes, tell: Callable[[Outcome], None]) -> Callable[[], bool]: ...

    def busy(self) -> Exception: ...

    def accepted(self) -> Response: ...


class Direct:
    """Takes submissions of an application. workers: for what has to be read from the database first."""

    def __init__(self, app: Flask, door: Door, base: Environ, workers: Workers) -> None:
        self._door = door
        self._workers, self._waiting = workers, 0
        self._lock = threading.Lock()
        self._outcomes: list[tuple[asyncio.Future[Reply], Outcome]] = []  # what the loop is still to be told of
        environ = {**base, "REQUEST_METHOD": "POST", "PATH_INFO": "/api/v1/surveys/s/submissions", "QUERY_STRING": ""}
        self._environ = {**environ, "SERVER_PROTOCOL": "HTTP/1.1"}
        self._success = self._made_once(app)
        self._busy = gateway.call(app, {**self._environ, REFUSED: ServiceUnavailable(BUSY)})

    async def take(self, survey_id: str, body: bytes) -> Reply:
        """The reply, once a submission is on the disk, or if too many wait for that. Raises what it is refused for."""
        self._door.count()
        survey = self._door.survey(survey_id)
        if survey is None:
            survey = await self._workers.run(self._door.learn, survey_id)
        if self._waiting >= MOST:
            return self._busy
        loop = asyncio.get_running_loop()
        told: asyncio.Future[Reply] = loop.create_future()
        take_back = self._door.take(survey, body, partial(self._hear, loop, told))
        self._waiting += 1
        patience = loop.call_later(self._door.patience, self._give_up, take_back, told)
        try:
            return await told
        finally:
            patience.cancel()

    def _hear(self, loop: asyncio.AbstractEventLoop, told: asyncio.Future[Reply], outcome: Outcome) -> None:
        """In the writer's thread, once for each of a commit: the loop is woken for the first of them."""
        with self._lock:
            self._outcomes.append((told, outcome))
            if len(self._outcomes) > 1:
                return
        loop.call_soon_threadsafe(self._settle)

    def _give_up(self, take_back: Callable[[], bool], told: asyncio.Future[Reply]) -> None:
        """What was begun by now is finished all the same."""
        if take_back():
            self._tell(told, self._door.busy())

    def _settle(self) -> None:
        with self._lock:
            outcomes, self._outcomes = self._outcomes, []
        for told, outcome in outcomes:
            self._tell(told, outcome)

    def _tell(self, told: asyncio.Future[Reply], outcome: Outcome) -> None:
        self._waiting -= 1
        if told.cancelled():
            return
        if isinstance(outcome, bool):
            told.set_result(self._success)
        else:
            told.set_exception(outcome)

    def _made_once(self, app: Flask) -> Reply:
        """The reply of success, with all that the application adds to it."""
        with app.request_context(self._environ):
            response: Any = app.process_response(self._door.accepted())
            return Reply(response.status_code, response.get_wsgi_headers(self._environ).to_wsgi_list(), response.get_data())


def plain(scope: Scope, headers: list[tuple[str, str]]) -> tuple[str, int] | None:
    """The survey's id and the length of the body of a plain submission; None for any other request."""
    found = PATH.fullmatch(scope.path) if scope.method == "POST" and not scope.query_string else None
    named = dict(headers)
    if found is None or len(named) != len(headers) or not named.keys().isdisjoint(_NOT_PLAIN):
        return None
    length, site = named.get("content-length", ""), named.get("sec-fetch-site")
    if not (site in _OWN or (site is None and "origin" not in named)) or named.get("content-type") != "application/json":
        return None
    return (found[1], int(length)) if re.fullmatch("[0-9]{1,5}", length) and 0 < int(length) <= SMALL else None
