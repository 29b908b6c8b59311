"""The figures of the results page, for each choice of records that it can show: all, a group, those made by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from deniable.bundle.counted import Counted
from deniable.estimate import Results, estimate
from deniable.estimate.present import spreadsheet
from deniable.estimate.present.table import Table
from deniable.wire.part import Mode, Part

COLUMNS = (
    *("group", "by_hand", "figure", "question", "option", "n", "ones", "estimate", "std_error", "low", "high", "adjusted"),
    *("epsilon", "confidence", "method", "target", "chance_rate", "scale_low", "scale_high", "warning"),
)
"""Of estimates.csv. estimate: a share of 1, or a mean in the unit of its question's scores; never clipped."""


def of(counted: Counted) -> tuple[Results, ...]:
    """All records together, then each group that is told apart; then the same of those made by hand, where there are some."""
    by_hand = any(part.mode == "by_hand" for part in counted.sizes)
    return tuple(_results(counted, group, apart) for apart in (False, True)[: 1 + by_hand] for group in (None, *counted.groups))


def _results(counted: Counted, group: str | None, by_hand: bool) -> Results:
    parts = [part for part in counted.sizes if group in (None, part.group)]
    chosen = [part for part in parts if (part.mode == "by_hand") is by_hand]
    beside: dict[str, Any] = (
        {} if by_hand else {"n_by_hand": _n(counted, parts, "by_hand"), "n_organisation": _n(counted, parts, "organisation")}
    )
    return replace(estimate(counted.survey, counted.tally(chosen)), group=group, by_hand=by_hand, **beside)


def _n(counted: Counted, parts: list[Part], mode: Mode) -> int:
    return sum(counted.sizes[part] for part in parts if part.mode == mode)


def to_csv(several: tuple[Results, ...]) -> str:
    """A line for each share and each mean, of all choices one after the other."""
    rows = tuple(tuple(line.get(name) for name in COLUMNS) for results in several for line in _lines(results))
    return spreadsheet.render([Table("estimates", COLUMNS, rows)], bom=False)


def _lines(results: Results) -> Iterator[dict[str, Any]]:
    whose = {"group": results.group, "by_hand": int(results.by_hand)}
    for table in results.records():
        for line in table.dicts():
            yield {**line, **whose, "figure": table.title}


def to_json(several: tuple[Results, ...]) -> str:
    """All that `Results` has, for each choice."""
    return json.dumps([results.to_dict() for results in several], ensure_ascii=False, allow_nan=False, indent=1)
