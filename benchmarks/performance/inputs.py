"""What people give to the client as it is: dicts, CSV, Parquet and questions of many options; each in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.performance.fresh import in_fresh_process
from benchmarks.performance.line import Line

ROWS, REPORTS = 200_000, 20_000
DICTS = (
    "20 texts for each row, one by one, each an object of its own: to find them in the dict takes 1.1 us, to see that they are texts 1.0, "
    "to number them 1.4; a DataFrame has them in columns"
)
CELLS = "each cell becomes a Python text: to split lines and to number the cells takes most of it"
COINS = "the coins of 20 questions are in it, and not in the read"
FLOYD = "a step of Floyd's sampling for each option of a set, each a pass over the rows, and the words"


def lines(quick: bool) -> Iterator[Line]:
    rows, reports = (ROWS // 4, REPORTS // 4) if quick else (ROWS, REPORTS)
    for name, ours, limit, n, target, beside, remark in (
        ("dicts, 20 texts each", "dicts", "frame", rows, "<= 3", "a DataFrame of the same words", DICTS),
        ("CSV, 20 columns of words", "csv", "read_csv", rows, "<= 2", "pandas.read_csv", CELLS),
        ("Parquet, 20 columns of words", "parquet", "read_parquet", rows, "<= 2", "pandas.read_parquet", COINS),
        ("reports of 256 options", "sets of 256", "partition of 256", reports, "<= 2", "numpy's partition of keys drawn beforehand", FLOYD),
        (
            "reports of 1,024 options",
            "sets of 1024",
            "partition of 1024",
            reports,
            "<= 2",
            "numpy's partition of keys drawn beforehand",
            FLOYD,
        ),
    ):
        yield Line(
            f"in a fresh process: {n:,} {name}",
            target,
            lambda ours=ours, n=n: in_fresh_process(ours, n),  # type: ignore[misc]
            lambda limit=limit, n=n: in_fresh_process(limit, n),  # type: ignore[misc]
            beside,
            rounds=3,
            remark=remark,
        )
