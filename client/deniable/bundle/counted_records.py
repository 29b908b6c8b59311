"""Counted records of a survey in a file, and the table of numbers that they give."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import IO

import numpy as np
from numpy.typing import NDArray

from deniable.bundle.variables import MISSING, Variable, variables
from deniable.survey import Survey
from deniable.wire.part import MODES, Part
from deniable.wire.record import unpack
from deniable.wire.tally import Tally

Codes = NDArray[np.int16]
"""Rows of a table, shape (rows, variables)."""

CELLS = 1 << 20  # of a table that are in memory at a time, about


@dataclass(frozen=True)
class CountedRecords:
    """The perturbed records that a server has counted: packed, back to back, part by part.

    Attributes:
        survey: Their survey.
        sizes: The number of records of each part, in the order of the file. The order within a part must reveal nothing: the records may be
            sorted by their own bytes, for example.
        file: The records; read from its start, again for each use.
        withheld: Groups with too few records to be shown. Their records are in a part without a group.
        omitted: A sentence for each other omission.
    """

    survey: Survey
    sizes: Mapping[Part, int]
    file: IO[bytes]
    withheld: frozenset[str] = frozenset()
    omitted: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The number of records."""
        return sum(self.sizes.values())

    @cached_property
    def columns(self) -> tuple[Variable, ...]:
        """The columns of the table, without the labels of withheld groups."""
        return variables(self.survey, self.withheld)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that are shown."""
        return tuple(group for group in self.survey.groups if group not in self.withheld)

    @cached_property
    def tallies(self) -> Mapping[Part, Tally]:
        """The tally of each part, counted from the file, so that figures and rows agree."""
        tallies = {part: Tally.empty(self.survey.record.bits) for part in self.sizes}
        for part, bits in self.bits():
            tallies[part] += Tally.from_bits(bits)
        return tallies

    def tally(self, parts: Collection[Part]) -> Tally:
        """Returns the tally of some parts together."""
        return sum((self.tallies[part] for part in parts if part in self.sizes), Tally.empty(self.survey.record.bits))

    def bits(self) -> Iterator[tuple[Part, NDArray[np.bool_]]]:
        """Yields the stored bits of some records of a part at a time, shape (records, record_bits).

        Raises:
            SubmissionError: A record is not possible in this survey.
        """
        size, most = self.survey.record.bytes, max(1, CELLS // self.survey.record.bits)
        self.file.seek(0)
        for part, n in self.sizes.items():
            for start in range(0, n, most):
                count = min(most, n - start)
                yield part, unpack(self.survey, self.file.read(count * size), count)

    def rows(self) -> Iterator[Codes]:
        """Yields some rows of the table at a time: a code for each column, MISSING for a missing value."""
        for part, bits in self.bits():
            yield self._rows(part, bits)

    def _rows(self, part: Part, bits: NDArray[np.bool_]) -> Codes:
        public = [MODES.index(part.mode) + 1]
        if self.groups:
            public.append(MISSING if part.group is None else self.survey.groups.index(part.group) + 1)
        columns = [np.full(len(bits), code, dtype=np.int16) for code in public]
        columns += [column.codes(bits) for column in self.columns if column.field]
        return np.stack(columns, axis=1)


def order_parts(sizes: Mapping[Part, int], survey: Survey) -> dict[Part, int]:
    """Returns the parts that have records, in the order of the survey's groups and of the modes; those without a group come last."""
    groups = (*survey.groups, None)
    parts = [Part(group, mode) for group in groups for mode in MODES]
    return {part: sizes[part] for part in parts if sizes.get(part)}
