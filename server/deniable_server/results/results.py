"""Estimates of the counted records that a request selects, for pages, downloads and the API."""

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
from deniable_server.results.disclosure_control import Release, Slice, counted, release_of
from deniable_server.store import protocol
from deniable_server.store.protocol import Store

OPTIONS = ("confidence", "method", "target", "group", "by_hand", "clusters")
"""The options of `results_of`."""

MAX_COUNTS = 1 << 24  # pairs of bits in the tallies of all groups, in memory at once


def results_of(store: Store, survey_id: str, options: Mapping[str, str]) -> Results:
    """Estimates all questions: shares and means.

    Args:
        store: The server's store.
        survey_id: The survey.
        options: confidence (default 0.95), method and target; group and by_hand, as in `records_of`; clusters: 1 if groups were sampled
            first, then people in them. All are optional.

    Raises:
        EstimateError: An option is invalid.
        WithheldError: There are too few records.
    """
    return estimates_of(records_of(store, survey_id, options), options)


def estimates_of(selected: Records, options: Mapping[str, str]) -> Results:
    """Estimates all questions from selected records. options: as in `results_of`. Raises EstimateError and WithheldError."""
    interval, has_clusters = interval_of(options), _has_clusters(selected.survey, options)
    key = "results", selected.group, interval, has_clusters
    results = selected.release.compute_once(key, lambda: _estimates(selected, interval, has_clusters))
    return replace(results, **selected.described)


def _estimates(selected: Records, interval: Interval, has_clusters: bool) -> Results:
    """Computes the results of records, without what else is described about them."""
    settings: dict[str, Any] = {"confidence": interval.confidence, "method": interval.method, "target": interval.target}
    if has_clusters:
        results = analyse(selected.survey, selected.release.clusters(), sample=Sample(clusters="group"), **settings).results
    else:
        results = analyse(selected.survey, selected.tally(), **settings).results
    return replace(results, group=selected.group, by_hand=selected.release.by_hand)


def _has_clusters(survey: Survey, options: Mapping[str, str]) -> bool:
    """Returns whether the groups are clusters. Raises EstimateError if they cannot be."""
    value = options.get("clusters") or "0"
    if value not in ("0", "1"):
        raise EstimateError("clusters must be 1, or left out")
    if value == "1" and (not survey.groups or options.get("group") or options.get("by_hand") == "1"):
        raise EstimateError("clusters must be left out: only all groups of a survey together can be clusters, made by devices")
    if value == "1" and len(survey.groups) * survey.record.bits**2 > MAX_COUNTS:
        raise EstimateError(f"clusters must be left out: {len(survey.groups):,} groups of so many questions are for the Python client")
    return value == "1"


@dataclass(frozen=True)
class Records:
    """The records that a request selects, of a group or of all.

    Attributes:
        release: The rule that decides which of them may be released.
        group: Their group, or None for all groups.
        described: Their description, by the names of fields of `Results`.
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
        """Returns their tally. Raises WithheldError if they are too few."""
        return self.release.tally(self.group)

    def slices(self) -> list[Slice]:
        """Returns their rows, in slices. Raises WithheldError if they are too few."""
        return self.release.slices(self.group)


def records_of(store: Store, survey_id: str, options: Mapping[str, str]) -> Records:
    """Selects records. Whatever leaves the server about them must come from here, so that the minimum holds everywhere.

    Args:
        store: The server's store.
        survey_id: The survey.
        options: group, one of the survey's groups; by_hand: 1 for the records of people who tossed coins themselves, which are in no
            other results. Both are optional.

    Raises:
        EstimateError: An option is invalid.
        WithheldError: There are too few records.
    """
    survey = store.surveys.published(survey_id).survey
    group, by_hand = group_of(survey, "group", options.get("group") or None), _by_hand(survey, options.get("by_hand") or "0")
    apart, together = protocol.by_hand(survey, group), protocol.estimated(survey, group)
    release = release_of(store, survey, by_hand=by_hand)
    release.require(group)
    described: dict[str, Any] = {"group": group, "by_hand": by_hand, "waiting": waiting_of(store, survey, by_hand=by_hand)}
    if not by_hand:
        described["n_by_hand"] = counted(release.counts, apart)
        described["n_organisation"] = of_organisations(release.counts, together)
    return Records(survey, release, group, described)


def sizes_of(store: Store, survey: Survey) -> dict[str, int]:
    """Returns the number of records in the estimates of each group; empty without groups."""
    counts = store.submissions.counts(survey.id)
    return {group: counted(counts, protocol.estimated(survey, group)) for group in survey.groups}


def of_organisations(counts: Mapping[Part, int], parts: Collection[Part]) -> int:
    """Returns how many records of these parts an organisation has randomized."""
    return counted(counts, [part for part in parts if part.mode == "organisation"])


def waiting_of(store: Store, survey: Survey, *, by_hand: bool = False) -> int:
    """Returns how many records of people wait for their release, in all groups, in steps of `protocol.STEP`."""
    return store.submissions.waiting(survey.id)["by_hand" if by_hand else "device"]


def group_of(survey: Survey, name: str, label: str | None) -> str | None:
    """Returns the group of the option `name`, or None without one. Raises EstimateError if the survey has no such group."""
    if label is not None and not survey.groups:
        raise EstimateError(f"{name} must be left out: survey {survey.id} has no groups")
    if label is not None and label not in survey.groups:
        raise EstimateError(f"{name} must be one of the groups of survey {survey.id}: {', '.join(survey.groups)}")
    return label


def _by_hand(survey: Survey, value: str) -> bool:
    if value not in ("0", "1"):
        raise EstimateError("by_hand must be 1, or left out")
    if value == "1" and not survey.coins_can_answer:
        raise EstimateError(f"by_hand must be left out: two coins cannot answer survey {survey.id}")
    return value == "1"


def interval_of(options: Mapping[str, str]) -> Interval:
    """Returns the interval of the options confidence, method and target. Raises EstimateError if one is invalid."""
    try:
        confidence = float(options.get("confidence", "0.95"))
    except ValueError:
        raise EstimateError("confidence must be a number between 0 and 1") from None
    return Interval(confidence, options.get("method", DEFAULT_METHOD), options.get("target", "population"))
