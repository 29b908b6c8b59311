"""Cost of the store: single submissions beside large ones, a withdrawal at 2,048 bits, and a results page during submissions.

Run: make bench NAME=store, with ARGS=NAME for one of the three: the name of its function.
"""

from __future__ import annotations

import http.client
import itertools
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire.part import Mode
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server.store import open_store
from deniable_server.store.protocol import Store

CONNECTIONS, SECONDS, PORT = 32, 30, 18431


def survey_of(questions: int, **keys: object) -> Survey:
    asked = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(questions)]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": 8, "questions": asked, **keys})


def submission(survey: Survey, count: int = 1, mode: Mode = "device") -> Submission:
    bits = [randomize(q.channel, np.zeros(count, dtype=np.int64), os_words) for q in survey.questions]
    return Submission(os.urandom(16), survey.digest, count, pack(survey, bits), mode=mode)


def cpu_of_singles(store: Store, survey: Survey, number: int = 500) -> float:
    """Milliseconds of CPU a submission, of all threads."""
    made = [submission(survey) for _ in range(number)]
    before = time.process_time()
    for one in made:
        store.submissions.add("s", one)
    return 1000 * (time.process_time() - before) / number


def singles_beside_large_ones(folder: Path) -> None:
    survey = survey_of(20)
    store = open_store(folder / "large.db")
    store.surveys.publish(survey)
    cpu_of_singles(store, survey)
    alone = cpu_of_singles(store, survey)
    wide = survey_of(2048, id="wide", batch=1, accept_small_batches=True)
    store.surveys.publish(wide)
    size = wide.record.bytes
    for length in [300_000] * 1000 + [25_000_000] * 5:
        count = length // size
        store.submissions.add("wide", Submission(os.urandom(16), wide.digest, count, os.urandom(count * size)))
    beside = cpu_of_singles(store, survey)
    print(f"a single submission: {alone:.2f} ms of CPU, {beside:.2f} beside 1,000 of 300 kB and five of 25 MB ({beside / alone:.1f} times)")
    store.close()


def withdrawals(folder: Path) -> None:
    survey = survey_of(2048, batch=1, accept_small_batches=True)
    store = open_store(folder / "wide.db")
    store.surveys.publish(survey)
    made = [submission(survey, mode="organisation") for _ in range(100)]  # counted at once
    for one in made:
        store.submissions.add("s", one)
    held: list[float] = []
    commit = store.database.writer._commit

    def timed(batch: list[Any]) -> None:
        begun = time.thread_time()
        commit(batch)
        held.append(time.thread_time() - begun)

    store.database.writer._commit = timed  # type: ignore[method-assign]
    whole = []
    for one in made[:50]:
        begun = time.perf_counter()
        store.submissions.withdraw("s", one.id)
        whole.append(time.perf_counter() - begun)
    worst, median = 1000 * max(held), 1000 * float(np.median(held))
    print(f"a withdrawal at 2,048 bits: {median:.2f} ms of the writer's CPU, {worst:.2f} at worst; {1000 * np.median(whole):.1f} ms in all")
    store.close()


def page_under_load(folder: Path) -> None:
    db, survey = folder / "load.db", survey_of(20)
    command = [str(Path(sys.executable).with_name("deniable-server"))]
    environment = {**os.environ, "PASSWORD": "correct horse battery"}
    subprocess.run([*command, "init", "--db", str(db), "--user", "ada", "--password-env", "PASSWORD"], check=True, env=environment)
    store = open_store(db)
    store.surveys.publish(survey)
    store.close()
    server = subprocess.Popen([*command, "serve", "--db", str(db), "--port", str(PORT)])
    url, sent = f"http://127.0.0.1:{PORT}", multiprocessing.Value("l", 0)
    respondents = multiprocessing.Process(target=pour, args=[survey, sent], daemon=True)
    try:
        with httpx.Client(base_url=url, timeout=60, follow_redirects=True) as browser:
            wait_for(url)
            token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', browser.get("/login").text)
            assert token
            browser.post("/login", data={"user": "ada", "password": "correct horse battery", "csrf_token": token[1]})
            respondents.start()
            while sent.value < CONNECTIONS:
                time.sleep(0.1)
            took, before, begun = [], sent.value, time.monotonic()
            while time.monotonic() < begun + SECONDS:
                asked = time.perf_counter()
                assert "responses" in browser.get("/manage/surveys/s").raise_for_status().text
                took.append(time.perf_counter() - asked)
            rate = (sent.value - before) / (time.monotonic() - begun)
        print(
            f"a results page under {CONNECTIONS} connections, {rate:,.0f} submissions a second: "
            f"median {1000 * np.median(took):.0f} ms, at worst {1000 * max(took):.0f} ms, {len(took)} pages in {SECONDS} s"
        )
    finally:
        if respondents.is_alive():
            respondents.kill()
        server.terminate()
        server.wait()


def pour(survey: Survey, sent: Any) -> None:
    """Respondents in a process of their own, each sending one record after another; counts what is acknowledged."""
    reports = [submission(survey).reports for _ in range(100)]

    def respond() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=600)
        for record in itertools.cycle(reports):
            body = Submission(os.urandom(16), survey.digest, 1, record).to_json()
            connection.request("POST", "/api/v1/surveys/s/submissions", body, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            reply.read()
            if reply.status == 200:
                with sent.get_lock():
                    sent.value += 1

    threads = [threading.Thread(target=respond) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def wait_for(url: str) -> None:
    for _ in range(300):
        try:
            httpx.get(f"{url}/healthz", timeout=60).raise_for_status()
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    measures = {measure.__name__: measure for measure in (withdrawals, singles_beside_large_ones, page_under_load)}
    with tempfile.TemporaryDirectory() as name:
        for chosen in sys.argv[1:] or measures:
            measures[chosen](Path(name))
