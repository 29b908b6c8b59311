"""Distributed tally with Dask: a worker gets perturbed records and the survey's definition, and returns a tally.

A tally is a sum, and every worker computes the same tally of a piece. If a worker ends early, another one counts its pieces again, so that
the total has each piece exactly once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.errors import ExportError
from deniable.exported import pieces
from deniable.exported.pieces import Piece
from deniable.extras import missing
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.possible import check
from deniable.wire.tally import Tally

if TYPE_CHECKING:
    from distributed import Client

BATCH = 8  # tallies that a task adds: wide ones have 34 MB each


def tally_of(survey: Survey, records: Any) -> Tally:
    """Counts packed records where Dask computes: in the cluster of the current `distributed.Client`, or else in this process.

    Args:
        survey: The survey of the records.
        records: A Dask bag of bytes, or an iterable of `dask.delayed` bytes: complete records, back to back.

    Raises:
        SubmissionError: The survey's coins cannot produce a record.
        MissingExtraError: The extra `deniable[scale]` is missing.
    """
    delayed = _delayed()
    definition, count = delayed(survey.definition), delayed(_tally_records, pure=True)
    partitions = records.to_delayed() if hasattr(records, "to_delayed") else list(records)
    total: Tally = _sum(delayed, survey, [count(definition, partition) for partition in partitions]).compute()
    return total


def of_export(folder: Path, files: Sequence[Piece], survey: Survey, chosen: Collection[Part], client: Client) -> Tally:
    """Counts some parts of an export in a cluster. Raises the errors of `Export.tally`."""
    delayed = _delayed()
    definition, count = delayed(survey.definition), delayed(_tally_piece, pure=True)
    path, parts = folder.absolute(), tuple(sorted(chosen, key=lambda part: (part.group or "", part.mode)))
    tallies = [count(definition, path, piece, parts) for piece in files]
    from distributed.scheduler import KilledWorker

    try:
        total: Tally = client.compute(_sum(delayed, survey, tallies)).result()
    except KilledWorker as error:
        raise ExportError(f"the cluster failed: too many workers ended while counting, perhaps for lack of memory. {error}") from None
    return total


def _tally_piece(definition: bytes, folder: Path, piece: Piece, chosen: tuple[Part, ...]) -> Tally:
    survey = _survey(definition)
    return Tally.total(pieces.tallies(folder / piece.name, piece, survey, chosen), survey.record.bits)


def _tally_records(definition: bytes, records: bytes | Iterable[bytes]) -> Tally:
    survey = _survey(definition)

    def tallies() -> Iterator[Tally]:
        for chunk in [records] if isinstance(records, bytes) else records:
            check(survey, chunk, len(chunk) // survey.record.bytes)
            yield Tally.from_records(chunk, survey.record.bits)

    return Tally.total(tallies(), survey.record.bits)


def _sum(delayed: Any, survey: Survey, tallies: list[Any]) -> Any:
    add = delayed(_add, pure=True)
    while len(tallies) > 1:
        tallies = [add(tallies[first : first + BATCH]) for first in range(0, len(tallies), BATCH)]
    return tallies[0] if tallies else delayed(Tally.empty)(survey.record.bits)


def _add(tallies: Sequence[Tally]) -> Tally:
    return Tally.total(tallies, len(tallies[0].pairs))


@lru_cache(maxsize=4)
def _survey(definition: bytes) -> Survey:
    return Survey.from_definition(definition)


def _delayed() -> Any:
    if error := missing("a cluster", "scale"):
        raise error
    from dask.delayed import delayed

    return delayed
