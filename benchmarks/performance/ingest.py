"""Posts over HTTP: single ones, durable, beside the same that are only validated; both kinds beside a tool that people use; a slow disk."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median

from benchmarks import ingest
from benchmarks.ingest import Poured, Running, pour
from benchmarks.performance.coins import yes_no
from benchmarks.performance.line import Line, Took
from benchmarks.performance.peers import PYTHON, missing

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.access import api_keys
from deniable_server.store import open_store

SLOWED = """
import sys, time
from deniable_server.operate.cli import main
from deniable_server.store.sql import writer
from deniable_server.store.sql.incoming import IncomingQueue
from deniable_server.store.sqlite.file import SqliteFile
def alone(self, arrival):
    job = lambda connection: self._admit(connection, [arrival])[0]
    self._writer.begin(job).add_done_callback(lambda done: arrival.notify(done.result()))
commit = SqliteFile.commit
def slowed(self, connection):
    commit(self, connection)
    time.sleep(0.004)
SqliteFile.commit = slowed
if sys.argv.pop(1) == "alone":
    IncomingQueue.add, writer.MOST_JOBS = alone, 1
main()
"""
RUNTIME = (
    "what the database adds to a post, 80 us where one that is only validated takes 62: the writer 58 to 61 (14 to 16 are the "
    "commit, its pages and the disk; 5 to 8 the row, 4 each the look for its id and the count of its batch, 2 to 4 the draw of "
    "those who stay), and 20 what the threads that take turns with it take longer. Without any commit it would be 0.5. A call "
    "instead of a future for each who waits helped; one statement for all rows, no index of ids, fewer checkpoints and a larger "
    "cache did not (docs/reference/benchmarks.md)"
)
MANY, ROWS = 10_000, 100
"""Records of one submission, and rows of one insert, which are the most that Datasette takes."""


@cache
def poured(rounds: int) -> dict[str, list[Poured]]:
    survey = ingest.survey_of(20)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        servers = [running.enter_context(ingest.ours(Path(folder), survey, stored)) for stored in (True, False)]
        servers += [] if missing() else [running.enter_context(ingest.datasette(Path(folder), str(PYTHON)))]
        return ingest.measured(servers, rounds, 2)


def share_of_validated(rounds: int) -> float:
    """The server's CPU a request that is only validated, for that of one that is stored, too."""
    stored, validated = (median(one.cpu_ms for one in poured(rounds)[name]) for name in ("stored", "validated, not stored"))
    return validated / stored


def tail(rounds: int) -> float:
    """p99 / p50 of the time that one durable post takes."""
    return median(one.quantile(0.99) / one.quantile(0.5) for one in poured(rounds)["stored"])


def beside_datasette(rounds: int) -> float:
    """Datasette's CPU for a row, for ours."""
    ours, theirs = (median(one.cpu_ms for one in poured(rounds)[name]) for name in ("stored", "Datasette"))
    return theirs / ours


@contextmanager
def slowed(folder: Path, how: str) -> Iterator[Running]:
    """A server to whose every commit 4 ms are added; how: "alone", with a commit for each submission, or "together"."""
    survey, db, port = yes_no(20), folder / f"{how}.db", ingest.free_port()
    store = open_store(db)
    store.surveys.publish(survey)
    store.close()
    words = ["serve", "--db", str(db), "--port", str(port), "--most-per-second", "1000000"]
    with ingest.started([sys.executable, "-c", SLOWED, how, *words], port, "/healthz") as process:
        yield Running(how, process, port, ingest.posts(survey))


def each(server: Running) -> Took:
    """Milliseconds of one of many single posts."""
    found = pour(server, 2)
    return Took(found.cpu_ms, 1000 / found.rate)


@contextmanager
def many(folder: Path) -> Iterator[Running]:
    """A server of this project, and submissions of MANY records for it."""
    survey = yes_no(20)
    with ingest.ours(folder, survey) as server:
        store = open_store(folder / "stored.db")
        key = api_keys.make(store, "lab", ["submit"])
        store.close()
        yield replace(server, requests=submissions(survey, key))


def submissions(survey: Survey, key: str) -> Iterator[bytes]:
    head = "POST /api/v1/surveys/s/submissions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += "Authorization: Bearer {}\r\nContent-Length: {}\r\n\r\n"
    records = b"".join(os.urandom(2) + b"\x50" for _ in range(MANY))  # 20 bits each, and four that are zero
    while True:
        body = Submission(os.urandom(16), survey.digest, MANY, records, mode="organisation").to_json()
        yield head.format(key, len(body)).encode() + body


def bulk(server: Running, times: int, rows: int) -> Took:
    """Microseconds of each of so many rows a request, one request after the other."""
    requests = [next(server.requests) for _ in range(times)]
    with socket.create_connection(("127.0.0.1", server.port), timeout=600) as connection:
        cpu, clock = server.cpu, time.perf_counter()
        for request in requests:
            connection.sendall(request)
            reply = b""
            while not ingest.whole(reply):
                reply += connection.recv(65536)
            if reply[9:12] not in (b"200", b"201"):
                raise SystemExit(f"{server.name} took no rows: {reply.decode()}")
        cpu, clock = server.cpu - cpu, time.perf_counter() - clock
    return Took(1e6 * cpu / times / rows, 1e6 * clock / times / rows)


def lines(quick: bool) -> Iterator[Line]:
    rounds = 2 if quick else 5
    beside = "the same, validated and not stored"
    yield Line(
        "single durable posts, 32 connections", ">= 0.7", lambda: share_of_validated(rounds), 1.0, beside, "times", rounds=1, remark=RUNTIME
    )
    turns = (
        "measured beside other programs that kept both cores busy, whose turns are longer than a post; what the server itself adds was not "
        "told apart"
    )
    yield Line("p99 of single durable posts", "<= 5", lambda: tail(rounds), 1.0, "p50", "times", by="wall", rounds=1, remark=turns)
    name, away = "single durable posts for one of Datasette", missing()
    yield Line(name, ">= 10", lambda: beside_datasette(rounds), 1.0, "1", "times", rounds=1, missing=away)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        yield from _slow_disk(Path(folder), running)
        yield from _many(Path(folder), running, away)


def _slow_disk(folder: Path, running: ExitStack) -> Iterator[Line]:
    together, alone = (running.enter_context(slowed(folder, how)) for how in ("together", "alone"))
    beside, name = "a commit for each", "single posts with 4 ms added to each commit"
    yield Line(name, "<= 0.125", lambda: each(together), lambda: each(alone), beside, by="wall", rounds=3)


def _many(folder: Path, running: ExitStack, away: str) -> Iterator[Line]:
    name, beside = "a record of many, over HTTP, checked and durable", "a row of Datasette's API for inserts, 100 at a time"
    if away:
        yield Line(name, "<= 0.02", lambda: None, 0.0, beside, "us", missing=away)
        return
    ours, theirs = (running.enter_context(one) for one in (many(folder), ingest.datasette(folder, str(PYTHON), ROWS)))
    yield Line(name, "<= 0.02", lambda: bulk(ours, 200, MANY), lambda: bulk(theirs, 100, ROWS), beside, "us", rounds=3)
