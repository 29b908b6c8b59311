"""Honest clients beside crowds that never finish a request, on the configuration that is shipped, in real processes.

Every honest request must be answered; how long it takes depends on the machine, so it is printed and not judged.
`make long NAME=stalls` runs a whole minute.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from tests.kit import breaks
from tests.kit.patience import PATIENCE, wait_for
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import recount_of

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.front.application import READY, READY_SECONDS
from deniable_server.store import open_store

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("DENIABLE_STALL_SECONDS", "8"))
CLIENTS = 4
EVERYBODY = {"idle": 500, "slow-heads": 500, "slow-bodies": 300, "slow-chunks": 100, "slow-forms": 50, "silent-bodies": 50, "deaf": 50}
SUBMIT = "/api/v1/surveys/study/submissions"


@contextmanager
def crowd(server: Any, **numbers: int) -> Iterator[None]:
    """So many clients of each kind, all connected."""
    words = [f"{kind.replace('_', '-')}={number}" for kind, number in numbers.items()]
    command = [sys.executable, breaks.CROWD, str(server.port), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield
        finally:
            process.kill()


@dataclass
class Honest:
    """What honest clients met: how long each request took, and how many submissions were acknowledged."""

    url: str
    make: Callable[[], Submission]
    took: list[float] = field(default_factory=list)
    acknowledged: int = 0
    failures: list[str] = field(default_factory=list)
    ending: threading.Event = field(default_factory=threading.Event)

    def client(self) -> None:
        with httpx.Client(base_url=self.url, timeout=PATIENCE, headers={"Content-Type": "application/json"}) as http:
            while not self.ending.wait(0.02):
                for path in (SUBMIT, "/s/study", "/api/v1/surveys/study", "/s/study/by-hand", READY):
                    self.ask(http, path)

    def ask(self, http: httpx.Client, path: str) -> None:
        begun = time.monotonic()
        try:
            reply = http.post(path, content=self.make().to_json()) if path == SUBMIT else http.get(path)
        except httpx.HTTPError as error:
            self.failures.append(f"{path}: {type(error).__name__}")
            return
        took = time.monotonic() - begun
        self.took.append(took)
        late = path == READY and reply.status_code == 503 and took >= READY_SECONDS  # it says so itself
        if reply.status_code not in (200, 404) and not late:  # two coins cannot answer this survey
            self.failures.append(f"{path}: {reply.status_code}")
        self.acknowledged += path == SUBMIT and reply.status_code == 200

    def run(self, seconds: float) -> None:
        clients = [threading.Thread(target=self.client) for _ in range(CLIENTS)]
        for thread in clients:
            thread.start()
        time.sleep(seconds)
        self.ending.set()
        for thread in clients:
            thread.join()


def test_honest_clients_are_served_beside_1500_that_never_finish_and_the_server_stops(
    make_server: Callable[..., Any], survey: Survey, submissions: Callable[..., Submission]
) -> None:
    server = make_server()
    server.publish(survey)
    server.start()
    honest = Honest(server.url, submissions)
    with crowd(server, **EVERYBODY):
        honest.run(SECONDS)
        begun = time.monotonic()
        server.process.terminate()
        assert server.process.wait(timeout=PATIENCE) == 0
        stopped, server.process = time.monotonic() - begun, None
    took = sorted(honest.took)
    print(f"{len(took):,} honest requests beside {sum(EVERYBODY.values()):,}: half in {1000 * took[len(took) // 2]:.0f} ms, "
          f"worst {took[-1]:.2f} s; stopped in {stopped:.1f} s")  # fmt: skip
    assert not honest.failures
    assert len(took) >= 5 * CLIENTS
    store = open_store(server.db)
    release_people(store)
    assert recount_of(store, "study").n == honest.acknowledged
    store.close()
    assert "Traceback" not in server.log.read_text()


def test_a_server_that_reads_bodies_in_its_threads_is_found_out(make_server: Callable[..., Any], survey: Survey) -> None:
    server = make_server("bodies-in-threads")
    server.publish(survey)
    server.start()
    with crowd(server, silent_bodies=40):

        def gives_no_answer() -> bool:
            with contextlib.suppress(httpx.ReadTimeout):
                httpx.get(f"{server.url}/s/study", timeout=5)
                return False
            return True

        wait_for(gives_no_answer, "all threads, held by somebody's body")
        server.process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            server.process.wait(timeout=5)
        server.kill()
