"""A piece of an export: one Parquet file, a row a cell. A cell is many packed records of one part in one binary value.

Each piece is written, read and counted by itself, and says nothing of the others.
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
"""Records of a cell, at most."""
CELL_BYTES = 1 << 22
"""Bytes of them, at most: what is in memory at a time, some times over."""


class Cell(NamedTuple):
    """n records of a part, back to back."""

    part: Part
    n: int
    records: bytes


class Piece(NamedTuple):
    """A file of an export. n: its records, of all parts; sha256: of its bytes, 64 lower-case hexadecimal digits."""

    name: str
    n: int
    sha256: str


def cells(part: Part, chunks: Iterable[bytes], size: int) -> Iterator[Cell]:
    """Records of `size` bytes, whole ones back to back, cut anew: as many in each cell but the last."""
    n, waiting = min(CELL, CELL_BYTES // size), bytearray()
    for chunk in chunks:
        waiting += chunk
        while len(waiting) >= n * size:
            yield Cell(part, n, bytes(waiting[: n * size]))
            del waiting[: n * size]
    if waiting:
        yield Cell(part, len(waiting) // size, bytes(waiting))


def write(path: Path, content: Iterable[Cell]) -> Piece:
    """Makes a new file, which is on the disk when this returns. Raises MissingExtraError, OSError."""
    pa, pq = _arrow()
    schema = pa.schema([("group", pa.string()), ("mode", pa.string()), ("n", pa.int32()), ("records", pa.binary())])
    named, n = ["group", "mode"], 0
    with open(path, "xb") as file:
        # No statistics of the records: the least and the greatest of them would be whole cells.
        with pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=named, write_statistics=[*named, "n"]) as writer:
            for cell in content:
                row = {"group": cell.part.group, "mode": cell.part.mode, "n": cell.n, "records": cell.records}
                writer.write_table(pa.Table.from_pylist([row], schema))
                n += cell.n
        file.flush()
        os.fsync(file.fileno())
    return Piece(path.name, n, _sha256(path))


def read(path: Path, piece: Piece, chosen: Collection[Part]) -> Iterator[Cell]:
    """The cells of some parts. Raises ExportError for other bytes than were written, MissingExtraError, OSError."""
    _, pq = _arrow()
    if (found := _sha256(path)) != piece.sha256:
        raise ExportError(f"{path}: its SHA-256 must be {piece.sha256}, as its manifest says, got {found}")
    with pq.ParquetFile(path) as file:
        for row in range(file.num_row_groups):
            group, mode, n = (column[0].as_py() for column in file.read_row_group(row, ["group", "mode", "n"]).columns)
            if Part(group, mode) in chosen:
                yield Cell(Part(group, mode), n, file.read_row_group(row, ["records"])["records"][0].as_py())


def tallies(path: Path, piece: Piece, survey: Survey, chosen: Collection[Part]) -> Iterator[Tally]:
    """The tally of each cell of some parts: the same whoever counts it, and as often as anybody likes.

    Raises SubmissionError for records that the survey's coins cannot produce, and what `read` raises.
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
