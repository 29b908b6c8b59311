"""Access control for drafts: researchers see their own; operators also see drafts of removed accounts."""

from __future__ import annotations

from typing import NamedTuple

from flask import g

from deniable_server.context import current_store
from deniable_server.drafts.editor.draft_text import id_in, title_in
from deniable_server.store.drafts import MISSING, Draft, DraftHead
from deniable_server.store.errors import UnknownDraftError


def own(draft_id: str) -> Draft:
    """Returns a draft of the current researcher. Raises UnknownDraftError if it does not exist or belongs to another person."""
    draft = current_store().drafts.draft(draft_id)
    if draft.author not in _authors():
        raise UnknownDraftError(MISSING)
    return draft


class ListedDraft(NamedTuple):
    """A draft in a list. `survey_id` is the id of its future survey; empty without one."""

    draft: DraftHead
    title: str
    survey_id: str


def all_own() -> list[ListedDraft]:
    """Returns all drafts of the current researcher, unordered."""
    heads = (head for author in _authors() for head in current_store().drafts.listed(author))
    return [ListedDraft(head, title_in(head.beginning), id_in(head.beginning)) for head in heads]


def _authors() -> tuple[str, ...]:
    """Returns the authors whose drafts the current researcher sees; drafts of removed accounts have an empty author."""
    return (g.user, "") if g.get("operator") else (g.user,)
