"""Export of a survey's perturbed records as a file: the records in the tally, without sender and time.

The records of a slice are sorted by their bytes. So a download depends only on the counted records: it reveals neither their order nor
which of them came together, and two downloads are equal until a batch is counted. All records are in a file before any of them is sent,
so that slow downloads do not occupy the database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import chain
from typing import IO, Any, cast

import numpy as np
from flask import Response

from deniable.extras import missing
from deniable.survey import Survey
from deniable.wire.record import unpack
from deniable_server.results.bundles import version_of
from deniable_server.results.disclosure_control import Slice
from deniable_server.results.results import records_of
from deniable_server.store.protocol import Store
from deniable_server.web import downloads
from deniable_server.web.outlet import Outlet

PACKED = "packed"
FORMS = {PACKED: "application/octet-stream", "arrow": "application/vnd.apache.arrow.stream", "parquet": "application/vnd.apache.parquet"}
"""The formats of reports and their media types."""

_ROWS = 1 << 16  # of a table that are written at a time
_END = b"\xff\xff\xff\xff\0\0\0\0"  # of an Arrow stream


def download(store: Store, survey_id: str, form: str, options: Mapping[str, str]) -> Response:
    """Returns the records that the options select, in one of FORMS. Raises as `make` does."""
    version = version_of(store, store.surveys.published(survey_id).survey)
    return downloads.reply(make, version, survey_id, form, options.get("group", ""), options.get("by_hand", ""))


def make(store: Store, survey_id: str, form: str, group: str, by_hand: str, outlet: Outlet) -> None:
    """Writes the records that these options of `records_of` select, slice by slice, in one of FORMS.

    Raises:
        EstimateError: An option is invalid.
        WithheldError: There are too few records.
        StoreError: The store fails.
        OSError: There is no disk space.
        MissingExtraError: pyarrow is not installed.
    """
    survey = store.surveys.published(survey_id).survey
    version: str | None = version_of(store, survey)
    records = records_of(store, survey_id, {"group": group, "by_hand": by_hand})
    write = _packed if form == PACKED else _table(form)
    with closing(records.release.rows(records.slices())) as rows:
        first = next(rows, None)  # opens the snapshot
        if version_of(store, survey) != version:  # records were counted meanwhile
            version = None
        outlet.begin(f"{survey_id}-reports.{form}", FORMS[form], version, records.n * survey.record.bytes)
        if form == PACKED and version is not None:
            outlet.response.content_length = records.n * survey.record.bytes
        write(cast("IO[bytes]", outlet), survey, chain([] if first is None else [first], rows))


Slices = Iterable[tuple[Slice, Iterator[bytes]]]


def _packed(file: IO[bytes], survey: Survey, slices: Slices) -> None:
    for chunk in chain.from_iterable(chunks for _, chunks in slices):
        file.write(chunk)


def _table(form: str) -> Callable[[IO[bytes], Survey, Slices], None]:
    """Returns the function that writes a table. Raises MissingExtraError if pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ModuleNotFoundError as error:
        raise missing(f"form={form} on the server", "parquet") or error from None
    return partial(_write_table, form)


def _write_table(form: str, file: IO[bytes], survey: Survey, slices: Slices) -> None:
    """Writes a row for each record: its group, its mode, and a bit for each option of each question.

    Bits of questions that a respondent was not asked are null, and so are group and mode of records in slices that are too small.
    """
    import pyarrow as pa

    names = [f"{item.id}={option}" for item in survey.items for option in item.recorded]
    public = [("group", pa.string())] if survey.groups else []
    schema = pa.schema([*public, ("mode", pa.string()), *((name, pa.bool_()) for name in names)], {"digest": survey.digest})
    batches = (_batch(pa, schema, survey, part, records) for part, chunks in slices for records in _pieces(chunks, survey.record.bytes))
    write: Callable[..., None] = _write_arrow if form == "arrow" else _write_parquet
    write(file, schema, batches)


def _write_arrow(file: IO[bytes], schema: Any, batches: Iterable[Any]) -> None:
    """Writes an Arrow stream. Its schema is written before any record is read, unlike by pyarrow's writer."""
    file.write(schema.serialize())
    for batch in batches:
        file.write(batch.serialize())
    file.write(_END)


def _write_parquet(file: IO[bytes], schema: Any, batches: Iterable[Any]) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, schema) as table:
        for batch in batches:
            table.write_batch(batch)


def _pieces(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yields at most _ROWS records of `size` bytes at a time."""
    return (chunk[first : first + _ROWS * size] for chunk in chunks for first in range(0, len(chunk), _ROWS * size))


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
