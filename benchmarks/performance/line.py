"""One line of the table: what is measured, beside what, and how far apart the two must be; and the measuring."""

from __future__ import annotations

import gc
import operator
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

RELATIONS = {"<=": operator.le, ">=": operator.ge}


@dataclass(frozen=True)
class Took:
    """What another process took, of the processor and by the clock, in the line's unit. faults: pages that it was given meanwhile."""

    cpu: float
    wall: float
    faults: int | None = None


@dataclass(frozen=True)
class Line:
    """A claim. target: such as "<= 0.6", of ours / the limit.

    ours, limit: called in turns, `rounds` times after one time that does not count; their time is taken, by the processor and by the clock,
    unless they give a `Took`. A limit that is a number is a figure to reach, and `ours` then gives a figure in `unit`. by: "cpu" or "wall",
    which time the ratio is of; what waits for a disk or for another process is measured by the clock. remark: what limits it, where that is
    known. missing: what is needed to measure it and is not there.
    """

    name: str
    target: str
    ours: Callable[[], Any]
    limit: Callable[[], Any] | float
    beside: str
    unit: str = "ms"
    by: str = "cpu"
    rounds: int = 5
    remark: str = ""
    missing: str = ""


@dataclass(frozen=True)
class Row:
    """What was measured of a line: medians, in `unit`; None where nothing was.

    ours_wall, reference_wall: by the clock, where times were taken. faults: of ours, in the last round, where they were counted.
    when: it was measured, and how busy the machine was then.
    """

    name: str
    ours: float | None
    reference: float | None
    ratio: float | None
    target: str
    passed: bool
    unit: str
    beside: str
    by: str
    ours_wall: float | None = None
    reference_wall: float | None = None
    remark: str = ""
    when: str = ""
    faults: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As results.json has it, where `passed` is `pass`."""
        fields = asdict(self)
        return {"pass" if key == "passed" else key: value for key, value in fields.items()}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Row:
        """The inverse of `to_dict`."""
        return cls(**{"passed" if key == "pass" else key: value for key, value in row.items()})


def measured(line: Line, rounds: int | None = None) -> Row:
    """Measures a line. rounds: fewer or more than its own."""
    rounds = rounds or line.rounds
    if line.missing:
        return Row(line.name, None, None, None, line.target, False, line.unit, line.beside, line.by, remark=line.missing)
    if not callable(line.limit):
        figures = [float(line.ours()) for _ in range(rounds)]
        return _row(line, (median(figures), None), (float(line.limit), None))
    _timed(line.ours), _timed(line.limit)
    pairs = [(_timed(line.ours), _timed(line.limit)) for _ in range(rounds)]
    ours, limit = (tuple(median((pair[which].cpu, pair[which].wall)[clock] for pair in pairs) for clock in (0, 1)) for which in (0, 1))
    return replace(_row(line, (ours[0], ours[1]), (limit[0], limit[1])), faults=pairs[-1][0].faults)


def meets(ratio: float, target: str) -> bool:
    """Whether a ratio is as a target says, such as "<= 0.6". Raises KeyError, ValueError for what is no target."""
    relation, number = target.split()
    return bool(RELATIONS[relation](ratio, float(number)))


def _row(line: Line, ours: tuple[float, float | None], reference: tuple[float, float | None]) -> Row:
    by_clock = line.by == "wall" and ours[1] is not None and reference[1] is not None
    above, below = (ours[1], reference[1]) if by_clock else (ours[0], reference[0])
    ratio = float(above or 0) / float(below or 1e-9)
    return Row(
        line.name,
        ours[0],
        reference[0],
        ratio,
        line.target,
        meets(ratio, line.target),
        line.unit,
        line.beside,
        line.by,
        ours[1],
        reference[1],
        line.remark,
    )


def _timed(what: Callable[[], Any]) -> Took:
    """Milliseconds of the processor, in this process or the one that did the work, and by the clock."""
    gc.collect()
    processor, clock = time.process_time(), time.perf_counter()
    took = what()
    if isinstance(took, Took):
        return took
    return Took(1000 * (time.process_time() - processor), 1000 * (time.perf_counter() - clock))
