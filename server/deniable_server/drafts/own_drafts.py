"""Access control for drafts: researchers see their own and those shared with them; operators also see drafts of removed accounts."""

from __future__ import annotations

from typing import NamedTuple

from flask import abort, g

from deniable_server.context import current_store
from deniable_server.drafts.editor.draft_text import id_in, title_in
from deniable_server.store.drafts import MISSING, Draft, DraftHead
from deniable_server.store.errors import UnknownDraftError
from deniable_server.store.roles import Role


def own(draft_id: str, least: Role = Role.OWNER) -> Draft:
    """Returns a draft that the current researcher has a role for. Aborts with 403 for a lower role.

    Args:
        draft_id: The id of the draft.
        least: The least role; its author is an owner.

    Raises:
        UnknownDraftError: It does not exist, or the researcher has no role in it.
    """
    draft = current_store().drafts.draft(draft_id)
    role = _role(draft.author, draft_id)
    if role is None:
        raise UnknownDraftError(MISSING)
    if role < least:
        abort(403, f"this needs the role {least.word} or a higher one in the draft; yours is {role.word}")
    return draft


def role_in(draft: Draft) -> Role:
    """Returns the current researcher's role in a draft that `own` has returned."""
    return _role(draft.author, draft.id) or Role.VIEWER


def may_edit(draft: Draft) -> bool:
    """Returns whether the current researcher may change a draft that `own` has returned."""
    return role_in(draft) >= Role.EDITOR


def owners_to_ask(draft: Draft) -> list[str]:
    """Returns the owners that can publish a draft: its author, other people, teams. Empty if the current researcher is an owner."""
    if _role(draft.author, draft.id) == Role.OWNER:
        return []
    roles = current_store().draft_roles
    people = [name for name, role in roles.members(draft.id).items() if role == Role.OWNER]
    teams = [f"the team {name}" for name, role in roles.teams(draft.id).items() if role == Role.OWNER]
    return [*filter(None, [draft.author]), *people, *teams] or ["the operator of this server"]


class ListedDraft(NamedTuple):
    """A draft in a list. `survey_id` is the id of its future survey; empty without one. `role` is the researcher's."""

    draft: DraftHead
    title: str
    survey_id: str
    role: Role = Role.OWNER

    @property
    def is_own(self) -> bool:
        """Whether the researcher may delete it."""
        return self.role == Role.OWNER


def all_own() -> list[ListedDraft]:
    """Returns all drafts of the current researcher, and those shared with the researcher, unordered."""
    store = current_store()
    every = {head.id: (head, store.draft_roles.role(g.user, head.id) or Role.VIEWER) for head in store.draft_roles.listed(g.user)}
    every |= {head.id: (head, Role.OWNER) for author in _authors() for head in store.drafts.listed(author)}
    return [ListedDraft(head, title_in(head.beginning), id_in(head.beginning), role) for head, role in every.values()]


def _role(author: str, draft_id: str) -> Role | None:
    return Role.OWNER if author in _authors() else current_store().draft_roles.role(g.user, draft_id)


def _authors() -> tuple[str, ...]:
    """Returns the authors whose drafts the current researcher owns; drafts of removed accounts have an empty author."""
    return (g.user, "") if g.get("operator") else (g.user,)
