"""Pieces of an export: Parquet files of cells. A cell is a row with many packed records of one part in one binary value.

Each piece is written, read and counted independently of the others.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from deniable.errors import ExportError
from deniable.extras import missing
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.possible import check
from deniable.wire.tally import Tally

CELL = 1 << 16
"""The most records of a cell."""
CELL_BYTES = 1 << 22
"""The most bytes of its records; a few times as many are in memory at a time."""


class Cell(NamedTuple):
    """Packed records of a part, back to back.

    Attributes:
        part: Their part.
        n: Their number.
        records: Their bytes.
    """

    part: Part
    n: int
    records: bytes


class Piece(NamedTuple):
    """A file of an export.

    Attributes:
        name: Its name in the folder.
        n: The number of its records, of all parts.
        sha256: Its hash, 64 lower-case hexadecimal digits.
    """

    name: str
    n: int
    sha256: str


def cells(part: Part, chunks: Iterable[bytes], size: int) -> Iterator[Cell]:
    """Yields the records of a part in cells, all but the last with equally many.

    Args:
        part: The part.
        chunks: The records, back to back.
        size: The bytes of a record.
    """
    n, buffer = min(CELL, CELL_BYTES // size), bytearray()
    for chunk in chunks:
        buffer += chunk
        while len(buffer) >= n * size:
            yield Cell(part, n, bytes(buffer[: n * size]))
            del buffer[: n * size]
    if buffer:
        yield Cell(part, len(buffer) // size, bytes(buffer))


def write(path: Path, content: Iterable[Cell]) -> Piece:
    """Writes a new file, down to the disk.

    Raises:
        MissingExtraError: pyarrow is missing.
        OSError: The file exists or cannot be written.
    """
    pa, pq = _arrow()
    schema = pa.schema([("group", pa.string()), ("mode", pa.string()), ("n", pa.int32()), ("records", pa.binary())])
    text_columns, n = ["group", "mode"], 0
    with open(path, "xb") as file:
        # No statistics of the records: their minimum and maximum would be entire cells.
        statistics = [*text_columns, "n"]
        with pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=text_columns, write_statistics=statistics) as writer:
            for cell in content:
                row = {"group": cell.part.group, "mode": cell.part.mode, "n": cell.n, "records": cell.records}
                writer.write_table(pa.Table.from_pylist([row], schema))
                n += cell.n
        file.flush()
        os.fsync(file.fileno())
    return Piece(path.name, n, _sha256(path))


def read(path: Path, piece: Piece, chosen: Collection[Part]) -> Iterator[Cell]:
    """Yields the cells of some parts.

    Raises:
        ExportError: The file has changed since it was written.
        MissingExtraError: pyarrow is missing.
        OSError: The file cannot be read.
    """
    _, pq = _arrow()
    if (digest := _sha256(path)) != piece.sha256:
        raise ExportError(f"{path}: its SHA-256 must be {piece.sha256}, as its manifest says, got {digest}")
    with pq.ParquetFile(path) as file:
        for row in range(file.num_row_groups):
            group, mode, n = (column[0].as_py() for column in file.read_row_group(row, ["group", "mode", "n"]).columns)
            if Part(group, mode) in chosen:
                yield Cell(Part(group, mode), n, file.read_row_group(row, ["records"])["records"][0].as_py())


def tallies(path: Path, piece: Piece, survey: Survey, chosen: Collection[Part]) -> Iterator[Tally]:
    """Yields the tally of each cell of some parts, always the same for the same cell. Raises the errors of `read`, too.

    Raises:
        SubmissionError: The survey's coins cannot produce a record.
    """
    for cell in read(path, piece, chosen):
        check(survey, cell.records, cell.n)
        yield Tally.from_records(cell.records, survey.record.bits)


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _arrow() -> tuple[Any, Any]:
    if error := missing("an export", "parquet"):
        raise error
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pa, pq
