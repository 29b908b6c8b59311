"""The library's analysis of the records that somebody chose: what the builders of cross tables and models ask. No figure is made here."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.errors import EstimateError
from deniable.estimate import Analysis
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.record import unpack
from deniable_server.results.results import Records, interval_of, records_of
from deniable_server.store.protocol import Store

MOST_BYTES = 64 << 20
"""Of records that a page reads: it answers while somebody waits, and beside respondents."""


def analysis_of(store: Store, survey_id: str, options: Mapping[str, str], *, whole: bool = False) -> Analysis:
    """The records that somebody chose, with the interval that they asked for, as `SurveyClient.analysis` gives them.

    options: as in `results_of`. whole: with the records themselves, not their tally alone. Raises EstimateError naming what is wrong, also
    for more records than a page reads, NobodyError and WithheldError.
    """
    chosen, interval = records_of(store, survey_id, options), interval_of(options)
    require_somebody(chosen.n)
    bits = None
    if whole:
        raw = reports_of(chosen)
        bits = unpack(chosen.survey, raw, len(raw) // chosen.survey.record.bytes)
    tally = chosen.tally()
    confidence, target = interval.confidence, interval.target
    return Analysis(chosen.survey, tally, bits, confidence, target=target, described=chosen.described)


class NobodyError(EstimateError):
    """Of those that somebody chose, nobody's record is counted yet."""


def require_somebody(n: int, title: str = "") -> None:
    """Raises NobodyError where none of n records is to be shown. title: of another survey than the page's."""
    if not n:
        raise NobodyError(f"no responses{f' to {title}' if title else ''} are counted yet, so there is nothing to show")


def reports_of(chosen: Records) -> bytes:
    """Returns the records, slice by slice and in the order of their bytes, as the API gives them. Raises EstimateError for too many."""
    n = chosen.n
    require_somebody(n)
    if n * chosen.survey.record.bits > MOST_BYTES:
        most = MOST_BYTES // chosen.survey.record.bits
        raise EstimateError(f"a page reads up to {most:,} records of this survey, and {n:,} are counted: use the command below")
    return b"".join(chunk for _, chunks in chosen.release.rows(chosen.slices()) for chunk in chunks)


def categorical(survey: Survey) -> list[Question]:
    """What can stand in a cross table or predict: all that is randomized by itself, but numbers that were rounded to levels."""
    return [item for item in survey.items if not item.rounds]


def item_of(survey: Survey, name: str, wanted: str) -> Question:
    """One of these by its id. Raises EstimateError for another, which is named `name` and not quoted."""
    for item in categorical(survey):
        if item.id == wanted:
            return item
    raise EstimateError(f"{name} must be the id of a question of survey {survey.id} that is no rounded number")
