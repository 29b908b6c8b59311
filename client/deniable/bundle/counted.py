"""A survey's counted records in a file, and the numbers in its columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import IO

import numpy as np
from numpy.typing import NDArray

from deniable.bundle.variables import UNASKED, Variable, variables
from deniable.survey import Survey
from deniable.wire.part import MODES, Part
from deniable.wire.record import unpack
from deniable.wire.tally import Tally

Codes = NDArray[np.int16]
"""Rows of a table, shape (rows, variables)."""

CELLS = 1 << 20  # of a table that are in memory at a time, about


@dataclass(frozen=True)
class Counted:
    """The perturbed records that a server has counted, packed, back to back in a file, part by part.

    sizes: how many records each part has, in the order in which the parts stand in the file. Within a part records stand in an order that
    says nothing, such as that of their own bytes. The file is read from its start, again for each use.

    withheld: groups with too few records to be told apart: their records are those of a part without a group. omitted: what else is left
    out, a sentence each.
    """

    survey: Survey
    sizes: Mapping[Part, int]
    file: IO[bytes]
    withheld: frozenset[str] = frozenset()
    omitted: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """How many records there are."""
        return sum(self.sizes.values())

    @cached_property
    def columns(self) -> tuple[Variable, ...]:
        """The columns of the table: without the labels of groups that are withheld."""
        return variables(self.survey, self.withheld)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that are told apart."""
        return tuple(group for group in self.survey.groups if group not in self.withheld)

    @cached_property
    def tallies(self) -> Mapping[Part, Tally]:
        """The records of each part, counted from the file: so figures and rows are of the same records."""
        found = {part: Tally.empty(self.survey.record.bits) for part in self.sizes}
        for part, bits in self.bits():
            found[part] += Tally.from_bits(bits)
        return found

    def tally(self, parts: Collection[Part]) -> Tally:
        """The records of some parts, counted."""
        return sum((self.tallies[part] for part in parts if part in self.sizes), Tally.empty(self.survey.record.bits))

    def bits(self) -> Iterator[tuple[Part, NDArray[np.bool_]]]:
        """The stored bits of some records of a part, shape (some, record_bits), and so on to the last. Raises SubmissionError."""
        size, most = self.survey.record.bytes, max(1, CELLS // self.survey.record.bits)
        self.file.seek(0)
        for part, n in self.sizes.items():
            for start in range(0, n, most):
                count = min(most, n - start)
                yield part, unpack(self.survey, self.file.read(count * size), count)

    def rows(self) -> Iterator[Codes]:
        """Some rows of the table after the other: a number for each of `variables`, UNASKED where there is none."""
        for part, bits in self.bits():
            yield self._rows(part, bits)

    def _rows(self, part: Part, bits: NDArray[np.bool_]) -> Codes:
        public = [UNASKED if part.group is None else self.survey.groups.index(part.group) + 1] if self.groups else []
        made = [np.full(len(bits), code, dtype=np.int16) for code in (MODES.index(part.mode) + 1, *public)]
        made += [column.codes(bits) for column in self.columns if column.field]
        return np.stack(made, axis=1)


def in_order(sizes: Mapping[Part, int], survey: Survey) -> dict[Part, int]:
    """Returns the parts that have records, in the order of the survey's groups and of the modes; those without a group come last."""
    groups = (*survey.groups, None)
    parts = [Part(group, mode) for group in groups for mode in MODES]
    return {part: sizes[part] for part in parts if sizes.get(part)}
