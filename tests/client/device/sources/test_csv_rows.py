"""Lines that are cut all at once have the cells, the errors and the gaps that they have when they are read cell by cell."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deniable.device.sources import as_rows, csv_rows
from deniable.device.sources.file import File
from deniable.errors import AnswerError

NAMES = ["smokes", "party"]
HEADER = "smokes,note,party\n"


@pytest.fixture(scope="module", autouse=True)
def small_parts() -> Iterator[None]:
    """Files are short here, so what is cut is shorter still, and several parts are put together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_rows, "PART", 3)
        yield


Read = tuple[list[tuple[int, list[list[str]], dict[int, str]]], str]


def read(rows: Any, size: int, skip: int) -> Read:
    """Every stretch that comes: its cells and the rows that are none; and the error at the end, if there is one."""
    stretches: list[tuple[int, list[list[str]], dict[int, str]]] = []
    try:
        for raw in as_rows(rows).batches(NAMES, size, skip):
            stretches.append((raw.size, [column.tolist() for column in raw.columns], raw.broken))
    except AnswerError as error:
        return stretches, str(error).partition(": ")[2].partition("line ")[2] or str(error).partition(": ")[2]
    return stretches, ""


def rows_of(found: Read) -> tuple[list[tuple[list[str], str]], str]:
    """The same row by row: where stretches end is of no importance."""
    rows = [([column[row] for column in columns], broken.get(row, "")) for size, columns, broken in found[0] for row in range(size)]
    return rows, found[1]


def both(raw: bytes, size: int = 4, skip: int = 0) -> tuple[Any, Any]:
    """As lines are split, from a file and from one that is open; and as they are read cell by cell."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_bytes(raw)
        cut_rows = rows_of(read(path, size, skip))
        assert rows_of(read(File(io.BytesIO(raw)), size, skip)) == cut_rows
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_rows, "_are_simple", lambda *_: False)
            return cut_rows, rows_of(read(path, size, skip))


CELL = st.one_of(
    st.sampled_from(["yes", "no", "", " ", "  yes", "no ", "Käse", "seven77", "eight888", "nine99999", "a" * 17, "x" * 70, "ya", "yes\t"]),
    st.text(st.sampled_from("ab ,;\"'é\r\n\t\0\ufeff\x0b\x1c\x85\u2028"), max_size=4),
)
LINE = st.lists(CELL, min_size=3, max_size=3).map(",".join)
PLAIN = st.lists(st.sampled_from(["yes", "no", " no", "", "eight888", "nine99999", "Käse", "x" * 70]), min_size=3, max_size=3).map(",".join)
ENDS = st.sampled_from(["\n", "\r\n"])


@settings(max_examples=120, deadline=None)
@given(
    st.lists(PLAIN, max_size=12),
    st.lists(st.one_of(PLAIN, LINE, st.text(max_size=3)), max_size=5),
    ENDS,
    st.booleans(),
    st.integers(1, 7),
    st.integers(0, 9),
)
@example(["yes,,no"] * 3, ['yes,"a\nb",no', "yes,x,no"], "\n", True, 4, 0)
@example(["yes,,no"] * 3, ["", "yes,x,no"], "\r\n", False, 2, 1)
@example([], [], "\n", True, 4, 0)
@pytest.mark.slow
def test_what_is_cut_is_what_is_read_cell_by_cell(plain, odd, end, whole, size, skip) -> None:
    text = end.join([HEADER.strip(), *plain, *odd]) + end * whole
    cut_rows, read_rows = both(text.encode("utf-8", "surrogatepass"), size, skip)
    if read_rows[1]:  # an error ends both; how many rows came before it depends on where stretches end
        assert cut_rows[1] == read_rows[1]
        shorter = min(len(cut_rows[0]), len(read_rows[0]))
        assert cut_rows[0][:shorter] == read_rows[0][:shorter]
    else:
        assert cut_rows == read_rows


@pytest.mark.parametrize(
    "raw",
    [
        b"yes,,Red\nno,,Blue\n",
        b"yes,,Red\r\nno,,Blue\r\n",
        b"yes,,Red\nno,,Blue\r\n",
        b"yes,,Red\nno,,Blue",
        b"yes,,Red\rno,,Blue\n",
        b"yes,,Red\n\nno,,Blue\n\n",
        b"yes,,Red\n,\nno,,Blue\n",
        b"yes,,Red\nno,Blue,,\nno\n",
        b'yes,,"Red"\nno,"a,b",Blue\n',
        b"yes,,R\xc3\xa9d\n" + b"no,,R\xe9d CANARY\n",
        b"yes,,Red\n" + b"no,," + b"C" * 200_000 + b"\n",
        b"yes,,Red\0\nno,,Blue\n",
        b" yes,  ,  Red\n no , , Blue\n",
    ],
)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "marked"])
def test_what_cannot_be_cut_with_certainty_is_read(raw: bytes, mark: bytes) -> None:
    cut_rows, read_rows = both(mark + HEADER.encode() + raw)
    assert cut_rows == read_rows
    assert both(mark + HEADER.encode() + b"yes,,Red\n" * 5 + raw, 5)[0][0][5:] == read_rows[0]


def test_plain_lines_are_cut_and_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    headers: list[list[str]] = []
    monkeypatch.setattr(csv_rows, "_reader", lambda lines, delimiter: headers.append([]) or csv.reader(lines, delimiter=delimiter))
    path.write_bytes(HEADER.encode() + b"yes,x,Red\n" * 10)
    assert [size for size, _, _ in read(path, 4, 0)[0]] == [4, 4, 2]
    assert [size for size, _, _ in read(path, 4, 9)[0]] == [1]
    assert len(headers) == 2 * len(csv_rows.DELIMITERS)


@pytest.mark.parametrize(
    "lines",
    [b'yes,,"Red"\n', b"yes,Red\nno,a,b,c\n", b"yes,,Red\rno,,Blue\n"],
    ids=["quotes", "other widths", "other ends of lines"],
)
def test_the_control_what_is_split_wrongly_is_noticed(monkeypatch: pytest.MonkeyPatch, lines: bytes) -> None:
    cut_rows, read_rows = both(HEADER.encode() + lines)
    assert cut_rows == read_rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_bytes(HEADER.encode() + lines)
        monkeypatch.setattr(csv_rows, "_are_simple", lambda *_: True)
        with suppress(ValueError, IndexError):  # columns of different lengths
            assert rows_of(read(path, 4, 0)) != read_rows
