"""Look-alike detection between surveys: ids and titles that a respondent could mistake for another survey's on the server.

Skeletons (UTS 39) are computed once per text and process, so a check costs set lookups only, however many surveys there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from deniable.survey import Survey, lookalikes
from deniable_server.store.protocol import Heading, Store
from deniable_server.store.roles import Role

_looks = lru_cache(maxsize=1 << 16)(lookalikes.skeletons)


@dataclass(frozen=True)
class Namesakes:
    """Published surveys whose title looks like a new survey's: its owner's surveys, and the number of other owners' surveys."""

    own: tuple[Heading, ...]
    others: int


def id_like(survey_id: str, ids: Iterable[str]) -> str | None:
    """Returns the first id that looks like `survey_id` without being equal to it, or None."""
    skeletons = _looks(survey_id)
    return next((other for other in ids if other != survey_id and skeletons & _looks(other)), None)


def namesakes(store: Store, survey: Survey, owner: str | None) -> Namesakes:
    """Returns the published surveys whose title, in any language, looks like one of a survey's titles.

    Args:
        store: The store that the survey will be published in.
        survey: The new survey; a published survey with its id is not compared.
        owner: The account that will own it; None for the operators. Surveys that it owns together with others are in `own`.
    """
    skeletons = _skeletons((survey.title, *(texts["title"] for texts in survey.translations.values() if "title" in texts)))
    similar = [other for other in store.surveys.headings() if other.id != survey.id and skeletons & _skeletons(other.titles)]
    if not similar:
        return Namesakes((), 0)
    roles = store.roles.seen_by(owner) if owner is not None else {}
    own = tuple(other for other in similar if (_has_no_owner(store, other.id) if owner is None else roles.get(other.id) == Role.OWNER))
    return Namesakes(own, len(similar) - len(own))


def _skeletons(titles: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(_looks, titles))


def _has_no_owner(store: Store, survey_id: str) -> bool:
    return Role.OWNER not in store.roles.members(survey_id).values()
