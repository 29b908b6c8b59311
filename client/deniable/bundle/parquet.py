"""Rows as Parquet: whole numbers of 16 bits, with labels in the metadata of each column."""

from __future__ import annotations

import json
from typing import IO

from deniable.bundle.counted_records import CountedRecords
from deniable.bundle.variables import MISSING, Variable
from deniable.extras import missing


def write(counted: CountedRecords, columns: tuple[Variable, ...], file: IO[bytes]) -> None:
    """Writes a row for each record, with null for a missing value.

    Raises:
        MissingExtraError: pyarrow is missing.
    """
    if error := missing("rows.parquet", "parquet"):
        raise error
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [
        pa.field(column.name, pa.int16(), metadata={"label": column.label, "values": json.dumps(column.values, ensure_ascii=False)})
        for column in columns
    ]
    schema = pa.schema(fields, {"digest": counted.survey.digest})
    with pq.ParquetWriter(file, schema) as writer:
        for rows in counted.rows():
            arrays = [pa.array(codes, pa.int16(), mask=codes == MISSING) for codes in rows.T]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
