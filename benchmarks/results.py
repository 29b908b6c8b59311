"""What researchers' pages cost: the results of all, and all groups side by side, by records, groups and questions.

make bench-results. Each survey is filled through the store, and its pages are asked for in this process, by a researcher who is logged in.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from flask.testing import FlaskClient

from deniable.survey import Survey
from deniable.wire.submission import MAX_COUNT, Submission
from deniable_server import Config, create_app
from deniable_server.researchers.passwords import set_password
from deniable_server.store.protocol import Store

SIZES = ((1_000, 20, 30), (100_000, 20, 30), (10_000_000, 20, 30), (20_000, 200, 30), (20_000, 200, 300), (200_000, 200, 300))
AGAIN = 5
PASSWORD = "correct horse battery"  # noqa: S105 - of a server that lives as long as this script


def survey_of(groups: int, questions: int) -> Survey:
    asked = [{"id": f"q{i}", "text": f"Question {i}?", "type": "yes_no"} for i in range(questions)]
    labels = [f"Group {i}" for i in range(groups)]
    head = {"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": 8, "batch": 1}
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


def milliseconds(work: Callable[[], object]) -> float:
    """Of the processor, in all threads of this process."""
    before = time.process_time()
    work()
    return 1000 * (time.process_time() - before)


def asked(client: FlaskClient, page: str) -> str:
    """The first time, and the median of the times after it."""

    def get() -> None:
        reply = client.get(page)
        assert reply.status_code == 200, reply.text

    first = milliseconds(get)
    return f"{first:,.0f} | {sorted(milliseconds(get) for _ in range(AGAIN))[AGAIN // 2]:,.0f}"


def measured(folder: Path, n: int, groups: int, questions: int) -> str:
    config = Config(folder / "bench.db", "x" * 40)
    app = create_app(config)
    store: Store = app.extensions["deniable"]
    try:
        set_password(store.accounts, "ada", PASSWORD)
        survey = survey_of(groups, questions)
        store.surveys.publish(survey)
        fill(store, survey, n)
        client = logged_in(app.test_client())
        pages = ("/login", "/manage/surveys/s", "/manage/surveys/s/groups")
        cells = [asked(client, page) for page in pages]
    finally:
        store.close()
    return f"| {n:,} | {groups} | {questions} | {' | '.join(cells)} |"


def main() -> None:
    print(f"load average {os.getloadavg()[0]:.1f}; milliseconds of the processor, the first time and again")
    print("| n | groups | questions | an empty page, first | again | results, first | again | groups, first | again |")
    print("|---|---|---|---|---|---|---|---|---|")
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            print(measured(Path(folder), *size), flush=True)


if __name__ == "__main__":
    main()
