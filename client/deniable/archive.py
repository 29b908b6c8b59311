"""Zip archives that depend only on their content: no times, no owners, and the files in the order given."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable
from typing import IO, NamedTuple, cast


class ArchiveEntry(NamedTuple):
    """A file of an archive.

    Attributes:
        name: Its path in the archive.
        write: Writes its content.
        size: The most bytes that it may have; needed for a file that may have more than 2 GiB.
        level: How much time compression may take, from 1 (least) to 9.
    """

    name: str
    write: Callable[[IO[bytes]], None]
    size: int = 0
    level: int = 6


class _Stream:
    """A file that can only be written from its start to its end, so that each byte may be sent as soon as it is written."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write, self.flush = file.write, file.flush


def write(file: IO[bytes], entries: Iterable[ArchiveEntry]) -> None:
    """Writes a zip archive as a stream. Each entry goes to the file as it is written, so that no entry is in memory as a whole.

    The length and checksum of an entry are behind it (a data descriptor), so `file` need not be seekable, and a seekable one gets the same
    bytes.
    """
    with zipfile.ZipFile(cast("IO[bytes]", _Stream(file)), "w") as archive:
        for entry in entries:
            with archive.open(_header(entry), "w") as content:
                entry.write(content)


def copy_without_times(source: IO[bytes], file: IO[bytes]) -> None:
    """Copies a small archive, and leaves out the times of its entries."""
    with zipfile.ZipFile(source) as archive:
        write(file, [text_entry(name, archive.read(name)) for name in archive.namelist()])


def text_entry(name: str, content: bytes) -> ArchiveEntry:
    """Returns an entry whose content is in memory."""

    def write_content(file: IO[bytes]) -> None:
        file.write(content)

    return ArchiveEntry(name, write_content, len(content))


def _header(entry: ArchiveEntry) -> zipfile.ZipInfo:
    header = zipfile.ZipInfo(entry.name, (1980, 1, 1, 0, 0, 0))
    header.compress_type = zipfile.ZIP_DEFLATED
    header.external_attr = 0o644 << 16
    header.create_system = 3
    header._compresslevel = entry.level  # type: ignore[attr-defined]  # zipfile has no other way together with a date
    header.file_size = entry.size  # decides whether the header has room for a length above 2 GiB
    return header
