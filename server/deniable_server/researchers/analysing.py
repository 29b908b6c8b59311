"""The library's analysis of the records that somebody chose: what the builders of cross tables and models ask. No figure is made here."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate import Analysis
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.record import unpack
from deniable_server.researchers.results import Records, counted, interval_of, records_of
from deniable_server.store.protocol import Store

MOST_BYTES = 64 << 20
"""Of records that a page reads: it answers while somebody waits, and beside respondents."""


def analysis_of(store: Store, survey_id: str, options: Mapping[str, str], *, whole: bool = False) -> Analysis:
    """The records that somebody chose, with the interval that they asked for, as `SurveyClient.analysis` gives them.

    options: as in `results_of`. whole: with the records themselves, not their tally alone. Raises EstimateError naming what is wrong, also
    for more records than a page reads, NobodyError and WithheldError.
    """
    chosen, interval = records_of(store, survey_id, options), interval_of(options)
    require_somebody(counted(store.submissions.counts(survey_id), chosen.parts))
    bits = None
    if whole:
        raw = reports_of(store, chosen)
        bits = unpack(chosen.survey, raw, len(raw) // chosen.survey.record.bytes)
    tally = store.submissions.tally(survey_id, chosen.parts)
    confidence, target = interval.confidence, interval.target
    return Analysis(chosen.survey, tally, bits, confidence, target=target, described=chosen.described)


class NobodyError(EstimateError):
    """Of those that somebody chose, nobody's record is counted yet."""


def require_somebody(n: int, title: str = "") -> None:
    """Raises NobodyError where none of n records is to be shown. title: of another survey than the page's."""
    if not n:
        raise NobodyError(f"no responses{f' to {title}' if title else ''} are counted yet, so there is nothing to show")


def reports_of(store: Store, chosen: Records) -> bytes:
    """The records, part by part and in the order of their bytes, as the API gives them. Raises EstimateError for too many."""
    size = chosen.survey.record.bytes
    counts = store.submissions.counts(chosen.survey.id)
    n = counted(counts, chosen.parts)
    require_somebody(n)
    if n * chosen.survey.record.bits > MOST_BYTES:
        most = MOST_BYTES // chosen.survey.record.bits
        raise EstimateError(f"a page reads up to {most:,} records of this survey, and {n:,} are counted: use the command below")
    parts = []
    for _, reports in store.submissions.reports_by_part(chosen.survey.id, chosen.parts):
        parts.append(np.sort(np.frombuffer(b"".join(reports), dtype=f"V{size}")).tobytes())
    return b"".join(parts)


def categorical(survey: Survey) -> list[Question]:
    """What can stand in a cross table or predict: all that is randomized by itself, but numbers that were rounded to levels."""
    return [item for item in survey.items if not item.rounds]


def item_of(survey: Survey, name: str, wanted: str) -> Question:
    """One of these by its id. Raises EstimateError for another, which is named `name` and not quoted."""
    for item in categorical(survey):
        if item.id == wanted:
            return item
    raise EstimateError(f"{name} must be the id of a question of survey {survey.id} that is no rounded number")
