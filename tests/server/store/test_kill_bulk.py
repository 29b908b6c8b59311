"""kill -9 of a client and of its server, at any moment of one bulk run: each row is randomized once and counted once.

make long NAME=kills-bulk: 200 kills of each in a run of 1,000,000 rows. Rows are told apart by their answers, which are in no two rows
the same.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.kit.servers.process import ServerProcess
from tests.kit.servers.tallies import count_of, recount_of, tally_of

from deniable.survey import Survey
from deniable.wire.tally import Tally
from deniable_server.store import open_store

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("DENIABLE_BULK_KILLS", "3"))  # of each
ROWS, BATCH = (1_000_000, 100) if KILLS > 100 else (10_000 * KILLS, 150)
OPTIONS, QUESTIONS = 32, 4
SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "rows",
        "title": "T",
        "about": "A",
        "epsilon": 4,
        "questions": [
            {"id": f"q{i}", "text": "?", "type": "choice", "options": [str(option) for option in range(OPTIONS)]} for i in range(QUESTIONS)
        ],
    }
)
RUN = """
import hashlib, json, os, sys, time
import numpy as np
from deniable.device import perturb as module
from deniable.sdk.client import SurveyClient
from deniable.delivery import transport
from deniable.delivery.outbox import Outbox

url, outbox, rows, made, sent, allowed, batch, broken = sys.argv[1:]
perturb, advance, once = module.perturb, Outbox.advance, transport.Transport._once

def note(log, *words):
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, (json.dumps(words) + "\\n").encode())
    os.close(file)

def perturbing(survey, categories, *public):
    submission, code = perturb(survey, categories, *public)
    numbers = np.sort(32 ** np.arange(3, -1, -1) @ categories.astype(np.int64))
    assert (np.diff(numbers) == 1).all()  # so the first and how many are all of them
    note(made, submission.id.hex(), int(numbers[0]), len(numbers), hashlib.sha256(submission.reports).hexdigest())
    return submission, code

def sending(self, method, path, limit, into=None, **options):
    if method == "POST":
        while os.stat(sent).st_size >= 69 * os.stat(allowed).st_size:
            time.sleep(0.001)
        note(sent, hashlib.sha256(options["content"]).hexdigest())
    return once(self, method, path, limit, into, **options)

module.perturb, transport.Transport._once = perturbing, sending
transport._LONGEST_BACKOFF = 0.1  # the server is soon there again
if broken == "forgets its progress":
    Outbox.advance = lambda self, url, survey, job, rows, *rest: advance(self, url, survey, job, 0, *rest)
with SurveyClient(url, outbox=outbox, key=os.environ["DENIABLE_KEY"], retries=1000) as client:
    client.submit_many("rows", rows, batch=int(batch))
