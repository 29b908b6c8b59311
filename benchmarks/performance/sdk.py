"""Many rows from end to end: read, checked, randomized, journaled, sent to a server on the same machine, and acknowledged."""

from __future__ import annotations

import csv
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.performance.coins import yes_no
from benchmarks.performance.line import Line
from tests.kit.servers.process import ServerProcess

from deniable.sdk.client import SurveyClient

ROWS, QUICK_ROWS = 1_000_000, 200_000


class Study:
    """A server in a folder, and a survey of 20 questions of yes or no on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = ServerProcess(folder)
        self.server.start()
        self.survey = yes_no(20)
        self.server.publish(self.survey)
        self.runs = 0
        self.by_processor: list[float] = []

    def rate(self, rows: Any, **options: Any) -> float:
        """Respondents a second, by the clock: from rows to the last acknowledgement. Notes what the processor's time alone would allow."""
        self.runs += 1
        outbox = self.folder / f"outbox{self.runs}"
        with SurveyClient(self.server.url, outbox=outbox, key=self.server.key) as client:
            client.survey("s")
            begun, ours, theirs = time.perf_counter(), time.process_time(), self.server_time()
            accepted = client.submit_many("s", rows, job=f"run {self.runs}", **options).accepted
            took = time.perf_counter() - begun
            self.by_processor.append(accepted / max(time.process_time() - ours, self.server_time() - theirs))
            return accepted / took

    def rate_by_processor(self) -> float:
        """Respondents a second if two cores did nothing else, from the run before: the longer one of client and server decides."""
        return self.by_processor.pop()

    def server_time(self) -> float:
        """Seconds of the processor that the server's processes have taken."""
        assert self.server.process is not None
        spent = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # of one that has just ended
                fields = stat.read_text().rpartition(")")[2].split()
                spent += (int(fields[11]) + int(fields[12])) * (int(fields[2]) == self.server.process.pid)
        return spent / os.sysconf("SC_CLK_TCK")


def answers(n: int) -> pd.DataFrame:
    """Words, as files have them."""
    rng = np.random.default_rng(1)
    return pd.DataFrame({f"q{i}": np.where(rng.random(n) < 0.3, "yes", "no") for i in range(20)})


def lines(quick: bool) -> Iterator[Line]:
    n = QUICK_ROWS if quick else ROWS
    with tempfile.TemporaryDirectory() as name:
        study = Study(Path(name))
        try:
            yield from _lines(study, answers(n), Path(name))
        finally:
            study.server.close()


def _lines(study: Study, words: pd.DataFrame, folder: Path) -> Iterator[Line]:
    flags = words == "yes"
    words.to_csv(folder / "rows.csv", index=False)
    words.to_csv(folder / "quoted.csv", index=False, quoting=csv.QUOTE_ALL)
    words.to_parquet(folder / "rows.parquet")
    for name, rows, reach in (
        ("DataFrame of true and false", flags, 1_000_000),
        ("DataFrame of words", words, 1_000_000),
        ("CSV", folder / "rows.csv", 500_000),
        ("CSV with quotes, read cell by cell", folder / "quoted.csv", 250_000),
        ("Parquet", folder / "rows.parquet", 500_000),
    ):
        yield Line(
            f"from end to end: {name}",
            ">= 1",
            lambda rows=rows: study.rate(rows),  # type: ignore[misc]
            reach,
            "respondents a second to reach",
            "/s",
            rounds=3,
            by="wall",
            remark="what else the machine does: the next line is what the processor's time alone would allow",
        )
        yield Line(
            f"the same on two cores that do nothing else: {name}",
            ">= 1",
            study.rate_by_processor,
            reach,
            "respondents a second to reach",
            "/s",
            rounds=3,
        )
