"""Rows as Parquet: whole numbers of 16 bits, with what they stand for beside each column."""

from __future__ import annotations

import json
from typing import IO

from deniable.bundle.counted import Counted
from deniable.bundle.variables import UNASKED, Variable
from deniable.extras import missing


def write(counted: Counted, columns: tuple[Variable, ...], file: IO[bytes]) -> None:
    """A row a record, null where somebody was not asked. Raises MissingExtraError without pyarrow."""
    if error := missing("rows.parquet", "parquet"):
        raise error
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [
        pa.field(one.name, pa.int16(), metadata={"label": one.label, "values": json.dumps(one.values, ensure_ascii=False)})
        for one in columns
    ]
    schema = pa.schema(fields, {"digest": counted.survey.digest})
    with pq.ParquetWriter(file, schema) as table:
        for rows in counted.rows():
            arrays = [pa.array(column, pa.int16(), mask=column == UNASKED) for column in rows.T]
            table.write_batch(pa.record_batch(arrays, schema=schema))
