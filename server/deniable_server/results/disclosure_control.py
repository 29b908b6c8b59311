"""Disclosure control: which slices of a survey's records may be released (primary and complementary suppression).

The minimum number of records is the larger of `least` in the survey's settings and `batch` in its definition. Every figure and every row
that leaves the server comes from here, so that one decision holds for all of them. At any one time, the sums and differences of
everything released describe either no records or at least that many:

- Records of devices and of organisations are one table, records made by hand another. A table with fewer records than `least` is withheld.
- A group with fewer is withheld (primary suppression). The total less the other groups reveals the withheld groups together. While these
  have fewer than `least` records, the smallest of the other groups is withheld, too (complementary suppression).
- Rows also name their mode: who perturbed them. If a mode has too few records in a group, the group's figures are released, but its rows
  have no labels.

Rows without labels are released together, so that pooled data stay complete. The rule uses the numbers of records, which everyone who
may see the survey knows, and never a record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from typing import TypeVar

from deniable.survey import Survey
from deniable.wire.part import Mode, Part
from deniable.wire.tally import Tally
from deniable_server.results import result_cache
from deniable_server.results.external_sort import sorted_records
from deniable_server.store import protocol
from deniable_server.store.protocol import Store
from deniable_server.web.errors import WithheldError

T = TypeVar("T")


@dataclass(frozen=True)
class Slice:
    """Records that are released under one label. group, mode: None if it is suppressed; group also in a survey without groups."""

    group: str | None
    mode: Mode | None
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Release:
    """The release rule for one table of a survey's records.

    Attributes:
        counts: The number of records of each part.
        least: The minimum.
        by_hand: Whether it is the table of people who tossed coins.
    """

    store: Store
    survey: Survey
    counts: Mapping[Part, int]
    least: int
    by_hand: bool = False

    def n(self, group: str | None = None) -> int:
        """Returns the number of records, of a group or of all. It is public to everyone who may see the survey."""
        return counted(self.counts, self.parts(group))

    def parts(self, group: str | None = None) -> list[Part]:
        """Returns the parts of the table, of a group or of all, whether or not they may be released."""
        return (protocol.by_hand if self.by_hand else protocol.estimated)(self.survey, group)

    @cached_property
    def is_withheld(self) -> bool:
        """Whether nothing may be released: the table has records, but fewer than the minimum."""
        return 0 < self.n() < self.least

    @cached_property
    def withheld(self) -> tuple[str, ...]:
        """The groups whose figures may not be released, in the order of the survey."""
        sizes = {group: self.n(group) for group in self.survey.groups}
        suppressed = [group for group, n in sizes.items() if 0 < n < self.least]
        others = sorted((group for group, n in sizes.items() if n >= self.least), key=sizes.__getitem__)
        while suppressed and others and sum(sizes[group] for group in suppressed) < self.least:
            suppressed.append(others.pop(0))
        return tuple(group for group in self.survey.groups if group in suppressed)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups whose figures may be released, empty ones included."""
        return () if self.is_withheld else tuple(group for group in self.survey.groups if group not in self.withheld)

    def require(self, group: str | None = None) -> None:
        """Checks that the figures of a group, or of all, may be released. Raises WithheldError."""
        rule = _minimum(self.least)
        if self.is_withheld or (group is not None and 0 < self.n(group) < self.least):
            n = self.n() if self.is_withheld else self.n(group)
            raise WithheldError(f"{rule}; {n:,} {'is' if n == 1 else 'are'} counted{'' if self.is_withheld else f' of {group}'}")
        if group in self.withheld:
            raise WithheldError(f"{rule}; {group} is hidden because its figures would reveal a smaller group")

    def tally(self, group: str | None = None) -> Tally:
        """Returns the tally of a group, or of all. Raises WithheldError."""
        self.require(group)
        tally = self.store.submissions.tally(self.survey.id, self.parts(group))
        if 0 < tally.n < self.least:  # records were withdrawn meanwhile
            raise WithheldError(_minimum(self.least))
        return tally

    def fingerprint(self) -> bytes:
        """Returns a hash of what each value of this table depends on: definition, state of the counts, and minimum.

        The numbers of records are among these because the table has checked them, and the counts may have changed since. Show it to no one.
        """
        numbers = sorted((part.group or "", part.mode, n) for part, n in self.counts.items())
        state = self.store.submissions.state(self.survey.id)
        return hashlib.sha256(repr((self.survey.digest, state, numbers, self.least, self.by_hand)).encode()).digest()

    def compute_once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Returns a value that is computed from this table alone, as the function `compute_once` does."""
        return compute_once([self], key, compute)

    def clusters(self) -> dict[str, Tally]:
        """Returns the tally of each group; withheld groups are one cluster, named for the first of them. Raises WithheldError."""
        self.require()
        tallies = {group: self.tally(group) for group in self.groups}
        if self.withheld:
            parts = [part for group in self.withheld for part in self.parts(group)]
            tallies[self.withheld[0]] = self.store.submissions.tally(self.survey.id, parts)
        return tallies

    def slices(self, group: str | None = None, unlabelled: frozenset[str] = frozenset()) -> list[Slice]:
        """Returns the rows of a group, or of all: first the rows with labels, then the others.

        Args:
            group: The group, or None for all.
            unlabelled: Further groups whose rows get no label.

        Raises:
            WithheldError: The rows may not be released.
        """
        self.require(group)
        labels: Sequence[str | None] = self.survey.groups or [None] if group is None else [group]
        suppressed = self.unlabelled | unlabelled if group is None else frozenset()
        slices, rest = list[Slice](), list[Part]()
        for label in labels:
            parts = self.parts(label)
            if label in suppressed:
                rest += parts
            elif self._is_mixed(label):
                slices.append(Slice(label, None, tuple(parts)))
            else:
                slices += [Slice(label, part.mode, (part,)) for part in parts]
        modes = {part.mode for part in rest if self.counts.get(part)}
        return [*slices, *([Slice(None, modes.pop() if len(modes) == 1 else None, tuple(rest))] if rest else [])]

    @property
    def unlabelled(self) -> frozenset[str]:
        """The groups whose rows have no label in the rows of all groups: they are withheld, or one of their modes has too few records."""
        return frozenset(group for group in self.survey.groups if group in self.withheld or self._is_mixed(group))

    def _is_mixed(self, group: str | None) -> bool:
        """Returns whether a group has records of several modes, and one mode has too few to be named."""
        sizes = [n for part in self.parts(group) if (n := self.counts.get(part, 0))]
        return len(sizes) > 1 and min(sizes) < self.least

    def rows(self, slices: Collection[Slice]) -> Generator[tuple[Slice, Iterator[bytes]], None, None]:
        """Yields each slice with records, and its sorted records in chunks.

        The store is read once for all slices. Read the records of a slice before you advance to the next slice.
        """
        slice_of = {part: piece for piece in slices for part in piece.parts}
        reports_by_part = self.store.submissions.reports_by_part(self.survey.id, list(slice_of))
        for piece, parts in groupby(reports_by_part, key=lambda pair: slice_of[pair[0]]):
            yield piece, sorted_records(chain.from_iterable(reports for _, reports in parts), self.survey.record.bytes)


def _minimum(least: int) -> str:
    return f"estimates are shown from {least:,} records on"


def release_of(store: Store, survey: Survey, *, by_hand: bool = False) -> Release:
    """Returns the release rule of a survey with its current counts and settings."""
    least = max(survey.batch, store.life.settings(survey.id).least)
    return Release(store, survey, store.submissions.counts(survey.id), least, by_hand)


def compute_once(tables: Sequence[Release], key: Hashable, compute: Callable[[], T]) -> T:
    """Returns a value that is computed from some tables, cached until the counts or the minimum of one of them change.

    Check with `require` before that the value may be released; the cache does not.

    Args:
        tables: The tables.
        key: Everything else, such as the options of the request.
        compute: As in `result_cache.compute_once`.
    """
    return result_cache.compute_once((*(table.fingerprint() for table in tables), key), compute)


@dataclass(frozen=True)
class LabelledRows:
    """The rows of a survey that may be released with labels in one file: a bundle or an export.

    Attributes:
        parts: The table and the slice of each part. In a survey with groups, a part without a group has rows of several groups.
        withheld: The groups that the rows do not name.
        omitted: A sentence for everything that is left out.
    """

    parts: Mapping[Part, tuple[Release, Slice]]
    withheld: frozenset[str]
    omitted: tuple[str, ...]

    def read(self, order: Iterable[Part] | None = None) -> Generator[tuple[Part, Iterator[bytes]], None, None]:
        """Yields each part with records, and its records in chunks; each table is read once.

        Read the records of a part before you advance to the next part. order: of the parts, by default as in `parts`.
        """
        for _, parts in groupby(self.parts if order is None else order, key=lambda part: self.parts[part][0].by_hand):
            part_of = {self.parts[part][1]: part for part in parts}
            table = self.parts[next(iter(part_of.values()))][0]
            for piece, chunks in table.rows(part_of):
                yield part_of[piece], chunks


def labelled_rows(store: Store, survey: Survey) -> LabelledRows:
    """Returns the rows of both tables that may be released. Raises WithheldError without any."""
    tables = [release_of(store, survey, by_hand=by_hand) for by_hand in (False, True)]
    least, withheld = tables[0].least, tables[0].unlabelled.union(*(table.unlabelled for table in tables if not table.is_withheld))
    parts: dict[Part, tuple[Release, Slice]] = {}
    few = f"these, or others that would give them away, have fewer than {least:,} records"
    omitted = []
    for table in tables:
        if table.is_withheld and table.by_hand:
            omitted.append(f"Records that people made by hand are left out: there are fewer than {least:,}.")
            continue
        slices = table.slices(unlabelled=withheld)
        labelled = [piece for piece in slices if piece.mode is not None or not counted(table.counts, piece.parts)]
        parts |= {Part(piece.group, piece.mode): (table, piece) for piece in labelled if piece.mode is not None}  # others are empty
        if len(labelled) < len(slices):
            if not any(counted(table.counts, piece.parts) for piece in labelled):
                raise WithheldError(
                    f"{_minimum(least)}; rows state who randomized them (device or organisation), and each kind needs that many records"
                )
            omitted.append(
                f"The rows of {len(withheld):,} of {len(survey.groups):,} groups are left out, and are in no figure here: {few}, "
                "in all or in one mode of randomization."
            )
        elif withheld and not table.by_hand:
            omitted.append(f"The rows of {len(withheld):,} of {len(survey.groups):,} groups do not say which group they are of: {few}.")
    return LabelledRows(parts, withheld, tuple(omitted))


def counted(counts: Mapping[Part, int], parts: Collection[Part]) -> int:
    """Returns the number of records of these parts together."""
    return sum(counts.get(part, 0) for part in parts)
