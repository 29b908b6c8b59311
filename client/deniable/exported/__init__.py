"""Export of a survey's perturbed records to Parquet files, and their tally: in one process, or in many on many machines.

`Export.open(folder)` reads an export of `deniable-server export`; `tally_of` counts records in any Dask collection. Needs pyarrow from the
extra `deniable[tables]`; a cluster needs `deniable[scale]` on each machine.
"""

from __future__ import annotations

from deniable.exported.cluster import tally_of
from deniable.exported.export import Export
from deniable.exported.pieces import Piece
from deniable.exported.writing import write

__all__ = ["Export", "Piece", "tally_of", "write"]
