"""How long the files of rows will be, before they are made."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.bundle.variables import variables
from deniable.survey import Survey

_HEAD = 80_000  # bytes of an archive without any rows: scripts, codebook, document


def about(survey: Survey, n: int) -> Mapping[str, int]:
    """Bytes of each file of n rows, and of all files packed, within a factor of two from some thousand rows on."""
    cells, packed = n * len(variables(survey)), n * survey.record.bits / 8
    compressed = round(1.1 * packed + 0.1 * cells)
    found = {
        "rows.csv": 2 * cells + n,
        "rows.parquet": 6_000 + round(1.2 * packed),
        "rows.sav": cells,
        "rows.dta": cells,
        "rows.xlsx": compressed * 2,
    }
    return {**found, "bundle.zip": _HEAD + 5 * compressed}
