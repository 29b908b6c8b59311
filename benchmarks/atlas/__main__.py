"""make bench-atlas: measures every cell, and writes benchmarks/atlas.json and docs/reference/coverage.md.

Of what is not measured again, the page has what the file remembers. Ends with status 1 where a cell fails.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.atlas.cell import Cell, Line, Measured, measured
from benchmarks.atlas.lines import lines
from benchmarks.atlas.page import named, written

from deniable.estimate.tables import resampled

FOLDER = Path(__file__).parents[2]
FILE, PAGE = FOLDER / "benchmarks" / "atlas.json", FOLDER / "docs" / "reference" / "coverage.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.atlas", description=__doc__)
    parser.add_argument("--surveys", type=int, default=1000, help="simulated surveys a cell, fewer of what takes long")
    parser.add_argument("--only", action="append", help="the figures whose name has this in it")
    told = parser.parse_args()
    every = list(lines())
    resampled.DRAWS = 199  # a fifth of what users get: p-values are coarser, and as often below 5%
    for line in every:
        if not told.only or any(part in line.figure for part in told.only):
            cells = [measured(line, cell, told.surveys) for cell in line.cells]
            print(f"{line.figure}: {len(cells)} cells", flush=True)
            found = {**remembered(every), line.figure: cells}
            FILE.write_text(stored(found), encoding="utf-8")
            PAGE.write_text(written(every, found), encoding="utf-8")
    found = remembered(every)
    failed = [shown(line, one) for line in every for one in found.get(line.figure, []) if one.fails(line)]
    print("\n".join(["", f"{len(failed)} cells fail", *failed]))
    return int(bool(failed))


def stored(found: Mapping[str, list[Measured]]) -> str:
    """As JSON, a line a figure."""
    rows = {
        name: [[vars(one.cell), *(None if math.isnan(part) else round(part, 6) for part in one[1:])] for one in cells]
        for name, cells in found.items()
    }
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(cells)}" for name, cells in rows.items()) + "\n}\n"


def remembered(every: list[Line]) -> dict[str, list[Measured]]:
    """What was measured earlier of the lines there are, where their cells are still the same."""
    earlier: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    found = {}
    for line in every:
        rows = [_measured(one, rest) for one, *rest in earlier.get(line.figure, [])]
        if [row.cell for row in rows] == list(line.cells):
            found[line.figure] = rows
    return found


def _measured(cell: Mapping[str, Any], parts: Sequence[float | None]) -> Measured:
    *shares, surveys = (math.nan if part is None else part for part in parts)
    return Measured(Cell(cell["epsilon"], tuple(cell["sizes"]), cell["rare"]), *shares, surveys=int(surveys))


def shown(line: Line, one: Measured) -> str:
    """A cell that fails, in words."""
    cell = f"epsilon {one.cell.epsilon:g}, {named(one.cell.sizes)}, {'rare' if one.cell.rare else 'common'}"
    parts = ", ".join(f"{name} {100 * getattr(one, name):.1f}%" for name in ("holds", "misled", "warned", "refused", "flat"))
    return f"! {line.figure}: {cell}: {parts} of {one.surveys:,} surveys"


if __name__ == "__main__":
    sys.exit(main())
