"""What a store has counted, of one group or all, for tests: what devices and organisations perturbed, or what was made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.tally import Tally
from deniable_server.store.part import Part
from deniable_server.store.protocol import Store, by_hand, estimated


def parts_of(store: Store, survey_id: str, group: str | None = None, apart: bool = False) -> Sequence[Part]:
    survey = store.surveys.published(survey_id).survey
    return by_hand(survey, group) if apart else estimated(survey, group)


def count_of(store: Store, survey_id: str, group: str | None = None, by_hand: bool = False) -> int:
    counts = store.submissions.counts(survey_id)
    return sum(counts.get(part, 0) for part in parts_of(store, survey_id, group, by_hand))


def tally_of(store: Store, survey_id: str, group: str | None = None, by_hand: bool = False) -> Tally:
    return store.submissions.tally(survey_id, parts_of(store, survey_id, group, by_hand))


def recount_of(store: Store, survey_id: str, group: str | None = None, by_hand: bool = False) -> Tally:
    return store.submissions.recount(survey_id, parts_of(store, survey_id, group, by_hand))
