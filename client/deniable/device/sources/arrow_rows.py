"""Rows from a Parquet file or an Arrow file (.arrow, .feather)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from deniable.device.columns import from_arrow
from deniable.device.sources.file_rows import FileRows
from deniable.device.sources.rows import RawRows, columns_of
from deniable.extras import missing


class ArrowRows(FileRows):
    """Rows of a Parquet or Arrow file; a batch never spans two of its parts."""

    def _batches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        if error := missing(f"{self.label}", "parquet"):
            raise error
        with ExitStack() as stack:
            parts = self.call_library(lambda: self._parts(stack, names, size), "a Parquet or Arrow file, as its name says")
            # by map, so that this frame holds no part when the file is closed
            yield from map(partial(_columns, self.label, names), _after(parts, skip, size))

    def _parts(self, stack: ExitStack, names: Sequence[str], size: int) -> Iterator[Any]:
        import pyarrow
        from pyarrow import ipc, parquet

        if self._format.kind == "parquet":
            file = stack.enter_context(parquet.ParquetFile(self._file))
            present, used = file.schema_arrow.names, list[Any]()
            columns_of(self.label, names, present, lambda index: used.append(present[index]) or [])  # type: ignore[func-returns-value]
            return iter(file.iter_batches(batch_size=size, columns=used))
        reader = stack.enter_context(ipc.open_file(stack.enter_context(pyarrow.OSFile(str(self._file)))))
        columns_of(self.label, names, reader.schema.names, lambda index: [])
        return map(reader.get_batch, range(reader.num_record_batches))


def _after(parts: Iterator[Any], skip: int, size: int) -> Iterator[Any]:
    """Yields parts of at most `size` rows, after the first `skip`."""
    for part in parts:
        dropped = min(skip, part.num_rows)
        skip -= dropped
        yield from (part.slice(start, size) for start in range(dropped, part.num_rows, size))


def _columns(label: str, names: Sequence[str], part: Any) -> RawRows:
    return RawRows(part.num_rows, columns_of(label, names, part.schema.names, lambda index: from_arrow(part.column(index))))
