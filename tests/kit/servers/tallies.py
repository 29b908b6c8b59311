"""What a store has counted, of one group or all, for tests: what devices and organisations perturbed, or what was made by hand."""

from __future__ import annotations

from collections.abc import Iterable

from deniable.wire.part import Part
from deniable.wire.tally import Tally
from deniable_server.store.protocol import ESTIMATED, Store


def parts_of(store: Store, survey_id: str, group: str | None = None, by_hand: bool = False) -> set[Part]:
    """The parts that are there, and those that the survey declares: these tests also send groups to surveys that have none."""
    labels: Iterable[str | None] = [group] if group else store.surveys.published(survey_id).survey.groups or [None]
    modes = ("by_hand",) if by_hand else ESTIMATED
    there = {part for part in store.submissions.counts(survey_id) if part.mode in modes and group in (None, part.group)}
    return there | {Part(label, mode) for label in labels for mode in modes}


def count_of(store: Store, survey_id: str, group: str | None = None, by_hand: bool = False) -> int:
    counts = store.submissions.counts(survey_id)
    return sum(counts.get(part, 0) for part in parts_of(store, survey_id, group, by_hand))


def tally_of(store: Store, survey_id: str, group: str | None = None, by_hand: bool = False) -> Tally:
    return store.submissions.tally(survey_id, parts_of(store, survey_id, group, by_hand))


def recount_of(store: Store, survey_id: str, group: str | None = None, by_hand: bool = False) -> Tally:
    return store.submissions.recount(survey_id, parts_of(store, survey_id, group, by_hand))
