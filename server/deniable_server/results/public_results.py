"""Public results: the counts and estimates that a survey with `results: public` shows to everyone, after a release.

They are aggregates: for each recorded value of each question, how many records name it. Rows are not published, since a row joins
everything that one person's coins said, and the estimates need the counts only. `disclosure_control` decides which groups are shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from deniable.bundle.codebook import output_scores
from deniable.estimate import Results, estimate
from deniable.estimate.moments.counts import counts
from deniable.survey import Survey
from deniable.wire.tally import Tally
from deniable_server.results.disclosure_control import Release, release_of
from deniable_server.results.results import of_organisations
from deniable_server.store.protocol import Published, Store
from deniable_server.web.errors import WithheldError

MOST_ROWS = 2_000
"""Estimated shares of all groups together; the groups of a survey with more are not public."""


@dataclass(frozen=True)
class RecordedValues:
    """The counts of one item: how many records have it, and how many of these name each recorded value."""

    n: int
    ones: tuple[int, ...]


@dataclass(frozen=True)
class PublicTable:
    """The figures of all groups, of a group, or of the people who tossed coins: `results.group` and `results.by_hand` say which."""

    results: Results
    counts: Mapping[str, RecordedValues]


@dataclass(frozen=True)
class PublicResults:
    """Public tables of a survey.

    Attributes:
        tables: All groups together, then each group that may be shown, then the people who tossed coins. Empty before a release.
        released_on: The day on which records were last counted, or empty.
        least: The minimum number of records of what is shown.
        hidden_groups: The number of groups that are not shown, whether or not they have records.
        is_deleted: Whether the survey's records were deleted.
        fingerprint: A hash of what the results are computed from, to be shown to no one; empty without tables.
    """

    tables: tuple[PublicTable, ...] = ()
    released_on: str = ""
    least: int = 0
    hidden_groups: int = 0
    is_deleted: bool = False
    fingerprint: bytes = b""


def public_results(store: Store, published: Published, previous: bytes = b"") -> PublicResults | None:
    """Returns the public results of a survey. Empty while a survey with `release: close` is open.

    Args:
        store: The server's store.
        published: The survey.
        previous: The fingerprint of earlier results. If nothing has changed since, None is returned.
    """
    survey, settings = published.survey, store.life.settings(published.survey.id)
    if survey.results != "public" or (survey.release == "close" and published.is_open):
        return PublicResults()
    releases = [release_of(store, survey, by_hand=by_hand) for by_hand in (False, True)]
    last = store.life.last_counted().get(survey.id, "")
    fingerprint = hashlib.sha256(b"".join(release.fingerprint() for release in releases) + last.encode()).digest()
    if previous == fingerprint:
        return None
    try:
        tables = [table for release in releases for table in _tables(release)]
    except WithheldError:  # records were withdrawn meanwhile
        tables = []
    if not tables:
        return PublicResults(is_deleted=bool(settings.deleted_on))
    groups = {table.results.group for table in tables if table.results.group}
    least = max(survey.batch, settings.least)
    return PublicResults(tuple(tables), last, least, len(survey.groups) - len(groups), fingerprint=fingerprint)


def _tables(release: Release) -> list[PublicTable]:
    """Returns the table of all records, and of each group if there are few enough; nothing before a release."""
    if release.is_withheld or not release.n():
        return []
    groups = [group for group in release.groups if release.n(group)]
    if release.by_hand or len(groups) * sum(len(item.shared) for item in release.survey.items) > MOST_ROWS:
        groups = []
    return [_table(release, group) for group in (None, *groups)]


def _table(release: Release, group: str | None) -> PublicTable:
    release.require(group)
    return release.compute_once(("public", group), lambda: _computed(release, group))


def _computed(release: Release, group: str | None) -> PublicTable:
    survey, tally = release.survey, release.tally(group)
    results = replace(estimate(survey, tally), group=group, by_hand=release.by_hand)
    if not release.by_hand:
        results = replace(results, n_organisation=of_organisations(release.counts, release.parts(group)))
    return PublicTable(results, {item.id: _values(survey, tally, item.id) for item in survey.items})


def _values(survey: Survey, tally: Tally, item: str) -> RecordedValues:
    field = survey.record.field(item)
    if not (tally.n if field.mask is None else tally.pairs[field.mask, field.mask]):
        return RecordedValues(0, ())
    _, n, ones = counts(survey, tally, item)
    return RecordedValues(int(n), tuple(int(one) for one in ones))


def to_dict(survey: Survey, public: PublicResults, definition: str) -> dict[str, Any]:
    """Returns the counts and estimates as plain JSON types. definition: the address of the definition, whose digest is in it."""
    return {
        "survey": survey.id,
        "title": survey.title,
        "definition": definition,
        "digest": survey.digest,
        "epsilon": survey.epsilon,
        "released_on": public.released_on or None,
        "about": "recorded: the number of records that name each value; chances: in the definition. No line is about one person.",
        "tables": [_table_dict(survey, table) for table in public.tables],
    }


def _table_dict(survey: Survey, table: PublicTable) -> dict[str, Any]:
    results = table.results
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in results.rows:
        figures = {"option": row.option, "estimate": row.estimate, "std_error": row.std_error, "low": row.low, "high": row.high}
        rows.setdefault(row.question, []).append(figures)
    means = {
        row.question: {"estimate": row.mean, "std_error": row.std_error, "low": row.low, "high": row.high, "n": row.n}
        for row in results.means
    }
    return {
        "group": results.group,
        "by_hand": results.by_hand,
        "n": results.n,
        "n_organisation": results.n_organisation,
        "items": [
            {
                "id": item.id,
                "n": table.counts[item.id].n,
                "values": list(item.recorded),
                "recorded": list(table.counts[item.id].ones),
                "scores": output_scores(item),
                "shares": rows.get(item.id, []),
                "mean": means.get(item.id),
            }
            for item in survey.items
        ],
    }
