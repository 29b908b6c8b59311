"""File of a survey's rows that may be released. It is sorted when it is first read, so that a download can begin before."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import chain
from types import TracebackType

from deniable.bundle import order_parts
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable_server.results.disclosure_control import LabelledRows, counted
from deniable_server.store.errors import UnavailableError


class ReleasedRecords:
    """Packed records, part by part, as `CountedRecords` reads them.

    Attributes:
        sizes: The number of records of each part: as counted before, and once they are sorted, of those in the file.
    """

    def __init__(self, rows: LabelledRows, survey: Survey) -> None:
        self._bytes = survey.record.bytes
        by_part = {part: counted(table.counts, piece.parts) for part, (table, piece) in rows.parts.items()}
        self.sizes: dict[Part, int] = order_parts(by_part, survey)
        self.has_two_tables = len({rows.parts[part][0].by_hand for part in self.sizes}) > 1  # each is read from a snapshot of its own
        self._read = rows.read(order_parts(dict.fromkeys(rows.parts, 1), survey))
        self._parts: Iterator[tuple[Part, Iterator[bytes]]] = self._read
        self._file = tempfile.TemporaryFile(prefix="deniable-bundle-")  # noqa: SIM115 - closed by `__exit__`
        self._is_sorted = False

    def __enter__(self) -> ReleasedRecords:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._read.close()
        self._file.close()

    def open(self) -> None:
        """Opens the snapshot of the first table: the file has no records that are counted later."""
        first = next(self._read, None)
        self._parts = chain([] if first is None else [first], self._read)

    def sort(self) -> None:
        """Writes the file and sets `sizes`, once."""
        if self._is_sorted:
            return
        sizes: dict[Part, int] = {}
        for part, chunks in self._parts:
            before = self._file.tell()
            for chunk in chunks:
                self._file.write(chunk)
            sizes[part] = (self._file.tell() - before) // self._bytes
        self.sizes = {part: n for part, n in sizes.items() if n}
        self._is_sorted = True

    def seek(self, position: int) -> int:
        """Sets the position in the file. Raises UnavailableError if the records are not as many as `sizes` said."""
        sizes = self.sizes
        self.sort()
        if self.sizes != sizes:
            raise UnavailableError("records were counted or withdrawn during the download: try again")
        return self._file.seek(position)

    def read(self, size: int = -1) -> bytes:
        """Returns bytes from the position on."""
        return self._file.read(size)
