"""make bench NAME=atlas: measures every cell, and writes benchmarks/atlas.json and docs/reference/coverage.md.

Lines that are not measured again keep their results in that file. Ends with status 1 where a cell fails.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.atlas.cell import Cell, Line, Result, measure
from benchmarks.atlas.lines import lines
from benchmarks.atlas.page import named, render

from deniable.estimate.tables import bootstrap

FOLDER = Path(__file__).parents[2]
FILE, PAGE = FOLDER / "benchmarks" / "atlas.json", FOLDER / "docs" / "reference" / "coverage.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.atlas", description=__doc__)
    parser.add_argument("--surveys", type=int, default=1000, help="simulated surveys a cell, fewer of what takes long")
    parser.add_argument("--only", action="append", help="the figures whose name has this in it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cells at a time; the figures are the same with any number")
    options = parser.parse_args()
    every = list(lines())
    bootstrap.DRAWS = 199  # a fifth of what users get: p-values are coarser, and as often below 5%
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("fork")) as processes:
        for line in every:
            if not options.only or any(part in line.figure for part in options.only):
                save(every, line, cells_of(line, options.surveys, processes))
                print(f"{line.figure}: {len(line.cells)} cells", flush=True)
    results = load(every)
    failed = [described(line, one) for line in every for one in results.get(line.figure, []) if one.fails(line)]
    print("\n".join(["", f"{len(failed)} cells fail", *failed]))
    return int(bool(failed))


def cells_of(line: Line, surveys: int, processes: Executor) -> list[Result]:
    """Measures all cells of a line. The slowest come last in it, and begin first."""
    backwards = processes.map(partial(_cell, line.figure, surveys=surveys), reversed(range(len(line.cells))))
    return list(backwards)[::-1]


def _cell(figure: str, index: int, surveys: int) -> Result:
    """Measures one cell, in a separate process, which gets the name of the line: its functions cannot be pickled."""
    line = next(one for one in lines() if one.figure == figure)
    return measure(line, line.cells[index], surveys)


def save(every: list[Line], line: Line, cells: list[Result]) -> None:
    """Writes the file and the page, with new cells of one line."""
    results = {**load(every), line.figure: cells}
    FILE.write_text(to_json(results), encoding="utf-8")
    PAGE.write_text(render(every, results), encoding="utf-8")


def to_json(results: Mapping[str, list[Result]]) -> str:
    """Returns results as JSON, a line a figure."""
    rows = {
        name: [[vars(one.cell), *(None if math.isnan(part) else round(part, 6) for part in one[1:])] for one in cells]
        for name, cells in results.items()
    }
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(cells)}" for name, cells in rows.items()) + "\n}\n"


def load(every: list[Line]) -> dict[str, list[Result]]:
    """Returns earlier results of the present lines, where their cells are still the same."""
    earlier: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    results = {}
    for line in every:
        rows = [_read(one, rest) for one, *rest in earlier.get(line.figure, [])]
        if [row.cell for row in rows] == list(line.cells):
            results[line.figure] = rows
    return results


def _read(cell: Mapping[str, Any], parts: Sequence[float | None]) -> Result:
    """Reads one cell from JSON."""
    *shares, surveys = (math.nan if part is None else part for part in parts)
    return Result(Cell(cell["epsilon"], tuple(cell["sizes"]), cell["rare"]), *shares, surveys=int(surveys))


def described(line: Line, one: Result) -> str:
    """Returns a cell that fails, in words."""
    cell = f"epsilon {one.cell.epsilon:g}, {named(one.cell.sizes)}, {'rare' if one.cell.rare else 'common'}"
    parts = ", ".join(f"{name} {100 * getattr(one, name):.1f}%" for name in ("holds", "misled", "warned", "refused", "flat"))
    return f"! {line.figure}: {cell}: {parts} of {one.surveys:,} surveys"


if __name__ == "__main__":
    sys.exit(main())
