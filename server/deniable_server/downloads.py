"""Results as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any

from deniable.estimate import MeanRow, Results, Row

HEADER = ("figure", *(field.name for field in fields(Row)))
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what makes a spreadsheet read a cell's text as a formula


def to_csv(results: Results) -> str:
    """A line for each share, and one for each mean before the shares of its question, under a header (RFC 4180).

    figure: `share` or `mean`. A mean's estimate, std_error, low and high are in the unit of its question, and it has no option, ones,
    adjusted or chance_rate: a missing value is an empty cell. Text that a spreadsheet would take for a formula gets a leading
    apostrophe; numbers stay numbers. Results of one group, or of records made by hand, say so in further columns, group and by_hand.
    Where reports look made up, each warning says so.
    """
    part = {**({} if results.group is None else {"group": results.group}), **({"by_hand": True} if results.by_hand else {})}
    alarm = results.made_up.words if results.made_up and results.made_up.alarm else ""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*HEADER, *part])
    for line in _lines(results):
        line["warning"] = "; ".join(filter(None, [line["warning"], alarm]))
        writer.writerow([_harmless(line.get(name)) for name in HEADER] + [_harmless(value) for value in part.values()])
    return out.getvalue()


def _lines(results: Results) -> Iterator[dict[str, Any]]:
    means, first = {row.question: row for row in results.means}, ""
    for row in results.rows:
        if row.question != first and row.question in means:
            yield _mean(means[row.question], row)
        first = row.question
        yield {"figure": "share", **asdict(row)}


def _mean(row: MeanRow, share: Row) -> dict[str, Any]:
    line = asdict(row)
    return {"figure": "mean", "epsilon": share.epsilon, "estimate": line.pop("mean"), **line}


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
