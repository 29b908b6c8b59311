"""A survey's perturbed records as a file: what the tally counts, and nothing of who sent what when.

The records of a part stand in the order of their own bytes. So what somebody downloads follows from the counted records alone: it does not
show in which order they came, nor which came together, and two downloads are the same until a batch has come. The file is written
before anything of it is sent, so nobody who downloads slowly holds the database.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import IO, Any

import numpy as np

from deniable.errors import MissingExtraError
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.record import unpack
from deniable_server.researchers.records import in_order
from deniable_server.researchers.results import Records
from deniable_server.store.protocol import Store

PACKED = "packed"
FORMS = {PACKED: "application/octet-stream", "arrow": "application/vnd.apache.arrow.stream", "parquet": "application/vnd.apache.parquet"}
"""What reports can be asked for as, and the media type of each."""

_ROWS = 1 << 16  # of a table that are written at a time


def spooled(store: Store, records: Records, form: str) -> tuple[IO[bytes], int]:
    """The records that somebody chose, part by part, in a file that is gone when it is closed; and its length in bytes.

    form: one of FORMS. Raises what the store raises, OSError where there is no room, MissingExtraError without pyarrow.
    """
    write = _packed if form == PACKED else partial(_table, form)
    file = tempfile.NamedTemporaryFile(prefix="deniable-reports-")  # noqa: SIM115 - whoever sends it closes it
    try:
        write(file, records.survey, in_order(store, records.survey, records.parts))
        size = file.tell()
        file.flush()
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file, size


Parts = Iterable[tuple[Part, Iterator[bytes]]]


def _packed(file: IO[bytes], survey: Survey, parts: Parts) -> None:
    for chunk in chain.from_iterable(chunks for _, chunks in parts):
        file.write(chunk)


def _table(form: str, file: IO[bytes], survey: Survey, parts: Parts) -> None:
    """A row a record: its group, where the survey has some; who perturbed it; and a bit for each option of each question, as it is told.

    Bits of what somebody was not asked are null.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise MissingExtraError(f"form={form} needs pyarrow on the server: pip install 'deniable[tables]'") from None
    names = [f"{item.id}={option}" for item in survey.items for option in item.recorded]
    public = [("group", pa.string())] if survey.groups else []
    schema = pa.schema([*public, ("mode", pa.string()), *((name, pa.bool_()) for name in names)], {"digest": survey.digest})
    writer: Callable[..., Any] = pa.ipc.new_stream if form == "arrow" else pq.ParquetWriter
    with writer(file, schema) as table:
        for part, chunks in parts:
            for chunk in chunks:
                for start in range(0, len(chunk), _ROWS * survey.record.bytes):
                    records = chunk[start : start + _ROWS * survey.record.bytes]
                    table.write_batch(_batch(pa, schema, survey, part, records))


def _batch(pa: Any, schema: Any, survey: Survey, part: Part, records: bytes) -> Any:
    n = len(records) // survey.record.bytes
    bits = unpack(survey, records, n)
    columns = [pa.array([part.group] * n, pa.string())] if survey.groups else []
    columns.append(pa.array([part.mode] * n, pa.string()))
    for place in survey.record.fields:
        unasked = None if place.mask is None else ~bits[:, place.mask]
        stored = bits[:, place.bits]
        for column in np.column_stack([stored, stored.sum(axis=1) < place.item.d]).T:
            columns.append(pa.array(column, pa.bool_(), mask=unasked))
    return pa.record_batch(columns, schema=schema)
