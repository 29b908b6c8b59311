"""Estimates of a bundle: the figures of the results page for all records, for each group, and for records made by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from deniable.bundle.counted_records import CountedRecords
from deniable.estimate import Results, estimate
from deniable.estimate.present import spreadsheet
from deniable.estimate.present.table import Table
from deniable.wire.part import Mode, Part

COLUMNS = (
    *("group", "by_hand", "figure", "question", "option", "n", "ones", "estimate", "std_error", "low", "high", "adjusted"),
    *("epsilon", "confidence", "method", "target", "chance_rate", "scale_low", "scale_high", "warning"),
)
"""Columns of estimates.csv. An estimate is a share of 1, or a mean in the unit of its question's scores; it is never clipped."""


def estimate_all(counted: CountedRecords) -> tuple[Results, ...]:
    """Returns the results of all records and of each shown group, then the same of the records made by hand, if there are any."""
    has_by_hand = any(part.mode == "by_hand" for part in counted.sizes)
    return tuple(_results(counted, group, by_hand) for by_hand in (False, True)[: 1 + has_by_hand] for group in (None, *counted.groups))


def _results(counted: CountedRecords, group: str | None, by_hand: bool) -> Results:
    parts = [part for part in counted.sizes if group in (None, part.group)]
    chosen = [part for part in parts if (part.mode == "by_hand") is by_hand]
    numbers: dict[str, Any] = (
        {} if by_hand else {"n_by_hand": _n(counted, parts, "by_hand"), "n_organisation": _n(counted, parts, "organisation")}
    )
    return replace(estimate(counted.survey, counted.tally(chosen)), group=group, by_hand=by_hand, **numbers)


def _n(counted: CountedRecords, parts: list[Part], mode: Mode) -> int:
    return sum(counted.sizes[part] for part in parts if part.mode == mode)


def to_csv(selections: tuple[Results, ...]) -> str:
    """Returns a line for each share and each mean, of one selection of records after the other."""
    rows = tuple(tuple(line.get(name) for name in COLUMNS) for results in selections for line in _lines(results))
    return spreadsheet.render([Table("estimates", COLUMNS, rows)], bom=False)


def _lines(results: Results) -> Iterator[dict[str, Any]]:
    selection = {"group": results.group, "by_hand": int(results.by_hand)}
    for table in results.records():
        for line in table.dicts():
            yield {**line, **selection, "figure": table.title}


def to_json(selections: tuple[Results, ...]) -> str:
    """Returns `Results.to_dict` of each selection of records."""
    return json.dumps([results.to_dict() for results in selections], ensure_ascii=False, allow_nan=False, indent=1)
