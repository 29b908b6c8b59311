"""The one writer of workbooks: the same sheets give the same bytes, and no sheet is in memory as a whole."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from openpyxl import load_workbook

from deniable.estimate.present.table import Table
from deniable.estimate.present.workbook import Sheet, cell, render, row, write

TABLE = Table('a "b" & <c>', ("name", "value"), (("x", 1.5), ("", None)))


def test_the_same_tables_give_the_same_bytes() -> None:
    assert render([TABLE]) == render([TABLE])
    assert render([TABLE]) != render([Table(TABLE.title, TABLE.columns, TABLE.rows[:1])])


def test_any_text_can_be_the_name_of_a_sheet() -> None:
    assert load_workbook(io.BytesIO(render([TABLE]))).sheetnames == [TABLE.title]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, b"<c/>"),
        ("", b"<c/>"),
        (np.int64(3), b"<c><v>3</v></c>"),
        (0.1, b"<c><v>0.1</v></c>"),
        (np.float64(1 / 3), b"<c><v>0.3333333333333333</v></c>"),
        (True, b'<c t="b"><v>1</v></c>'),
        (np.bool_(False), b'<c t="b"><v>0</v></c>'),
        ("\ud800", b'<c t="inlineStr"><is><t xml:space="preserve">_xD800_</t></is></c>'),
    ],
)
def test_a_cell_has_the_value_in_full(value: object, expected: bytes) -> None:
    assert cell(value) == expected


def test_memory_does_not_grow_with_the_rows() -> None:
    def peak(n: int) -> int:
        def rows() -> Iterator[bytes]:
            for i in range(n):
                yield row(map(cell, (i % 7, "text"))) * 100

        class Discarded(io.RawIOBase):
            """A file that keeps nothing, as the network does."""

            def writable(self) -> bool:
                return True

            def write(self, data: object) -> int:
                return memoryview(data).nbytes  # type: ignore[arg-type]

        tracemalloc.start()
        try:
            write(Discarded(), [Sheet("rows", ("number", "text"), rows())])  # type: ignore[arg-type]
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)  # what is imported for it is imported now
    assert peak(400) < peak(100) + 2**15
