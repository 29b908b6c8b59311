"""Cost of many reports: stored, exported, and counted by one process and by a cluster on this machine.

Run: make bench NAME=scale ARGS="--bits 20 --millions 1 10". Each step is a separate process, so that its peak memory can be measured.
Records are made up, all bits even. They come in submissions of about 2.5 MB, as the client's do, checked and durable. The lines below the
table are computed from the largest sizes: the cost of a billion.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from deniable.exported import Export
from deniable.survey import Survey
from deniable.wire.submission import MAX_COUNT, Submission
from deniable_server.operate.cli_export import export
from deniable_server.store import open_store

SUBMISSION_BYTES = 5 << 19
SIZES = {20: [1, 10, 100], 2040: [0.05, 0.5, 5]}
"""Millions of records, by their bits."""
BILLION = 1000
DISKS = {"ingest": "in the database", "export": "exported"}


class Cost(NamedTuple):
    """cpu and wall: seconds; memory: MB at most; size: bytes of what is on the disk afterwards; start: seconds until a cluster is there."""

    cpu: float
    wall: float
    memory: float = 0.0
    size: int = 0
    start: float = 0.0


def survey_of(bits: int) -> Survey:
    asked = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(bits)]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": 8, "questions": asked})


# The steps, each in a process of its own.


def ingest(folder: Path, bits: int, millions: float) -> Cost:
    survey, rng = survey_of(bits), np.random.default_rng(1)
    store, cost, size = open_store(folder / "s.db"), Cost(0, 0), survey.record.bytes
    store.surveys.publish(survey)
    left, most = round(millions * 10**6), min(MAX_COUNT, SUBMISSION_BYTES // size)
    padding = np.full(size, 255, dtype=np.uint8)
    padding[-1] = 256 - (1 << 8 * size - bits)
    while left:
        n = min(most, left)
        records = rng.integers(0, 256, (n, size), dtype=np.uint8) & padding
        one = Submission(os.urandom(16), survey.digest, n, records.tobytes(), mode="organisation")
        cost = added(cost, lambda one=one: (one.check(survey), store.submissions.add("s", one)))  # type: ignore[misc]
        left -= n
    store.close()
    return cost


def exporting(folder: Path, bits: int, millions: float) -> Cost:
    store = open_store(folder / "s.db")
    cost = added(Cost(0, 0), lambda: export(store, "s", folder / "out"))
    store.close()
    return cost


def tally(folder: Path, bits: int, millions: float) -> Cost:
    made = Export.open(folder / "out")
    return added(Cost(0, 0), lambda: require(made.tally().n == round(millions * 10**6)))


def cluster(folder: Path, bits: int, millions: float) -> Cost:
    """As many workers as there are processors."""
    begun = time.perf_counter()
    from distributed import Client, LocalCluster

    with LocalCluster(threads_per_worker=1, n_workers=os.cpu_count(), dashboard_address="127.0.0.1:0") as local, Client(local) as client:
        client.wait_for_workers(os.cpu_count() or 1)
        start = time.perf_counter() - begun
        before, made = sum(client.run(time.process_time).values()), Export.open(folder / "out")
        cost = added(Cost(0, 0), lambda: require(made.tally(client=client).n == round(millions * 10**6)))
        cpu = sum(client.run(time.process_time).values()) - before
        return cost._replace(cpu=cpu, start=start, memory=max(client.run(highest).values()))


STEPS: dict[str, Callable[[Path, int, float], Cost]] = {"ingest": ingest, "export": exporting, "tally": tally, "cluster": cluster}


def added(cost: Cost, work: Callable[[], object]) -> Cost:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return cost._replace(cpu=cost.cpu + time.process_time() - cpu, wall=cost.wall + time.perf_counter() - wall)


def require(holds: bool) -> None:
    if not holds:
        raise SystemExit("other records were counted than were sent")


def highest() -> float:
    """MB of this process, at its highest."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) / 1024


# The table.


def measured(folder: Path, bits: int, millions: float) -> dict[str, Cost]:
    found = {}
    for step in STEPS:
        command = [sys.executable, __file__, "--step", step, str(folder), "--bits", str(bits), "--millions", str(millions)]
        found[step] = Cost(*json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))
    sizes = {"ingest": folder / "s.db", "export": folder / "out"}
    return {step: cost._replace(size=on_disk(sizes[step])) if step in sizes else cost for step, cost in found.items()}


def on_disk(path: Path) -> int:
    """Bytes of a file, or of all in a folder."""
    return sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path]))


HEAD = """| records | bits | | CPU s a million | wall s a million | bytes a record on disk | memory, MB |
|---|---|---|---|---|---|---|"""


def rows(bits: int, millions: float, costs: dict[str, Cost]) -> Iterator[str]:
    for step, cost in costs.items():
        size = f"{cost.size / millions / 10**6:,.2f}" if cost.size else ""
        name = f"{step}, {cost.start:.1f} s to start" if cost.start else step
        timed = f"{cost.cpu / millions:,.3g} | {cost.wall / millions:,.3g}"
        yield f"| {millions:,g} million | {bits:,} | {name} | {timed} | {size} | {cost.memory:,.0f} |"


def planned(bits: int, millions: float, costs: dict[str, Cost]) -> str:
    """A billion records, at the costs of the largest size that was measured."""
    told = [f"{step} {hours(cost.cpu / millions * BILLION)} of CPU" for step, cost in costs.items() if step != "cluster"]
    sizes = [f"{costs[step].size / millions * BILLION / 10**9:,.3g} GB {where}" for step, where in DISKS.items()]
    return f"A billion records of {bits:,} bits, as {millions:g} million cost: {', '.join([*told, *sizes])}."


def hours(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} hours" if seconds >= 3600 else f"{seconds / 60:,.1f} minutes"


@contextmanager
def place(where: Path | None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=where) as name:
        yield Path(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, choices=SIZES)
    parser.add_argument("--millions", type=float, nargs="+")
    parser.add_argument("--folder", type=Path, help="where the files are made: not in memory")
    parser.add_argument("--step", nargs=2, metavar=("STEP", "FOLDER"), help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.step:
        step, folder = told.step
        cost = STEPS[step](Path(folder), told.bits, told.millions[0])
        print(json.dumps(cost._replace(memory=cost.memory or highest())))
        return
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n\n{HEAD}", flush=True)
    plans = []
    for bits in [told.bits] if told.bits else SIZES:
        for millions in told.millions or SIZES[bits]:
            with place(told.folder) as folder:
                costs = measured(folder, bits, millions)
            print("\n".join(rows(bits, millions, costs)), flush=True)
        plans.append(planned(bits, millions, costs))
    print("\n" + "\n\n".join(plans))


if __name__ == "__main__":
    main()
