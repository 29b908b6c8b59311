"""Writer of exports: piece by piece into a temporary folder, which is renamed when it is complete and on the disk."""

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
"""The approximate bytes of a piece's packed records: the work that a worker gets at a time."""


def write(folder: Path, survey: Survey, parts: Iterable[tuple[Part, Iterable[bytes]]], is_open: bool) -> Export:
    """Writes the records of some parts to a new folder.

    The folder appears only when it is complete and on the disk. A killed process leaves a folder with another name and without a manifest;
    an error leaves nothing. Only the folder's owner may open it, until they change its permissions. Errors of reading the records pass.

    Args:
        folder: The folder to create.
        survey: The survey of the records.
        parts: The packed records of each part, back to back. Their order must not reveal when they came, or with what others.
        is_open: Whether more records may come.

    Raises:
        FileExistsError: There is a file or a folder with this name.
        MissingExtraError: pyarrow is missing.
        OSError: The folder cannot be written.
    """
    if os.path.lexists(folder):
        raise FileExistsError(f"{folder} must be a new folder: it exists already")
    with _temporary_folder(folder) as temporary:
        sizes: Counter[Part] = Counter()
        files: list[Piece] = []
        cells = chain.from_iterable(pieces.cells(part, chunks, survey.record.bytes) for part, chunks in parts)
        for content in _split(cells):
            files.append(pieces.write(temporary / f"records-{len(files):05}.parquet", _count(content, sizes)))
        export = Export(folder, survey, is_open, dict(sizes), tuple(files))
        with open(temporary / MANIFEST, "xb") as file:
            file.write(export.manifest())
            file.flush()
            os.fsync(file.fileno())
        _sync(temporary)
        os.rename(temporary, folder)
    _sync(folder.absolute().parent)
    return export


@contextmanager
def _temporary_folder(folder: Path) -> Iterator[Path]:
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-unfinished-", dir=folder.absolute().parent))
    try:
        yield temporary
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _split(cells: Iterator[Cell]) -> Iterator[Iterator[Cell]]:
    """Yields the cells of one piece after the other. Exhaust each before the next."""
    for first in cells:
        yield _piece(first, cells)


def _piece(first: Cell, cells: Iterator[Cell]) -> Iterator[Cell]:
    length, cell = 0, first
    while True:
        yield cell
        length += len(cell.records)
        if length >= PIECE_BYTES or (following := next(cells, None)) is None:
            return
        cell = following


def _count(cells: Iterable[Cell], sizes: Counter[Part]) -> Iterator[Cell]:
    for cell in cells:
        sizes[cell.part] += cell.n
        yield cell


def _sync(folder: Path) -> None:
    """Writes the entries of a folder to the disk, so that they survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
