"""Downloads from a running server: when the first byte arrives, beside the last."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
from benchmarks.performance.coins import yes_no
from benchmarks.performance.line import Line
from tests.kit.servers.process import ServerProcess

from deniable.wire.submission import Submission
from deniable_server.access import api_keys

SUBMISSION = 100_000
ROWS = ("rows.csv", "rows.xlsx", "rows.parquet", "rows.sav", "rows.dta")
FILES = {
    **{name: f"bundle/{name}" for name in ROWS},
    "bundle.zip": "bundle",
    "reports.arrow": "reports?form=arrow",
    "reports.parquet": "reports?form=parquet",
    "reports.packed": "reports",
}
"""The files, and their addresses below the survey's."""
REMARKS = {"reports.packed": "the whole file takes little longer than a reply without records: see docs/reference/benchmarks.md"}
PATIENCE = 600.0  # seconds


class Downloads:
    """A server with records of 20 questions that are answered by yes or no, and a client with a key."""

    def __init__(self, folder: Path, records: int) -> None:
        self.server, self.survey = ServerProcess(folder), yes_no(20)
        self.server.publish(self.survey)
        with self.server.store() as store:
            key = api_keys.make(store, "reader", ["reports"])
        self.add(records)
        self.server.start()
        self.client = httpx.Client(base_url=self.server.url, headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE)

    def add(self, records: int) -> None:
        """Adds records, at least a batch, so that no file of before is served."""
        with self.server.store() as store:
            for first in range(0, records, SUBMISSION):
                n = min(SUBMISSION, records - first)
                made = b"".join(os.urandom(2) + b"\x50" for _ in range(n))  # 20 bits each, and four that are zero
                store.submissions.add("s", Submission(os.urandom(16), self.survey.digest, n, made, mode="organisation"))

    def share(self, name: str) -> float:
        """Downloads a file. Returns the time of the first byte as a share of the time of the last."""
        self.add(100)
        begun = time.perf_counter()
        with self.client.stream("GET", f"/api/v1/surveys/s/{FILES[name]}") as reply:
            chunks = reply.raise_for_status().iter_raw()
            next(chunks)
            first = time.perf_counter() - begun
            for _ in chunks:
                pass
        return first / (time.perf_counter() - begun)

    def close(self) -> None:
        self.client.close()
        self.server.stop()
        self.server.close()


def lines(quick: bool) -> Iterator[Line]:
    records = 200_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        downloads = Downloads(Path(folder), records)
        downloads.share("rows.parquet")  # starts the process, and loads its libraries
        for name in FILES:
            what = f"the first byte of {name}, {records:,} records of 20 questions"
            share, remark = partial(downloads.share, name), REMARKS.get(name, "")
            yield Line(what, "<= 0.1", share, 1.0, "its last byte", "times", by="wall", rounds=3, remark=remark)
        downloads.close()
