"""Disclosure control: which slices of a survey's records may be released (primary and complementary suppression).

The settings of a survey have a minimum number of records, `least`. Every figure and every row that leaves the server is asked for here, so
that one decision holds on all ways out. The records of a survey are divided so that whatever somebody adds up or subtracts of all that is
released, at one time, is about no records or about `least` of them or more:

- Records of respondents' devices and of organisations are one table, those made by hand another. A table with fewer records than `least`
  is withheld.
- A group with fewer is withheld. All groups less the others are those withheld, together. If these have fewer than `least`, the smallest
  of the other groups is withheld, too, and the next, until they have enough.
- Rows say who perturbed them, besides. A group in which one of these ways has too few records has its figures, and rows without a label.

Rows without a label are released together: all that is pooled stays complete. The rule looks at the numbers of records only, which are no
secret; never at a record.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby

from deniable.survey import Survey
from deniable.wire.part import Mode, Part
from deniable.wire.tally import Tally
from deniable_server.results.records import ordered
from deniable_server.store import protocol
from deniable_server.store.protocol import Store
from deniable_server.web.errors import WithheldError


@dataclass(frozen=True)
class Slice:
    """Records that are released under one label. group, mode: None where it is not told, or the survey has no groups."""

    group: str | None
    mode: Mode | None
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Release:
    """What may be released of one table of a survey's records.

    counts: the number of records of each part. least: the minimum of the settings. by_hand: the table of those who tossed coins.
    """

    store: Store
    survey: Survey
    counts: Mapping[Part, int]
    least: int
    by_hand: bool = False

    def n(self, group: str | None = None) -> int:
        """Number of records, of a group or of all. This is shown to everybody who may see the survey."""
        return counted(self.counts, self.parts(group))

    def parts(self, group: str | None = None) -> list[Part]:
        """The parts of the table, whether or not they may be released."""
        return (protocol.by_hand if self.by_hand else protocol.estimated)(self.survey, group)

    @cached_property
    def is_withheld(self) -> bool:
        """Whether nothing may be released: there are records, and fewer than the minimum."""
        return 0 < self.n() < self.least

    @cached_property
    def withheld(self) -> tuple[str, ...]:
        """The groups whose figures may not be released, in the order of the survey."""
        sizes = {group: self.n(group) for group in self.survey.groups}
        held = [group for group, n in sizes.items() if 0 < n < self.least]
        others = sorted((group for group, n in sizes.items() if n >= self.least), key=sizes.__getitem__)
        while held and others and sum(sizes[group] for group in held) < self.least:
            held.append(others.pop(0))
        return tuple(group for group in self.survey.groups if group in held)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups whose figures may be released, empty ones included."""
        return () if self.is_withheld else tuple(group for group in self.survey.groups if group not in self.withheld)

    def require(self, group: str | None = None) -> None:
        """Raises WithheldError where the figures of a group, or of all, may not be released."""
        rule = f"estimates are shown from {self.least:,} records on, as the survey's settings say"
        if self.is_withheld or (group is not None and 0 < self.n(group) < self.least):
            n = self.n() if self.is_withheld else self.n(group)
            raise WithheldError(f"{rule}; {n:,} {'is' if n == 1 else 'are'} counted{'' if self.is_withheld else f' of {group}'}")
        if group in self.withheld:
            raise WithheldError(f"{rule}; with those of {group}, all groups less the others would show fewer")

    def tally(self, group: str | None = None) -> Tally:
        """The tally of a group, or of all. Raises WithheldError."""
        self.require(group)
        tally = self.store.submissions.tally(self.survey.id, self.parts(group))
        if 0 < tally.n < self.least:  # records were withdrawn meanwhile
            raise WithheldError(f"estimates are shown from {self.least:,} records on, as the survey's settings say")
        return tally

    def clusters(self) -> dict[str, Tally]:
        """The tally of each group; those that are withheld are one cluster, under the label of the first of them. Raises WithheldError."""
        self.require()
        tallies = {group: self.tally(group) for group in self.groups}
        if self.withheld:
            parts = [part for group in self.withheld for part in self.parts(group)]
            tallies[self.withheld[0]] = self.store.submissions.tally(self.survey.id, parts)
        return tallies

    def slices(self, group: str | None = None, unlabelled: frozenset[str] = frozenset()) -> list[Slice]:
        """The rows of a group, or of all: those with their labels, then those without. Raises WithheldError.

        unlabelled: further groups whose rows are to have no label.
        """
        self.require(group)
        labels: Sequence[str | None] = self.survey.groups or [None] if group is None else [group]
        hidden = self.unlabelled | unlabelled if group is None else frozenset()
        cells, rest = list[Slice](), list[Part]()
        for label in labels:
            parts = self.parts(label)
            if label in hidden:
                rest += parts
            elif self._is_mixed(label):
                cells.append(Slice(label, None, tuple(parts)))
            else:
                cells += [Slice(label, part.mode, (part,)) for part in parts]
        modes = {part.mode for part in rest if self.counts.get(part)}
        return [*cells, *([Slice(None, modes.pop() if len(modes) == 1 else None, tuple(rest))] if rest else [])]

    @property
    def unlabelled(self) -> frozenset[str]:
        """The groups whose rows have no label among those of all: those withheld, and those of which one way of perturbing has too few."""
        return frozenset(group for group in self.survey.groups if group in self.withheld or self._is_mixed(group))

    def _is_mixed(self, group: str | None) -> bool:
        """Whether the records of a group were perturbed in several ways, and those of one are too few to be told apart."""
        sizes = [n for part in self.parts(group) if (n := self.counts.get(part, 0))]
        return len(sizes) > 1 and min(sizes) < self.least

    def rows(self, slices: Collection[Slice]) -> Iterator[tuple[Slice, Iterator[bytes]]]:
        """Yields each slice that has records, with these in the order of their bytes, many at a time.

        What waits is read once for all slices. The records of a slice must be read before the next slice is asked for.
        """
        slice_of = {part: one for one in slices for part in one.parts}
        found = self.store.submissions.reports_by_part(self.survey.id, list(slice_of))
        for one, parts in groupby(found, key=lambda pair: slice_of[pair[0]]):
            yield one, ordered(chain.from_iterable(reports for _, reports in parts), self.survey.record.bytes)


