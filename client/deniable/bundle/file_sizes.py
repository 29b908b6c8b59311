"""Approximate sizes of a bundle's files, before they are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from deniable.bundle import spss, stata
from deniable.bundle.variables import variables
from deniable.survey import Survey


class FileSize(NamedTuple):
    """An approximate size.

    Attributes:
        size: In bytes.
        at_most: Whether the file is compressed: the more alike the records, the smaller it is.
    """

    size: int
    at_most: bool


def approximate_sizes(survey: Survey, n: int) -> Mapping[str, FileSize]:
    """Returns the size of each file of n rows, and of the archive. A compressed file is at most a few times as long as the records."""
    largest = [max(column.values) for column in variables(survey)]
    columns, packed = len(largest), n * survey.record.bits // 8
    head = 4_000 * len(survey.items)  # columns, codebook, figures and a chart
    plain = {
        "rows.csv": n * (1 + sum(1 + len(str(code)) for code in largest)),
        "rows.sav": n * columns * spss.width(max(largest)) + 200 * columns,
        "rows.dta": n * sum(map(stata.width, largest)) + 1_000 * columns,
    }
    compressed = {
        "rows.parquet": head + 3 * packed // 2,
        "rows.xlsx": 5_000 + head // 4 + 5 * packed,
        "bundle.zip": 100_000 + head + 12 * packed,
    }
    return {name: FileSize(size, name in compressed) for name, size in (plain | compressed).items()}
