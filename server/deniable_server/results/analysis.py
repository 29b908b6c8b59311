"""The library's `Analysis` of selected records, for cross tables and models."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.errors import EstimateError
from deniable.estimate import Analysis
from deniable.estimate.limits.interval import Interval
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.record import unpack
from deniable_server.results.results import Records, interval_of, records_of
from deniable_server.store.protocol import Store

MOST_BYTES = 64 << 20
"""Of records that a page reads: a person waits for the page, and respondents use the same server."""


class NoRecordsError(EstimateError):
    """None of the selected records is counted yet."""


def analysis_of(store: Store, survey_id: str, options: Mapping[str, str], *, whole: bool = False) -> Analysis:
    """Returns the analysis of the selected records, as `SurveyClient.analysis` does.

    Args:
        store: The server's store.
        survey_id: The survey.
        options: As in `results_of`.
        whole: Whether to read the records, not their tally only.

    Raises:
        EstimateError: An option is invalid, or a page cannot read so many records.
        NoRecordsError: No records are counted.
        WithheldError: There are too few records.
    """
    return analyse_records(records_of(store, survey_id, options), interval_of(options), whole=whole)


def analyse_records(selected: Records, interval: Interval, *, whole: bool = False) -> Analysis:
    """Returns the analysis of selected records, as `analysis_of` does. Raises EstimateError and WithheldError."""
    require_records(selected.n)
    bits = None
    if whole:
        raw = reports_of(selected)
        bits = unpack(selected.survey, raw, len(raw) // selected.survey.record.bytes)
    tally = selected.tally()
    return Analysis(selected.survey, tally, bits, interval.confidence, target=interval.target, described=selected.described)


def require_records(n: int, title: str = "") -> None:
    """Requires at least one record. title: of a survey other than the page's. Raises NoRecordsError."""
    if not n:
        raise NoRecordsError(f"no records{f' of {title}' if title else ''} are counted yet, so there is nothing to show")


def reports_of(selected: Records) -> bytes:
    """Returns the records, slice by slice and sorted, as the API does. Raises NoRecordsError, and EstimateError for too many."""
    n = selected.n
    require_records(n)
    if n * selected.survey.record.bits > MOST_BYTES:
        most = MOST_BYTES // selected.survey.record.bits
        raise EstimateError(f"a page reads up to {most:,} records of this survey, and {n:,} are counted: use the command below")
    return b"".join(chunk for _, chunks in selected.release.rows(selected.slices()) for chunk in chunks)


def categorical(survey: Survey) -> list[Question]:
    """Returns the items that a cross table or a predictor may use: all except numbers that were rounded to levels."""
    return [item for item in survey.items if not item.rounds]


def item_of(survey: Survey, name: str, item_id: str) -> Question:
    """Returns a categorical item. Raises EstimateError for another id; the message names the option `name`, not the id."""
    for item in categorical(survey):
        if item.id == item_id:
            return item
    raise EstimateError(f"{name} must be the id of a question of survey {survey.id} that is no rounded number")
