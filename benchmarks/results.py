"""Cost of researchers' pages: results and the comparison of groups, by records, groups and questions.

Run: make bench NAME=results. Each survey is filled through the store, and its pages are requested in this process, by a researcher who is
logged in.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

import numpy as np
from flask.testing import FlaskClient

from deniable.survey import Survey
from deniable.wire.submission import MAX_COUNT, Submission
from deniable_server import Config, create_app
from deniable_server.context import services_of
from deniable_server.identity.passwords import set_password
from deniable_server.store.protocol import Store

SIZES = ((1_000, 20, 30), (100_000, 20, 30), (10_000_000, 20, 30), (20_000, 200, 30), (20_000, 200, 300), (200_000, 200, 300))
AGAIN = 15
PAGES = ("/login", "/manage/surveys/s", "/manage/surveys/s/groups")
Look = tuple[float, float]
PASSWORD = "correct horse battery"  # noqa: S105 - of a server that lives as long as this script


def survey_of(groups: int, questions: int) -> Survey:
    asked = [{"id": f"q{i}", "text": f"Question {i}?", "type": "yes_no"} for i in range(questions)]
    labels = [f"Group {i}" for i in range(groups)]
    head = {"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": 8, "batch": 1, "accept_small_batches": True}
    return Survey.from_dict({**head, "groups": labels, "questions": asked})


def fill(store: Store, survey: Survey, n: int) -> None:
    """About n records, not as many in any two groups; of yes/no questions any bits are possible."""
    rng = np.random.default_rng(1)
    for number, group in enumerate(survey.groups):
        left = n // len(survey.groups) + number - len(survey.groups) // 2
        while left:
            count = min(left, MAX_COUNT)
            bits = rng.random((count, survey.record.bits), dtype=np.float32) < 0.4
            reports = np.packbits(bits, axis=1).tobytes()
            store.submissions.add(survey.id, Submission(os.urandom(16), survey.digest, count, reports, group, "organisation"))
            left -= count


def logged_in(app_client: FlaskClient) -> FlaskClient:
    (token,) = re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', app_client.get("/login").text)
    app_client.post("/login", data={"user": "ada", "password": PASSWORD, "csrf_token": token})
    return app_client


def timed(client: FlaskClient, page: str) -> tuple[float, float]:
    """One look at a page: milliseconds of the processor, in all threads of this process, and by the clock."""
    processor, clock = time.process_time(), time.perf_counter()
    reply = client.get(page)
    spent = 1000 * (time.process_time() - processor), 1000 * (time.perf_counter() - clock)
    assert reply.status_code == 200, reply.text
    return spent


def looked(client: FlaskClient, pages: Sequence[str]) -> dict[str, tuple[Look, Look]]:
    """The first look at each page, and the medians of those after it, at all of them in turns."""
    first = {page: timed(client, page) for page in pages}
    again: dict[str, list[Look]] = {page: [] for page in pages}
    for _ in range(AGAIN):
        for page in pages:
            again[page].append(timed(client, page))
    return {page: (first[page], (median(cpu for cpu, _ in looks), median(clock for _, clock in looks))) for page, looks in again.items()}


def measured(n: int, groups: int, questions: int) -> str:
    """A row, in a process that has computed nothing yet: no limits are known, and no template is compiled."""
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Config(Path(folder) / "bench.db", "x" * 40))
        store: Store = services_of(app).store
        try:
            set_password(store.accounts, "ada", PASSWORD)
            survey = survey_of(groups, questions)
            store.surveys.publish(survey, "ada")
            fill(store, survey, n)
            looks = looked(logged_in(app.test_client()), PAGES)
        finally:
            store.close()
    cells = [f"{cpu:,.0f} / {clock:,.0f}" for page in PAGES for cpu, clock in looks[page]]
    return f"| {n:,} | {groups} | {questions} | {' | '.join(cells)} |"


def main() -> None:
    print(f"load average {os.getloadavg()[0]:.1f}; milliseconds of the processor / by the clock, of the first look and of those after it")
    print("| n | groups | questions | an empty page, first | again | results, first | again | groups, first | again |")
    print("|---|---|---|---|---|---|---|---|---|")
    for size in SIZES:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as one:
            print(one.submit(measured, *size).result(), flush=True)


if __name__ == "__main__":
    main()
