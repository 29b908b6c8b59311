"""Whose drafts one sees: one's own; and operators those of whom there is no account any more, so that none is left behind."""

from __future__ import annotations

from flask import g

from deniable_server.context import current_store
from deniable_server.store.drafts import MISSING, Draft
from deniable_server.store.errors import UnknownDraftError


def own(draft_id: str) -> Draft:
    """A draft of the researcher of the current request. Raises UnknownDraftError for one of somebody else, as for one that is not there."""
    draft = current_store().drafts.draft(draft_id)
    if not _may_see(draft):
        raise UnknownDraftError(MISSING)
    return draft


def all_own() -> list[Draft]:
    """All of them, by id."""
    return [draft for draft in current_store().drafts.all() if _may_see(draft)]


def _may_see(draft: Draft) -> bool:
    if draft.author == g.get("user"):
        return True
    accounts = current_store().accounts
    return bool(g.get("operator")) and draft.author not in accounts.users()
