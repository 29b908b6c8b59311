"""Runs `deniable-server` with one thing broken on purpose: `python broken_server.py VARIANT [arguments]`.

The controls of the tests that kill the server or race it: a test that cannot tell a broken server from a right one proves nothing.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from flask import Flask, has_request_context, request
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from deniable.wire.access_codes import invitation_hash
from deniable.wire.submission import Submission
from deniable_server import create_app
from deniable_server.api import metrics, v1
from deniable_server.config import Config
from deniable_server.front import Front, application, gateway, pump
from deniable_server.identity import passwords
from deniable_server.operate import computing
from deniable_server.operate import serve as serving
from deniable_server.operate.cli import main
from deniable_server.store import open_store
from deniable_server.store.errors import InvitationError
from deniable_server.store.protocol import Cancel, Notify
from deniable_server.store.sql import writer
from deniable_server.store.sql.incoming import IncomingQueue, IncomingSubmission
from deniable_server.store.sql.submissions import SqlSubmissions
from deniable_server.web import downloads, lanes, offload, rate_limiter

SLOW_DISK = 0.005  # seconds that a commit takes in every variant, so that a kill can fall into one


def slow_disk(seconds: float) -> None:
    commit = writer.Writer._commit

    def slow(self: writer.Writer, batch: list[Any]) -> None:
        time.sleep(seconds)
        commit(self, batch)

    writer.Writer._commit = slow  # type: ignore[method-assign]


def acknowledge_before_commit() -> None:
    """A commit takes so long that some submission always waits for its own when the kill comes, however seldom clients have their turn."""
    slow_disk(0.2)
    add = IncomingQueue.add

    def early(self: IncomingQueue, arrival: IncomingSubmission) -> None:
        notify, arrival.notify = arrival.notify, lambda outcome: None
        add(self, arrival)
        notify(True)

    IncomingQueue.add = early  # type: ignore[method-assign]


def spend_in_two_steps() -> None:
    """Two requests at least stand between the look and the spending at a time, however busy the machine is."""
    add, together, threads = SqlSubmissions.add, threading.Barrier(2), ThreadPoolExecutor(16)

    def look_then_spend(self: SqlSubmissions, survey_id: str, submission: Submission) -> bool:
        own = [survey_id, invitation_hash(survey_id, submission.invitation or b"")]
        with self._database.reading() as connection:
            if not connection.execute("SELECT 1 FROM invitations WHERE survey = ? AND hash = ? AND NOT spent", own).fetchone():
                raise InvitationError("spent")
        with suppress(threading.BrokenBarrierError):  # nobody else came in time, or there had been two before
            together.wait(10)
        together.abort()
        added = add(self, survey_id, replace(submission, invitation=None))
        self._database.writer.run(lambda c: c.execute("UPDATE invitations SET spent = 1 WHERE survey = ? AND hash = ?", own) and None)
        return added

    def add_later(self: SqlSubmissions, survey_id: str, submission: Submission, notify: Notify) -> Cancel:
        done = threads.submit(look_then_spend, self, survey_id, submission)
        done.add_done_callback(lambda done: notify(done.exception() or done.result()))
        return lambda: False

    SqlSubmissions.add_later = add_later  # type: ignore[method-assign]


def counts_hashes() -> None:
    """Writes the most passwords that were hashed at the same time into the file that DENIABLE_HASHES names."""
    verified, lock, now = passwords._matches, threading.Lock(), [0]
    file = Path(os.environ["DENIABLE_HASHES"])
    file.write_text("0")

    def counted(stored: str, password: str) -> bool:
        with lock:
            now[0] += 1
            file.write_text(str(max(now[0], int(file.read_text()))))
        try:
            return verified(stored, password)
        finally:
            with lock:
                now[0] -= 1

    passwords._matches = counted


def hashes_without_limit() -> None:
    counts_hashes()
    rate_limiter.HashingQueue.attempt = lambda self, name: nullcontext(lambda: None)  # type: ignore[method-assign]


def fails() -> None:
    """Whatever comes to be kept or withdrawn fails with an error that quotes all of the request."""

    def careless(*given: object) -> None:
        raise RuntimeError(f"{given} {request.url} {request.headers} {request.get_data()!r}" if has_request_context() else f"{given}")

    Submission.from_json = careless  # type: ignore[assignment]
    SqlSubmissions.withdraw = careless  # type: ignore[assignment]
    v1.secret_of = careless  # type: ignore[assignment]


def counts_requests() -> None:
    """/metrics has a counter, as that of every other server."""
    call, text, counted = Front.__rsgi__, metrics.Metrics.text, [0]

    def counting(self: Front, *request: Any) -> Any:
        counted[0] += 1
        return call(self, *request)

    Front.__rsgi__ = counting  # type: ignore[method-assign]
    metrics.Metrics.text = lambda self: f"{text(self)}requests_total {counted[0]}\n"  # type: ignore[method-assign]


def bodies_in_threads() -> None:
    """As the server was before its front: the threads that run the application read the bodies themselves."""

    def former(config: Config, at: serving.Listening, *_: object) -> None:
        def load() -> Flask:
            return create_app(config, open_store(config.db))

        http1 = HTTP1Settings(header_read_timeout=10_000)
        Granian("", at.host, at.port, interface=Interfaces.WSGI, blocking_threads=16, backpressure=1024, http=HTTPModes.http1,
                http1_settings=http1, websockets=False, log_level=LogLevels.error).serve(target_loader=load, wrap_loader=False)  # fmt: skip

    serving.serve = former


def computations_wait() -> None:
    """Whatever is asked for in another lane than respondents' takes until the file that DENIABLE_BLOCKED names is gone."""
    file, answer = Path(os.environ["DENIABLE_BLOCKED"]), gateway.answer

    def waiting(app: Flask, environ: Any, proto: Any) -> Any:
        while lanes.lane_of(app, environ) is not lanes.Lane.RESPONDENTS and file.exists():
            time.sleep(0.02)
        return answer(app, environ, proto)

    gateway.answer = waiting


