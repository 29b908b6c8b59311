"""From a stored tally to the estimates that pages, downloads and the API show."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.errors import EstimateError
from deniable.estimate import Results, analyse
from deniable_server.store import Store


def results_of(store: Store, survey_id: str, options: Mapping[str, str]) -> Results:
    """Estimates of all questions, shares and means; `options` may hold confidence (0.95 by default), method and target."""
    try:
        confidence = float(options.get("confidence", "0.95"))
    except ValueError:
        raise EstimateError("confidence must be a number between 0 and 1") from None
    survey, tally = store.published(survey_id).survey, store.tally(survey_id)
    method, target = options.get("method", "feldman-cousins"), options.get("target", "population")
    return analyse(survey, tally, confidence=confidence, method=method, target=target).results