def release_of(store: Store, survey: Survey, *, by_hand: bool = False) -> Release:
    """What may be released of a survey now."""
    return Release(store, survey, store.submissions.counts(survey.id), store.life.settings(survey.id).least, by_hand)


@dataclass(frozen=True)
class Rows:
    """The rows of a survey that may leave with their labels, in one file: a bundle or an export.

    Attributes:
        parts: The table and the slice of each part; those of a part without a group are of several groups, where the survey has groups.
        withheld: The groups that are not told apart.
        omitted: What else is left out, a sentence each.
    """

    parts: Mapping[Part, tuple[Release, Slice]]
    withheld: frozenset[str]
    omitted: tuple[str, ...]

    def read(self, order: Iterable[Part] | None = None) -> Iterator[tuple[Part, Iterator[bytes]]]:
        """Yields each part that has records, with these, in the order of the parts or in another one; each table is read once.

        The records of a part must be read before the next part is asked for.
        """
        for _, parts in groupby(self.parts if order is None else order, key=lambda part: self.parts[part][0].by_hand):
            part_of = {self.parts[part][1]: part for part in parts}
            table = self.parts[next(iter(part_of.values()))][0]
            for one, chunks in table.rows(part_of):
                yield part_of[one], chunks


def rows_of(store: Store, survey: Survey) -> Rows:
    """Returns the rows of both tables that may be released. Raises WithheldError where there are too few, or labels cannot be left out."""
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
        labelled = [one for one in slices if one.mode is not None or not counted(table.counts, one.parts)]
        parts |= {Part(one.group, one.mode or "device"): (table, one) for one in labelled}
        if len(labelled) < len(slices):
            if not any(counted(table.counts, one.parts) for one in labelled):
                told = "records of devices and of organisations are told apart"
                raise WithheldError(f"estimates are shown from {least:,} records on, as the survey's settings say; in rows, {told}")
            omitted.append(
                f"The rows of {len(withheld):,} of {len(survey.groups):,} groups are left out, and are in no figure here: {few}, "
                "or of one of the ways in which they were randomized."
            )
        elif withheld and not table.by_hand:
            omitted.append(f"The rows of {len(withheld):,} of {len(survey.groups):,} groups do not say which group they are of: {few}.")
    return Rows(parts, withheld, tuple(omitted))


def counted(counts: Mapping[Part, int], parts: Collection[Part]) -> int:
    """Returns how many records these parts have together."""
    return sum(counts.get(part, 0) for part in parts)
