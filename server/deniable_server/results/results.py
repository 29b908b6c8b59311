"""From stored tallies to the estimates that pages, downloads and the API show."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from deniable.errors import EstimateError
from deniable.estimate import Results, analyse
from deniable.estimate.limits.interval import DEFAULT_METHOD, Interval
from deniable.estimate.samples.sample import Sample
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.tally import Tally
from deniable_server.results.release import Release, Slice, counted, release_of
from deniable_server.store import protocol
from deniable_server.store.protocol import Published, Store

MAX_COUNTS = 1 << 24  # pairs of bits in the tallies of all groups, held at once


def results_of(store: Store, survey_id: str, options: Mapping[str, str]) -> Results:
    """Estimates of all questions, shares and means.

    options: may hold confidence (0.95 by default), method and target; group and by_hand, as in `records_of`; clusters, 1 where the groups
    were drawn, and then people in them. Raises EstimateError naming what is wrong.
    """
    chosen, interval = records_of(store, survey_id, options), interval_of(options)
    how: dict[str, Any] = {"confidence": interval.confidence, "method": interval.method, "target": interval.target}
    if _clusters(chosen.survey, options):
        results = analyse(chosen.survey, chosen.release.clusters(), sample=Sample(clusters="group"), **how).results
    else:
        results = analyse(chosen.survey, chosen.tally(), **how).results
    return replace(results, **chosen.described)


def _clusters(survey: Survey, options: Mapping[str, str]) -> bool:
    """Whether the groups are clusters. Raises EstimateError where they cannot be."""
    written = options.get("clusters") or "0"
    if written not in ("0", "1"):
        raise EstimateError("clusters must be 1, or left out")
    if written == "1" and (not survey.groups or options.get("group") or options.get("by_hand") == "1"):
        raise EstimateError("clusters must be left out: only all groups of a survey together can be clusters, made by devices")
    if written == "1" and len(survey.groups) * survey.record.bits**2 > MAX_COUNTS:
        raise EstimateError(f"clusters must be left out: {len(survey.groups):,} groups of so many questions are for the Python client")
    return written == "1"


@dataclass(frozen=True)
class Records:
    """The records that a request selects, of a group or of all.

    release: what may be released of them. described: what results say of them, by the names of fields of `Results`.
    """

    survey: Survey
    release: Release
    group: str | None
    described: dict[str, Any]

    @property
    def n(self) -> int:
        """Number of records."""
        return self.release.n(self.group)

    def tally(self) -> Tally:
        """Returns their tally. Raises WithheldError."""
        return self.release.tally(self.group)

    def slices(self) -> list[Slice]:
        """Returns their rows, in slices. Raises WithheldError."""
        return self.release.slices(self.group)


def records_of(store: Store, survey_id: str, options: Mapping[str, str]) -> Records:
    """The records that somebody chose.

    options: may hold group, one of the survey's, for that one only; by_hand, 1 for the reports of those who tossed coins themselves, which
    are in no other results. Raises EstimateError naming what is wrong, and WithheldError where there are too few records to show
    anything of them: all that is told of a survey's records, in whatever form, asks here.
    """
    published = store.surveys.published(survey_id)
    survey = published.survey
    group, by_hand = group_of(survey, "group", options.get("group") or None), _by_hand(survey, options.get("by_hand") or "0")
    apart, together = protocol.by_hand(survey, group), protocol.estimated(survey, group)
    release = release_of(store, survey, by_hand=by_hand)
    release.require(group)
    described: dict[str, Any] = {"group": group, "by_hand": by_hand, "may_wait": may_wait(published, apart if by_hand else together)}
    if not by_hand:
        described["n_by_hand"] = counted(release.counts, apart)
        described["n_organisation"] = of_organisations(release.counts, together)
    return Records(survey, release, group, described)


def sizes_of(store: Store, survey: Survey) -> dict[str, int]:
    """How many records of each group are estimated; empty where the survey has no groups."""
    counts = store.submissions.counts(survey.id)
    return {group: counted(counts, protocol.estimated(survey, group)) for group in survey.groups}


def of_organisations(counts: Mapping[Part, int], parts: Collection[Part]) -> int:
    """How many of the records of these parts were randomized by an organisation."""
    return counted(counts, [part for part in parts if part.mode == "organisation"])


def may_wait(published: Published, parts: Collection[Part]) -> int:
    """How many records of these parts may have arrived and wait, at most: each part waits for batches of its own.

    How many there are is not for anybody to know: who watched the number would see each arrival.
    """
    return len(parts) * published.survey.most_waiting if published.is_open else 0


def group_of(survey: Survey, name: str, label: str | None) -> str | None:
    """The group that somebody asked for as `name`, None for none. Raises EstimateError for one that is not the survey's."""
    if label is not None and not survey.groups:
        raise EstimateError(f"{name} must be left out: survey {survey.id} has no groups")
    if label is not None and label not in survey.groups:
        raise EstimateError(f"{name} must be one of the groups of survey {survey.id}: {', '.join(survey.groups)}")
    return label


def _by_hand(survey: Survey, written: str) -> bool:
    if written not in ("0", "1"):
        raise EstimateError("by_hand must be 1, or left out")
    if written == "1" and not survey.coins_can_answer:
        raise EstimateError(f"by_hand must be left out: two coins cannot answer survey {survey.id}")
    return written == "1"


def interval_of(options: Mapping[str, str]) -> Interval:
    """The interval that somebody asked for, by confidence, method and target. Raises EstimateError naming what is wrong."""
    try:
        confidence = float(options.get("confidence", "0.95"))
    except ValueError:
        raise EstimateError("confidence must be a number between 0 and 1") from None
    return Interval(confidence, options.get("method", DEFAULT_METHOD), options.get("target", "population"))
