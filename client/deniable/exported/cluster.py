"""Records counted by Dask, wherever they are. A worker gets perturbed records and the survey's definition, and gives back a tally.

A tally is a sum, and that of a piece is the same whoever counts it. So a worker that ends in the middle changes nothing: what it had
counted is counted again by another one, and what comes together in the end is each piece once.
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

TOGETHER = 8  # tallies that are added at a time: wide ones have 34 MB each


def tally_of(survey: Survey, records: Any) -> Tally:
    """Counts a Dask collection of packed records: a bag of bytes, or several `dask.delayed` of bytes, each whole records back to back.

    It is computed where Dask computes: by the cluster of the current `distributed.Client`, or else in this process. Raises SubmissionError
    for records that the survey's coins cannot produce, and MissingExtraError without the extra `deniable[scale]`.
    """
    delayed = _delayed()
    definition, count = delayed(survey.definition), delayed(_of_records, pure=True)
    partitions = records.to_delayed() if hasattr(records, "to_delayed") else list(records)
    total: Tally = _sum(delayed, survey, [count(definition, one) for one in partitions]).compute()
    return total


def of_export(folder: Path, files: Sequence[Piece], survey: Survey, chosen: Collection[Part], client: Client) -> Tally:
    """Some parts of an export, counted by a cluster. Raises as `Export.tally` does."""
    delayed = _delayed()
    definition, count = delayed(survey.definition), delayed(_of_piece, pure=True)
    place, parts = folder.absolute(), tuple(sorted(chosen, key=lambda part: (part.group or "", part.mode)))
    tallies = [count(definition, place, piece, parts) for piece in files]
    from distributed.scheduler import KilledWorker

    try:
        total: Tally = client.compute(_sum(delayed, survey, tallies)).result()
    except KilledWorker as error:
        raise ExportError(f"the cluster gave up: too many workers ended while they counted; have they memory enough? {error}") from None
    return total


def _of_piece(definition: bytes, folder: Path, piece: Piece, chosen: tuple[Part, ...]) -> Tally:
    survey = _survey(definition)
    return Tally.total(pieces.tallies(folder / piece.name, piece, survey, chosen), survey.record.bits)


def _of_records(definition: bytes, records: bytes | Iterable[bytes]) -> Tally:
    survey = _survey(definition)

    def tallies() -> Iterator[Tally]:
        for some in [records] if isinstance(records, bytes) else records:
            check(survey, some, len(some) // survey.record.bytes)
            yield Tally.from_records(some, survey.record.bits)

    return Tally.total(tallies(), survey.record.bits)


def _sum(delayed: Any, survey: Survey, tallies: list[Any]) -> Any:
    add = delayed(_added, pure=True)
    while len(tallies) > 1:
        tallies = [add(tallies[first : first + TOGETHER]) for first in range(0, len(tallies), TOGETHER)]
    return tallies[0] if tallies else delayed(Tally.empty)(survey.record.bits)


def _added(tallies: Sequence[Tally]) -> Tally:
    return Tally.total(tallies, len(tallies[0].pairs))


@lru_cache(maxsize=4)
def _survey(definition: bytes) -> Survey:
    return Survey.from_definition(definition)


def _delayed() -> Any:
    if error := missing("a cluster", "scale"):
        raise error
    from dask.delayed import delayed

    return delayed
