"""Look-alike detection between surveys: ids and titles that a respondent could take for those of another survey on the server.

Skeletons (UTS 39) are computed once per text and process, so a look costs set lookups only, however many surveys there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from deniable.survey import Survey, lookalikes
from deniable_server.store.protocol import Heading, Store
from deniable_server.store.roles import Role

_looks = lru_cache(maxsize=1 << 16)(lookalikes.looks)


@dataclass(frozen=True)
class Namesakes:
    """Published surveys with a title that looks like a new one's. own: those of its owner; others: how many are of other owners."""

    own: tuple[Heading, ...]
    others: int


def id_like(survey_id: str, ids: Iterable[str]) -> str | None:
    """Returns the first of the ids that looks like another one, `survey_id`; None where they all differ to the eye."""
    mine = _looks(survey_id)
    return next((other for other in ids if other != survey_id and mine & _looks(other)), None)


def namesakes(store: Store, survey: Survey, owner: str | None) -> Namesakes:
    """Returns the published surveys whose title, in any language, looks like one of a survey's titles.

    Args:
        store: The store that the survey is to be published in.
        survey: The new survey; one that is published under its id is not counted.
        owner: The account that will own it, None for the operators. A survey is its own where it is an owner of it, too.
    """
    mine = _of((survey.title, *(texts["title"] for texts in survey.translations.values() if "title" in texts)))
    alike = [one for one in store.surveys.headings() if one.id != survey.id and mine & _of(one.titles)]
    if not alike:
        return Namesakes((), 0)
    seen = store.roles.seen_by(owner) if owner is not None else {}
    own = tuple(one for one in alike if (_unowned(store, one.id) if owner is None else seen.get(one.id) == Role.OWNER))
    return Namesakes(own, len(alike) - len(own))


def _of(titles: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(_looks, titles))


def _unowned(store: Store, survey_id: str) -> bool:
    return Role.OWNER not in store.roles.members(survey_id).values()
