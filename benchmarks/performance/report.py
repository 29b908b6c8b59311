"""The rows of a run as a table and as a file, and beside an earlier run's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.performance.line import RELATIONS, Row

HEAD = """
# How fast it is

`make bench` wrote this, and `results.json` beside it. Ours and what it is compared with are measured in turns in one run; times are
medians. *cpu*: the ratio is one of the processor's time; *wall*: of the time by the clock. A rate is beside the rate that it has to reach.
*when*, with the load average: `--only` measures some lines anew, and leaves the others as they were.
"""
LOST = 1.2
"""A ratio that is so many times worse is named."""


def written(rows: Sequence[Row], machine: Mapping[str, str]) -> str:
    """RESULTS.md."""
    told = "\n".join(f"- {key}: {value}" for key, value in machine.items())
    head = "| line | ours | beside | of that | ratio | by | target | | when |\n" + "|---" * 9 + "|"
    lines = "\n".join(map(_line, rows))
    measured = [row for row in rows if row.ratio is not None]
    missed = [row for row in measured if not row.passed]
    why = "\n".join(f"- **{row.name}** ({row.ratio:.3g}, target {row.target}): {row.remark or 'not known'}" for row in missed)
    limits = f"## What limits the lines that are not met\n\n{why}" if missed else ""
    met = f"{len(measured) - len(missed)} of {len(measured)} lines are met."
    met += f" {len(rows) - len(measured)} were not measured." if len(measured) < len(rows) else ""
    return "\n\n".join(part for part in (HEAD.strip(), told, f"{head}\n{lines}", met, limits) if part) + "\n"


def _line(row: Row) -> str:
    if row.ratio is None or row.ours is None or row.reference is None:
        return f"| {row.name} | | {row.beside} | | | {row.by} | {row.target} | not measured: {row.remark} | {row.when} |"
    ours = _figure(row.ours, row.ours_wall, row) + ("" if row.faults is None else f", {row.faults:,} page faults")
    cells = [row.name, ours, row.beside, _figure(row.reference, row.reference_wall, row)]
    return "| " + " | ".join([*cells, f"{row.ratio:.3g}", row.by, row.target, "met" if row.passed else "**not met**", row.when]) + " |"


def _figure(value: float, wall: float | None, row: Row) -> str:
    shown = wall if row.by == "wall" and wall is not None else value
    return f"{shown:,.0f} {row.unit}" if shown >= 100 else f"{shown:.3g} {row.unit}"


def joined(rows: Sequence[Row], earlier: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The rows of an earlier file, each in its place, with those of the same name that were measured anew; and what is new."""
    fresh = {row.name: row for row in rows}
    kept = [fresh.pop(row["name"], None) or Row.from_dict(row) for row in earlier]
    return kept + list(fresh.values())


def remembered(rows: Sequence[Row], machine: Mapping[str, str]) -> str:
    """A line of the history: when, where, and each line's ratio."""
    return json.dumps({**machine, "ratios": {row.name: round(row.ratio, 4) for row in rows if row.ratio is not None}})


def lost(rows: Sequence[Mapping[str, Any]], earlier: Sequence[Mapping[str, Any]]) -> list[str]:
    """In words, the lines whose ratio is at least a fifth worse than in an earlier run, and those that are not measured any more."""
    now, before = ({row["name"]: row for row in part if row["ratio"] is not None} for part in (rows, earlier))
    worse = [
        f"{name}: {old['ratio']:.3g} became {now[name]['ratio']:.3g}"
        for name, old in before.items()
        if name in now and _worse(now[name], old)
    ]
    return worse + [f"{name}: is not measured any more" for name in before if name not in now]


def _worse(now: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    smaller_is_better = old["target"].split()[0] == "<="
    better, worse = (old["ratio"], now["ratio"]) if smaller_is_better else (now["ratio"], old["ratio"])
    return bool(worse > LOST * better)


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a results file. Raises ValueError, naming the file, where it is none."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        assert all(
            row["target"].split()[0] in RELATIONS and (row["ratio"] is None or row["ratio"] + 0 >= 0) and row["name"] for row in rows
        )
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, AssertionError):
        raise ValueError(f"{path} must be a results file of this benchmark, and is none") from None
    return list(rows)
