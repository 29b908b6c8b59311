"""Memory of a client while it sends a file: it grows only by perturbed records that wait, of which there are 32 MB at most."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.performance.line import Line
from benchmarks.performance.sdk import Study, answers

RUN = r"""
import os, re, sys
from deniable.sdk.client import SurveyClient
url, outbox, rows = sys.argv[1:]
with SurveyClient(url, outbox=outbox, key=os.environ["DENIABLE_KEY"]) as client:
    client.submit_many("s", rows)
print(int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) / 1024)
"""


def peak(study: Study, rows: Path, outbox: str) -> float:
    """MB of a client that sends these rows, at its highest: VmHWM, since ru_maxrss begins with that of the process that starts it."""
    command = [sys.executable, "-c", RUN, study.server.url, str(study.folder / outbox), str(rows)]
    environment = {**os.environ, "DENIABLE_KEY": study.server.key}
    return float(subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout)


def lines(quick: bool) -> Iterator[Line]:
    few = 250_000
    times = 4 if quick else 16
    with tempfile.TemporaryDirectory() as name:
        study, numbers = Study(Path(name)), itertools.count()
        try:
            part = answers(few)
            with open(study.folder / "rows.csv", "w", encoding="utf-8") as file:
                for number in range(times):
                    part.to_csv(file, index=False, header=number == 0)
            yield Line(
                f"memory of a client that sends {few * times:,} rows of CSV",
                "<= 1",
                lambda: peak(study, study.folder / "rows.csv", f"box{next(numbers)}"),
                300.0,
                "300 MB",
                "MB",
                rounds=1,
            )
        finally:
            study.server.close()
