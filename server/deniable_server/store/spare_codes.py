"""Spare invitation codes: how many more codes a survey has than people are expected."""

from __future__ import annotations

from deniable.survey import Survey
from deniable_server.store.protocol import Heading, Store


def spare_codes(store: Store, survey: Survey | Heading) -> tuple[int, int] | None:
    """Returns the numbers of codes and of expected people if there are more codes; None otherwise, or if no number is expected."""
    expected = store.life.settings(survey.id).expected if survey.access == "invited" else None
    if expected is None:
        return None
    count, _ = store.invitations.count(survey.id)
    return (count, expected) if count > expected else None