"""


@dataclass
class Outcome:
    """What became of the rows. counted: how often the server counted each, shape (rows,). tally, recount: the server's.

    bodies: how many different ones were sent, and posts, how many times; submissions: how many the server has. strangers: of these, how
    many are no submission that was made, or have other reports. quiet: kills of the client and of the server behind which nothing had been
    sent since the kill before.
    """

    counted: NDArray[np.int64]
    tally: Tally
    recount: Tally
    submissions: int
    strangers: int
    bodies: int
    posts: int
    quiet: dict[str, int]


class Bulk:
    """One run of a client on a server, started again whenever it was killed.

    It makes as many requests as the file `allowed` has bytes, which gets more with each of `kills` kills: so it outlasts them, on a
    machine of any speed.
    """

    def __init__(self, server: ServerProcess, folder: Path, rows: int, kills: int, broken: str) -> None:
        self.server, self.made, self.sent, self.allowed = server, folder / "made", folder / "sent", folder / "allowed"
        self.share = rows // BATCH // (kills + 1)
        assert self.share >= 4, "the run is too short for so many kills"
        self.sent.touch()
        self.allow(self.share)
        table = folder / "rows.csv"
        digits = np.arange(rows)[:, None] // OPTIONS ** np.arange(QUESTIONS - 1, -1, -1) % OPTIONS
        np.savetxt(table, digits, "%d", ",", header=",".join(f"q{i}" for i in range(QUESTIONS)), comments="")
        self.command = [sys.executable, "-c", RUN, server.url, str(folder / "outbox"), str(table), str(self.made), str(self.sent)]
        self.command += [str(self.allowed), str(BATCH), broken]
        self.environment = {**os.environ, "DENIABLE_KEY": server.key}
        self.process, self.kills = self.begun(), 0

    def begun(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.command, stderr=subprocess.DEVNULL, env=self.environment)

    def allow(self, posts: int) -> None:
        """Lets it make so many requests more."""
        with self.allowed.open("ab") as file:
            file.truncate(self.most + posts)

    @property
    def most(self) -> int:
        """How many requests it may make so far."""
        return self.allowed.stat().st_size if self.allowed.exists() else 0

    @property
    def posts(self) -> int:
        return self.sent.stat().st_size // 69  # a hash, quotation marks, brackets, end of the line

    def go_on(self, until: Callable[[], bool]) -> None:
        """Lets it run for so long; it is not to come to its end before."""
        while not until():
            assert self.process.poll() is None, f"it came to its end after {self.kills} kills, and was to be killed more often"
            time.sleep(0.0005)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def finish(self) -> None:
        self.allow(1 << 40)
        assert self.process.wait(3000) == 0


def killed(server: ServerProcess, folder: Path, kills: int, rows: int, broken: str = "") -> Outcome:
    """Kills client and server in turns: at some moment, or in the middle of some request."""
    server.publish(SURVEY)
    server.start()
    begun = time.monotonic()
    bulk, rng, quiet = Bulk(server, folder, rows, 2 * kills, broken), random.Random(3), {"client": 0, "server": 0}
    try:
        bulk.go_on(lambda: bulk.posts > 0)
        reading = time.monotonic() - begun  # seconds before the first request
        for number in range(2 * kills):
            who, before = ("client", "server")[number % 2], bulk.posts
            if number % 3 == 2:
                moment = time.monotonic() + rng.random() * (reading if who == "client" else 0.3)
                bulk.go_on(lambda moment=moment: time.monotonic() >= moment or bulk.posts >= bulk.most)  # type: ignore[misc]
            else:
                enough = min(before + rng.randrange(2, 5), bulk.most)  # on a busy machine it may have come to what it is allowed
                bulk.go_on(lambda enough=enough: bulk.posts >= enough)  # type: ignore[misc]
                time.sleep(rng.random() * 0.01)
            quiet[who] += bulk.posts == before
            bulk.kills += 1
            bulk.allow(bulk.share)
            if who == "client":
                bulk.kill()
                bulk.process = bulk.begun()
            else:
                server.kill()
                server.start()
        bulk.finish()
    finally:
        bulk.kill()
    server.stop()
    return outcome(server, bulk, rows, quiet)


def outcome(server: ServerProcess, bulk: Bulk, rows: int, quiet: dict[str, int]) -> Outcome:
    of = {bytes.fromhex(id_): (first, count, reports) for id_, first, count, reports in lines(bulk.made)}
    counted, strangers, submissions = np.zeros(rows, dtype=np.int64), 0, 0
    with closing(open_store(server.db)) as store:
        store.surveys.set_open("rows", False)
        with store.database.reading() as connection:  # type: ignore[attr-defined]
            for id_, count, reports in connection.execute("SELECT id, count, reports FROM submissions"):
                first, made, known = of.get(id_, (0, 0, ""))
                counted[first : first + made] += 1
                strangers += (made, known) != (count, sha256(reports).hexdigest())
                submissions += 1
        sums = tally_of(store, "rows"), recount_of(store, "rows")
        assert count_of(store, "rows") == sums[0].n
    sent = [body for (body,) in lines(bulk.sent)]
    return Outcome(counted, *sums, submissions, strangers, len(set(sent)), len(sent), quiet)


def lines(log: Path) -> Iterator[Any]:
    return map(json.loads, log.read_text().splitlines())


@pytest.mark.timeout(14400)
def test_a_bulk_whose_client_and_server_are_killed_counts_every_row_once(make_server: Callable[[str], ServerProcess], tmp_path) -> None:
    found = killed(make_server("right"), tmp_path, KILLS, ROWS)
    print(f"{KILLS} kills of the client and {KILLS} of the server, {found.quiet} of them before anything was sent since the one before")
    print(f"{ROWS:,} rows in {found.submissions:,} submissions, {found.posts:,} requests with {found.bodies:,} bodies")
    assert (found.counted == 1).all()
    assert found.strangers == 0
    assert found.bodies == found.submissions == -(-ROWS // BATCH)
    assert found.posts > found.bodies  # some were sent more than once, or this proves little
    assert found.tally.n == found.recount.n == ROWS
    assert (found.tally.pairs == found.recount.pairs).all()
    assert list(tmp_path.glob("*.lock")) == []


def test_the_control_a_client_that_forgets_its_progress_counts_rows_twice(make_server: Callable[[str], ServerProcess], tmp_path) -> None:
    found = killed(make_server("right"), tmp_path, 1, 2000, "forgets its progress")
    assert found.counted.max() > 1
