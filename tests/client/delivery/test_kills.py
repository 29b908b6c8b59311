"""kill -9 of a bulk run at any moment, again and again: it comes to its end, and each row is randomized once and counted once.

make kills-client: 200 kills of a run of 1,000,000 rows. Rows are told apart by their answers, which are in no two rows the same.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.survey import Survey
from deniable.wire.submission import Submission

KILLS = int(os.environ.get("DENIABLE_CLIENT_KILLS", "5"))
ROWS = 1_000_000 if KILLS > 100 else 1_800 * KILLS
BATCH = 1000 if KILLS > 100 else 250
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
import json, os, sys
import numpy as np
from deniable.device import perturb as module
from deniable.client import SurveyClient
from deniable.delivery.outbox import Outbox

url, outbox, rows, log, batch, broken = sys.argv[1:]
perturb, advance = module.perturb, Outbox.advance

def noted(survey, categories, *public):
    made, code = perturb(survey, categories, *public)
    numbers = np.sort(32 ** np.arange(3, -1, -1) @ categories.astype(np.int64))
    assert (np.diff(numbers) == 1).all()  # so the first and how many are all of them
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, (json.dumps([made.id.hex(), int(numbers[0]), len(numbers)]) + "\\n").encode())
    os.close(file)
    return made, code

module.perturb = noted
if broken == "forgets its progress":
    Outbox.advance = lambda self, url, survey, job, rows, *rest: advance(self, url, survey, job, 0, *rest)
with SurveyClient(url, outbox=outbox, key=os.environ["DENIABLE_KEY"]) as client:
    client.submit_many("rows", rows, batch=int(batch))
"""


@dataclass
class Outcome:
    """What became of the rows. counted, travelled: how often the server counted each, and in how many submissions it was sent; (rows,).

    bodies: those of each submission, by its id. while_reading: how many kills came before a request was made.
    """

    counted: NDArray[np.int64]
    travelled: NDArray[np.int64]
    bodies: dict[str, set[bytes]]
    posts: int
    kills: int
    while_reading: int


def killed(server: Any, folder: Path, fault: Any, kills: int, rows: int, broken: str = "") -> Outcome:
    """Starts the run again after each kill: every other one comes while it reads, the others behind some requests, of which some fail."""
    server.publish(SURVEY)
    table, log = folder / "rows.csv", folder / "log"
    digits = np.arange(rows)[:, None] // OPTIONS ** np.arange(QUESTIONS - 1, -1, -1) % OPTIONS
    np.savetxt(table, digits, "%d", ",", header=",".join(f"q{i}" for i in range(QUESTIONS)), comments="")
    command = [sys.executable, "-c", RUN, server.url, str(folder / "outbox"), str(table), str(log), str(BATCH), broken]
    environment = {**os.environ, "DENIABLE_KEY": server.key}
    rng, reading, while_reading = random.Random(3), 0.0, 0
    for kill in range(kills):
        server.faults.extend([fault(worked=True), fault(status=200, worked=True, body=b"?")] if kill % 4 == 0 else [])
        before, begun = len(server.posts), time.monotonic()
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)
        until = begun + rng.random() * reading if kill % 2 else float("inf")
        enough = before + rng.randrange(1, 8)
        while len(server.posts) < enough and time.monotonic() < until and process.poll() is None:
            time.sleep(0.0005)
            if not reading and len(server.posts) > before:
                reading = time.monotonic() - begun
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL or broken, "it came to its end before it was killed so often"
        while_reading += len(server.posts) == before
    server.faults.clear()
    subprocess.run(command, check=not broken, timeout=3000, env=environment, stderr=subprocess.DEVNULL if broken else None)
    bodies: dict[str, set[bytes]] = {}
    for post in server.posts:
        bodies.setdefault(Submission.from_json(post.body).id.hex(), set()).add(post.body)
    of = {made: (first, count) for made, first, count in map(json.loads, log.read_text().splitlines())}
    times = [_times(rows, [of[made] for made in ids]) for ids in (server.accepted, bodies)]
    return Outcome(*times, bodies, len(server.posts), kills, while_reading)


def _times(rows: int, stretches: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """In how many of some stretches, each its first row and how many, every row is."""
    times = np.zeros(rows, dtype=np.int64)
    for first, count in stretches:
        times[first : first + count] += 1
    return times


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_bulk_that_is_killed_at_any_moment_randomizes_and_counts_every_row_once(server, tmp_path, fault) -> None:
    found = killed(server, tmp_path, fault, KILLS, ROWS)
    print(f"{found.kills} kills, {found.while_reading} of them before a request was made")
    print(f"{ROWS:,} rows in {len(found.bodies):,} submissions, {found.posts:,} requests")
    assert (found.counted == 1).all()
    assert (found.travelled == 1).all()
    assert server.counted == ROWS
    assert {len(bodies) for bodies in found.bodies.values()} == {1}
    assert found.posts > len(found.bodies)  # some were sent more than once, or this proves little
    assert list(tmp_path.glob("*.lock")) == []


@pytest.mark.slow
def test_the_control_a_bulk_that_forgets_its_progress_counts_rows_twice(server, tmp_path, fault) -> None:
    assert killed(server, tmp_path, fault, 1, 2000, "forgets its progress").counted.max() > 1