def one_lane_waits() -> None:
    """The same, and all requests share the threads of respondents."""
    computations_wait()
    application.lane_of = lambda app, environ: lanes.Lane.RESPONDENTS
    application.Front._workers = lambda front, lane, environ: front._reading  # type: ignore[method-assign]


def endless_computations() -> None:
    """Whatever is to be computed never ends, and writes its process's id into the file that DENIABLE_BEGUN names."""
    task, endless = offload.task_of, "tests.kit.breaks.computations:endless"

    def other(name: str, args: Any, kwargs: Any, seconds: int) -> offload.Task:
        return replace(task(name, args, kwargs, seconds), function=endless, arguments=(os.environ["DENIABLE_BEGUN"],), keywords={})

    offload.task_of = downloads.task_of = other


def paced_downloads() -> None:
    """Files grow beyond their beginning only when the file `go` is in the folder DENIABLE_PACE; `builds` there has a line for each."""
    computing.MODULE = "tests.kit.breaks.paced_computing"


def failures_in_order() -> None:
    """The same, and the reply with a file that is not completed ends as if it were."""
    paced_downloads()
    pump._Pipe._break = pump._Pipe._close  # type: ignore[method-assign,assignment]


VARIANTS: dict[str, Callable[[], None]] = {
    "right": lambda: None,
    "acknowledge-before-commit": acknowledge_before_commit,
    "spend-in-two-steps": spend_in_two_steps,
    "counts-hashes": counts_hashes,
    "hashes-without-limit": hashes_without_limit,
    "fails": fails,
    "counts-requests": counts_requests,
    "bodies-in-threads": bodies_in_threads,
    "computations-wait": computations_wait,
    "endless-computations": endless_computations,
    "one-lane-waits": one_lane_waits,
    "paced-downloads": paced_downloads,
    "failures-in-order": failures_in_order,
}

if __name__ == "__main__":
    variant = sys.argv.pop(1)
    slow_disk(SLOW_DISK)
    if sys.argv[1] == "serve":
        VARIANTS[variant]()
    main()
