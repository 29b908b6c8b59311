"""Four respondents beside 40 researchers who keep all computations busy; measured by `make long NAME=crowds`.

Quiet and loud moments alternate, so that both meet the same machine. In the suite every request must be answered; `make long NAME=crowds`
holds what respondents wait to twice what they wait without researchers, kind by kind.
"""

from __future__ import annotations

import base64
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.client.forms.test_hostile import with_cells
from tests.kit.breaks import RESEARCHERS
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import PASSWORD, USER
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable.wire.access_codes import SECRET_BYTES, format_code, submission_id
from deniable_server.access import api_keys

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("DENIABLE_CROWDS_SECONDS", "0"))
ROUNDS, RESPONDENTS, MOST = 6, 4, 2.0
FEW = 3  # rounds of every respondent in the suite, quiet and loud


def survey_of(id_: str, questions: int, **keys: object) -> Survey:
    asked = [{"id": f"q{number}", "text": f"Question {number}?", "type": "yes_no", "epsilon": "ln 3"} for number in range(questions)]
    return Survey.from_dict({"deniable": 1, "id": id_, "title": "T", "about": "A.", "questions": asked, **keys})


STUDY, WIDE = survey_of("study", 4), survey_of("wide", 4, groups=[f"School {number}" for number in range(200)])
MODELLED = survey_of("modelled", 4)


@dataclass
class Waits:
    """Seconds that each kind of request took, and the statuses that were no success."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: Counter[str] = field(default_factory=Counter)

    def ask(self, kind: str, request: Callable[[], httpx.Response]) -> None:
        begun = time.monotonic()
        reply = request()
        self.seconds[kind].append(time.monotonic() - begun)
        if reply.status_code != 200:
            self.failures[f"{kind} {reply.status_code}"] += 1


def respond(http: httpx.Client, waits: Waits) -> None:
    """What a respondent does: looks, answers, takes it back; and once with coins."""
    secret, coins = os.urandom(SECRET_BYTES), os.urandom(SECRET_BYTES)
    body = submission(STUDY, id_=submission_id(secret)).to_json()
    code = json.dumps({"code": base64.urlsafe_b64encode(secret).rstrip(b"=").decode()})
    form = {"secret": format_code(coins), **{f"mark-{number}": "yes" for number in range(1, 5)}}
    api, kind = "/api/v1/surveys/study", {"Content-Type": "application/json"}
    waits.ask("page", lambda: http.get("/s/study"))
    waits.ask("definition", lambda: http.get(api))
    waits.ask("submission", lambda: http.post(f"{api}/submissions", content=body, headers=kind))
    waits.ask("withdrawal", lambda: http.post(f"{api}/withdrawals", content=code, headers=kind))
    waits.ask("form for coins", lambda: http.get("/s/study/by-hand"))
    waits.ask("coins", lambda: http.post("/s/study/by-hand", data=form))


def respondents(url: str, waits: Waits, more: Callable[[int], bool]) -> None:
    """RESPONDENTS of them at once, each as long as there is more to do."""

    def one(_: int) -> None:
        number = 0
        with httpx.Client(base_url=url, timeout=PATIENCE) as http:
            while more(number):
                respond(http, waits)
                number += 1
                time.sleep(0.02)  # people do not answer without a pause

    with ThreadPoolExecutor(RESPONDENTS) as pool:
        list(pool.map(one, range(RESPONDENTS)))


@contextmanager
def crowd(server: Any, workbook: Path, key: str) -> Iterator[Counter[str]]:
    """40 researchers, once the first of them was answered; what they were told by then."""
    told: Counter[str] = Counter()
    busy = threading.Event()
    command = [sys.executable, RESEARCHERS, server.url, USER, PASSWORD, str(workbook), key]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:

        def listen() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                if line != "ready\n":
                    told.clear()
                    told.update(json.loads(line.replace("'", '"')))
                    busy.set()

        listener = threading.Thread(target=listen)
        listener.start()
        try:
            assert busy.wait(PATIENCE), "no researcher was answered"
            yield told
        finally:
            process.kill()
            listener.join()


@pytest.fixture
def site(make_server: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Path, str]:
    """A server with the three surveys, a workbook of many empty cells, and a key."""
    if SECONDS:
        monkeypatch.delenv("DENIABLE_NICENESS")  # as it is shipped; beside other tests it would take too long to begin
    server, workbook = make_server(), tmp_path / "form.xlsx"
    workbook.write_bytes(with_cells(997, 1900))
    server.publish(STUDY, WIDE, MODELLED)
    with server.store() as store:
        for group in WIDE.groups:
            store.submissions.add("wide", submission(WIDE, 20, group=group, mode="organisation"))
        store.submissions.add("modelled", submission(MODELLED, 5000, mode="organisation"))
        key = api_keys.make(store, "reader", ["reports", "results"])
    server.start("--most-per-second", "100000")
    return server, workbook, key


def test_respondents_are_answered_beside_researchers_who_have_everything_computed(site: tuple[Any, Path, str]) -> None:
    server, workbook, key = site
    quiet, loud, told = Waits(), Waits(), Counter[str]()
    for _ in range(ROUNDS if SECONDS else 1):
        for waits, researchers in ((quiet, False), (loud, True)):
            if researchers:
                with crowd(server, workbook, key) as seen:
                    respondents(server.url, waits, moment())
                    told += seen
            else:
                respondents(server.url, waits, moment())
    report(quiet, loud, told)
    assert not quiet.failures
    assert not loud.failures
    assert {name.split()[1] for name in told} <= {"200", "400", "422", "503"}, told
    if SECONDS:
        for kind, seconds in quiet.seconds.items():
            assert statistics.median(loud.seconds[kind]) < MOST * statistics.median(seconds), kind


def moment() -> Callable[[int], bool]:
    """Whether there is more to do in this moment: for SECONDS, or in the suite FEW times."""
    until = time.monotonic() + SECONDS
    return lambda number: time.monotonic() < until if SECONDS else number < FEW


def report(quiet: Waits, loud: Waits, told: Counter[str]) -> None:
    for kind, before in quiet.seconds.items():
        median = statistics.median(before)
        cells = []
        for seconds in (before, loud.seconds[kind]):
            cuts = statistics.quantiles(seconds, n=100, method="inclusive")
            within = sum(one <= MOST * median for one in seconds) / len(seconds)
            times = f"median {1000 * cuts[49]:6.1f}, p95 {1000 * cuts[94]:6.1f}, worst {1000 * max(seconds):6.0f} ms"
            cells.append(f"{times}, {within:4.0%} within twice")
        ratio = statistics.median(loud.seconds[kind]) / median
        print(f"{kind:15} quiet: {cells[0]}; beside researchers: {cells[1]}; {ratio:.2f} times the median")
    print(f"researchers: {dict(sorted(told.items()))}")
