"""kill -9 of the whole server under load: what was acknowledged is counted exactly once, what was withdrawn not at all.

So it is with waiting records, with releases that another process performs meanwhile, and when it closes the survey and opens it again.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
import pytest
from tests.kit.patience import wait_for
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import count_of, recount_of, tally_of

from deniable.device.entropy import os_words
from deniable.survey import Survey
from deniable.wire.access_codes import submission_id
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store import open_store

pytestmark = pytest.mark.slow

K = 256
CLIENTS = 4
KILLS = int(os.environ.get("DENIABLE_KILLS", 5))
CONTROL_KILLS = 4
WITHDRAWN = 4  # every fourth submission
CLOSED = 4  # after every fourth kill
SENT = 20  # submissions for each kill, at least


def bucket_survey() -> Survey:
    """Two questions of 256 options at d = 1: a record can set one pair of bits that no other record sets."""
    options = [f"option {i}" for i in range(K)]
    questions = [{"id": name, "text": "Which?", "type": "choice", "options": options, "epsilon": 10} for name in ("row", "column")]
    return Survey.from_dict(
        {"deniable": 1, "id": "buckets", "title": "Buckets", "about": "A test.", "accept_high_epsilon": True, "questions": questions}
    )


def bucket(survey: Survey, row: int, column: int, code: bytes) -> Submission:
    bits = np.zeros((2, 1, K), dtype=np.bool_)
    bits[0, 0, row] = bits[1, 0, column] = True
    return Submission(submission_id(code), survey.digest, 1, pack(survey, list(bits)))


@dataclass
class Load:
    """Clients that send one submission after another, each again and again until it is acknowledged, and withdraw some of them."""

    url: str
    survey: Survey
    buckets: Iterator[tuple[int, int]] = field(default_factory=lambda: itertools.product(range(K - 1), repeat=2))
    acknowledged: list[tuple[int, int]] = field(default_factory=list)
    withdrawn: list[tuple[int, int]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    ending: threading.Event = field(default_factory=threading.Event)

    def client(self) -> None:
        with httpx.Client(timeout=5, headers={"Content-Type": "application/json"}) as http:
            while not self.ending.is_set():
                with self.lock:
                    place = next(self.buckets)
                code = os_words(4).tobytes()[:15]
                self.deliver(http, "submissions", bucket(self.survey, *place, code).to_json())
                kept = self.acknowledged
                if sum(place) % WITHDRAWN == 0:
                    self.deliver(http, "withdrawals", json.dumps({"code": base64.urlsafe_b64encode(code).decode()}).encode())
                    kept = self.withdrawn
                with self.lock:
                    kept.append(place)

    def wait_for(self, number: int) -> None:
        """Waits until so many were acknowledged, or also withdrawn."""
        wait_for(lambda: len(self.acknowledged) + len(self.withdrawn) >= number, "submissions that are acknowledged")

    def deliver(self, http: httpx.Client, what: str, body: bytes) -> None:
        while True:
            try:
                if http.post(f"{self.url}/api/v1/surveys/buckets/{what}", content=body).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.01)


def kill_under_load(server: Any, kills: int) -> tuple[Load, Tally, Tally]:
    """Returns what was acknowledged, the tally once the survey is closed, and the recount from the reports.

    Another process tallies all the while, releases what waits, and closes the survey for a moment now and then.
    """
    survey = bucket_survey()
    server.publish(survey)
    load = Load(server.url, survey)
    server.start()
    threads = [threading.Thread(target=load.client, daemon=True) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    pauses = 0.03 + 0.3 * os_words(kills) / 2**32
    store, releases = open_store(server.db), list[str]()
    for number, pause in enumerate(pauses):
        load.wait_for(SENT * (number + 1))  # a busy machine takes longer
        time.sleep(pause)  # whatever the server does then
        if number % CLOSED == CLOSED - 1 and number + 1 < kills:  # not at the end: more than a batch must wait for the last one
            releases += release_people(store)
        tally_of(store, "buckets")
        server.kill()
        if number % CLOSED == 0:
            store.surveys.set_open("buckets", False)
            store.surveys.set_open("buckets", True)
        server.start()
    load.wait_for(len(load.acknowledged) + len(load.withdrawn) + 2 * survey.batch)  # fewer than a batch are never counted
    load.ending.set()
    for thread in threads:
        thread.join()
    server.stop()
    waiting = len(load.acknowledged) - count_of(store, "buckets")
    print(f"{waiting} wait, or are still to leave the counts, after {len(releases)} releases")
    assert releases or kills <= CLOSED
    store.surveys.set_open("buckets", False)
    release_people(store)  # it may have had a release on this day
    tally, recount = tally_of(store, "buckets"), recount_of(store, "buckets")
    store.close()
    return load, tally, recount


def counts(places: list[tuple[int, int]], tally: Tally) -> list[int]:
    """How often each of these submissions was counted."""
    return [int(tally.pairs[row, K - 1 + column]) for row, column in places]


def test_kills_lose_nothing_and_count_nothing_twice(make_server: Callable[[str], Any]) -> None:
    load, tally, recount = kill_under_load(make_server("right"), KILLS)
    print(f"{KILLS} kills, {len(load.acknowledged):,} acknowledged, {len(load.withdrawn):,} withdrawn, {tally.n:,} counted")
    assert len(load.acknowledged) + len(load.withdrawn) >= SENT * KILLS
    assert len(load.withdrawn) >= 2 * KILLS
    assert set(counts(load.acknowledged, tally)) == {1}
    assert set(counts(load.withdrawn, tally)) == {0}
    assert tally.n == recount.n == len(load.acknowledged)
    assert (tally.pairs == recount.pairs).all()


def test_a_server_that_acknowledges_before_it_commits_is_found_out(make_server: Callable[[str], Any]) -> None:
    load, tally, _ = kill_under_load(make_server("acknowledge-before-commit"), CONTROL_KILLS)
    lost = counts(load.acknowledged, tally).count(0)
    print(f"{CONTROL_KILLS} kills, {len(load.acknowledged):,} acknowledged, {lost} lost")
    assert lost > 0
