"""How long the files of rows will be, before they are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from deniable.bundle import spss, stata
from deniable.bundle.variables import variables
from deniable.survey import Survey


class Length(NamedTuple):
    """Bytes of a file, about; at_most: of a packed one, which is the shorter the more records are alike."""

    size: int
    at_most: bool


def about(survey: Survey, n: int) -> Mapping[str, Length]:
    """Of each file of n rows, and of all files packed. What is packed is a few times as long as its random bits, at most."""
    largest = [max(column.values) for column in variables(survey)]
    columns, bits = len(largest), n * survey.record.bits // 8
    head = 4_000 * len(survey.items)  # columns, codebook, figures and a chart
    plain = {
        "rows.csv": n * (1 + sum(1 + len(str(code)) for code in largest)),
        "rows.sav": n * columns * spss.width(max(largest)) + 200 * columns,
        "rows.dta": n * sum(map(stata.width, largest)) + 1_000 * columns,
    }
    packed = {"rows.parquet": head + 3 * bits // 2, "rows.xlsx": 5_000 + head // 4 + 5 * bits, "bundle.zip": 100_000 + head + 12 * bits}
    return {name: Length(size, name in packed) for name, size in (plain | packed).items()}
