"""Export of a survey's perturbed records as a file: the records in the tally, without sender and time.

The records of a slice are sorted by their bytes. So a download depends only on the counted records: it reveals neither their order nor
which of them came together, and two downloads are equal until a batch is counted. The file is complete before any of it is sent, so that
slow downloads do not occupy the database.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import IO, Any

import numpy as np

from deniable.extras import missing
from deniable.survey import Survey
from deniable.wire.record import unpack
from deniable_server.results.disclosure_control import Slice
from deniable_server.results.results import Records

PACKED = "packed"
FORMS = {PACKED: "application/octet-stream", "arrow": "application/vnd.apache.arrow.stream", "parquet": "application/vnd.apache.parquet"}
"""The formats of reports and their media types."""

_ROWS = 1 << 16  # of a table that are written at a time


def spooled(records: Records, form: str) -> tuple[IO[bytes], int]:
    """Writes the records, slice by slice, to a temporary file. Returns it with its length in bytes.

    Args:
        records: The records.
        form: One of FORMS.

    Raises:
        StoreError: The store fails.
        OSError: There is no disk space.
        MissingExtraError: pyarrow is not installed.
    """
    write = _packed if form == PACKED else partial(_table, form)
    file = tempfile.NamedTemporaryFile(prefix="deniable-reports-")  # noqa: SIM115 - the sender closes it
    try:
        write(file, records.survey, records.release.rows(records.slices()))
        size = file.tell()
        file.flush()
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file, size


Slices = Iterable[tuple[Slice, Iterator[bytes]]]


def _packed(file: IO[bytes], survey: Survey, slices: Slices) -> None:
    for chunk in chain.from_iterable(chunks for _, chunks in slices):
        file.write(chunk)


def _table(form: str, file: IO[bytes], survey: Survey, slices: Slices) -> None:
    """Writes a row for each record: its group, its mode, and a bit for each option of each question.

    Bits of questions that a respondent was not asked are null, and so are group and mode of records in slices that are too small.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise missing(f"form={form} on the server", "parquet") or error from None
    names = [f"{item.id}={option}" for item in survey.items for option in item.recorded]
    public = [("group", pa.string())] if survey.groups else []
    schema = pa.schema([*public, ("mode", pa.string()), *((name, pa.bool_()) for name in names)], {"digest": survey.digest})
    writer: Callable[..., Any] = pa.ipc.new_stream if form == "arrow" else pq.ParquetWriter
    with writer(file, schema) as table:
        for part, chunks in slices:
            for chunk in chunks:
                for start in range(0, len(chunk), _ROWS * survey.record.bytes):
                    records = chunk[start : start + _ROWS * survey.record.bytes]
                    table.write_batch(_batch(pa, schema, survey, part, records))


def _batch(pa: Any, schema: Any, survey: Survey, part: Slice, records: bytes) -> Any:
    n = len(records) // survey.record.bytes
    bits = unpack(survey, records, n)
    columns = [pa.array([part.group] * n, pa.string())] if survey.groups else []
    columns.append(pa.array([part.mode] * n, pa.string()))
    for field in survey.record.fields:
        unasked = None if field.mask is None else ~bits[:, field.mask]
        stored = bits[:, field.bits]
        for column in np.column_stack([stored, stored.sum(axis=1) < field.item.d]).T:
            columns.append(pa.array(column, pa.bool_(), mask=unasked))
    return pa.record_batch(columns, schema=schema)
