"""An export as it is written: piece after piece into a folder beside, which gets its name when all of it is on the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from deniable.exported import pieces
from deniable.exported.export import MANIFEST, Export
from deniable.exported.pieces import Cell, Piece
from deniable.survey import Survey
from deniable.wire.part import Part

PIECE_BYTES = 64 << 20
"""Packed records of a piece, in bytes, about: what a worker takes at a time."""


def write(folder: Path, survey: Survey, parts: Iterable[tuple[Part, Iterable[bytes]]], is_open: bool) -> Export:
    """Makes a folder of the records of some parts: whole ones back to back, in an order that says nothing of when or with what they came.
    is_open: whether more may come.

    Whatever happens meanwhile, there is no such folder until all of it is there and on the disk; a kill leaves one of another name, without
    a manifest. Only its owner may open the folder, until they say otherwise. Raises FileExistsError where anything has that name,
    MissingExtraError without pyarrow, OSError, and what reading the records raises; then nothing is left.
    """
    if os.path.lexists(folder):
        raise FileExistsError(f"{folder} is there already: an export makes a new folder")
    with _unfinished(folder) as made:
        sizes: Counter[Part] = Counter()
        found: list[Piece] = []
        for content in _cut(chain.from_iterable(pieces.cells(part, chunks, survey.record.bytes) for part, chunks in parts)):
            found.append(pieces.write(made / f"records-{len(found):05}.parquet", _counted(content, sizes)))
        export = Export(folder, survey, is_open, dict(sizes), tuple(found))
        with open(made / MANIFEST, "xb") as file:
            file.write(export.manifest())
            file.flush()
            os.fsync(file.fileno())
        _sync(made)
        os.rename(made, folder)
    _sync(folder.absolute().parent)
    return export


@contextmanager
def _unfinished(folder: Path) -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-unfinished-", dir=folder.absolute().parent))
    try:
        yield made
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _cut(content: Iterator[Cell]) -> Iterator[Iterator[Cell]]:
    """The cells of one piece after the other; each is to be taken to its end before the next."""
    for first in content:
        yield _piece(first, content)


def _piece(first: Cell, content: Iterator[Cell]) -> Iterator[Cell]:
    length, cell = 0, first
    while True:
        yield cell
        length += len(cell.records)
        if length >= PIECE_BYTES or (after := next(content, None)) is None:
            return
        cell = after


def _counted(content: Iterable[Cell], sizes: Counter[Part]) -> Iterator[Cell]:
    for cell in content:
        sizes[cell.part] += cell.n
        yield cell


def _sync(folder: Path) -> None:
    """What is in a folder is there after a power cut, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
