"""Whose drafts one sees: one's own; and operators those of whom there is no account any more, so that none is left behind."""

from __future__ import annotations

from typing import NamedTuple

from flask import g

from deniable_server.context import current_store
from deniable_server.drafts.editor.drafted import name_in, title_in
from deniable_server.store.drafts import MISSING, Draft, DraftHead
from deniable_server.store.errors import UnknownDraftError


def own(draft_id: str) -> Draft:
    """A draft of the researcher of the current request. Raises UnknownDraftError for one of somebody else, as for one that is not there."""
    draft = current_store().drafts.draft(draft_id)
    if draft.author not in _authors():
        raise UnknownDraftError(MISSING)
    return draft


class Kept(NamedTuple):
    """A draft in a list. name: the id that its survey is to have, empty where it has none yet."""

    draft: DraftHead
    title: str
    name: str


def all_own() -> list[Kept]:
    """All drafts of the researcher of the current request, in no order."""
    heads = (head for author in _authors() for head in current_store().drafts.listed(author))
    return [Kept(head, title_in(head.beginning), name_in(head.beginning)) for head in heads]


def _authors() -> tuple[str, ...]:
    """Whose drafts the researcher of the current request sees; drafts of an account that was removed have an empty name."""
    return (g.user, "") if g.get("operator") else (g.user,)
