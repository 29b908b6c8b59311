"""Archives that follow from what is in them: no time, no owner, no order but that of their files."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Iterable
from tempfile import SpooledTemporaryFile
from typing import IO, NamedTuple

_CHUNK = 1 << 20


class Entry(NamedTuple):
    """A file of an archive. fill: writes it. size: bytes that it may come to, where that is more than a few."""

    name: str
    fill: Callable[[IO[bytes]], None]
    size: int = 0


def write(file: IO[bytes], entries: Iterable[Entry]) -> None:
    """A zip of entries, each made when its turn comes. What is made is never in memory as a whole."""
    with zipfile.ZipFile(file, "w") as archive:
        for entry in entries:
            with SpooledTemporaryFile(_CHUNK) as made, archive.open(_described(entry), "w") as place:
                entry.fill(made)
                made.seek(0)
                shutil.copyfileobj(made, place, _CHUNK)


def again(source: IO[bytes], file: IO[bytes]) -> None:
    """Writes a small archive once more, without the times in it."""
    with zipfile.ZipFile(source) as archive:
        write(file, [text(name, archive.read(name)) for name in archive.namelist()])


def text(name: str, content: bytes) -> Entry:
    """An entry that is there already."""

    def fill(file: IO[bytes]) -> None:
        file.write(content)

    return Entry(name, fill, len(content))


def _described(entry: Entry) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(entry.name, (1980, 1, 1, 0, 0, 0))
    made.compress_type = zipfile.ZIP_DEFLATED
    made.external_attr = 0o644 << 16
    made.create_system = 3
    made.file_size = entry.size  # whether its length needs more than four bytes
    return made
