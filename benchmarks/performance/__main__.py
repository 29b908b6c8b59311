"""make bench: measures every line, writes results.json and RESULTS.md into benchmarks/, and its ratios behind those in history.jsonl.

--quick: the lines that take no server, or little of one. --only NAME: the lines of one subject; the others stay as they were.
--against FILE: an earlier results.json; names what is a fifth worse, and then ends with status 1.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.performance import bulk, coins, counting, downloads, estimates, ingest, inputs, memory, peers, report, sdk, start
from benchmarks.performance.line import Line, Row, measured

FOLDER = Path(__file__).parents[1]
SUBJECTS: dict[str, Callable[[bool], Iterator[Line]]] = {
    "bulk": bulk.lines,
    "coins": coins.lines,
    "counting": counting.lines,
    "downloads": downloads.lines,
    "estimates": estimates.lines,
    "ingest": ingest.lines,
    "inputs": inputs.lines,
    "memory": memory.lines,
    "peers": peers.lines,
    "sdk": sdk.lines,
    "start": start.lines,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.performance", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", choices=SUBJECTS)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--into", type=Path, default=FOLDER, help="the folder that the results are written to")
    told = parser.parse_args()
    earlier = report.read(told.against) if told.against else []
    rows, begun, load = [], time.monotonic(), [os.getloadavg()[0]]
    for subject in told.only or SUBJECTS:
        for line in SUBJECTS[subject](told.quick):
            load.append(os.getloadavg()[0])
            when = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC, {load[-1]:.0f}"
            rows.append(replace(measured(line, 3 if told.quick else None), when=when))
            print(_shown(rows[-1]), flush=True)
    machine = {
        "measured": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC, in {time.monotonic() - begun:,.0f} s"
        + (", with --quick: fewer rows and rounds" if told.quick else ""),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}",
        "load average": f"{min(load):.1f} to {max(load):.1f} in this run, of which the run itself is 1 to 2",
    }
    found, file = [row.to_dict() for row in rows], told.into / "results.json"
    table = report.joined(rows, report.read(file)) if told.only and file.exists() else rows
    file.write_text(json.dumps([row.to_dict() for row in table], indent=1) + "\n", encoding="utf-8")
    (told.into / "RESULTS.md").write_text(report.written(table, machine), encoding="utf-8")
    with (told.into / "history.jsonl").open("a", encoding="utf-8") as history:
        history.write(report.remembered(rows, machine) + "\n")
    worse = report.lost(found, [row for row in earlier if not told.only or row["name"] in {one["name"] for one in found}])
    for text in worse:
        print(f"lost a fifth: {text}", file=sys.stderr)
    return int(bool(worse))


def _shown(row: Row) -> str:
    if row.ratio is None:
        return f"        not measured      {row.name}: {row.remark}"
    met = "met" if row.passed else "NOT MET"
    return f"{met:8}{row.ratio:8.3g} {row.target:9} {row.name}: {row.ours:,.4g} {row.unit}, {row.beside} {row.reference:,.4g}"


if __name__ == "__main__":
    sys.exit(main())
