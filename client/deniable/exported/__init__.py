"""A survey's perturbed records in a folder of Parquet files, and their tally: in this process, or in many on many machines.

`Export.open(folder)` reads what `deniable-server export` wrote; `tally_of` counts records wherever Dask has them. Needs pyarrow, which the
extra `deniable[tables]` brings; a cluster needs `deniable[scale]`, on every machine.
"""

from __future__ import annotations

from deniable.exported.cluster import tally_of
from deniable.exported.export import Export
from deniable.exported.pieces import Piece
from deniable.exported.writing import write

__all__ = ["Export", "Piece", "tally_of", "write"]
