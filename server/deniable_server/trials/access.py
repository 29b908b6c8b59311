"""Access to trials: a test run belongs to those who may open its draft, the sample study to all who have not removed it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from flask import g, has_request_context

from deniable_server.drafts.own_drafts import own
from deniable_server.store.errors import UnknownDraftError, UnknownSurveyError
from deniable_server.store.roles import Role

ROLE = Role.ANALYST
"""The role of everybody who may see a trial: its figures and records, but not its settings."""


def may_open(user: str, draft_id: str) -> bool:
    """Returns whether an account may open a draft now: the account of the current request only."""
    if not has_request_context() or g.get("user") != user:
        return False
    try:
        own(draft_id, Role.VIEWER)
    except UnknownDraftError:
        return False
    return True


class TrialRoles:
    """The roles in the trials of one run.

    Args:
        survey_ids: Returns the ids of the trials.
        admits: Returns whether an account may see them.
    """

    def __init__(self, survey_ids: Callable[[], Iterable[str]], admits: Callable[[str], bool]) -> None:
        self._survey_ids, self._admits = survey_ids, admits

    def role(self, user: str, survey_id: str) -> Role:
        """Returns an account's role in a trial. Raises UnknownSurveyError without one."""
        if survey_id not in self._survey_ids() or not self._admits(user):
            raise UnknownSurveyError("no survey with this id is published here")
        return ROLE

    def seen_by(self, user: str) -> dict[str, Role]:
        """Returns an account's roles by id, sorted."""
        return dict.fromkeys(sorted(self._survey_ids()), ROLE) if self._admits(user) else {}

    def members(self, survey_id: str) -> dict[str, Role]:
        """Returns no roles: a trial has no members of its own."""
        return {}

    def grant(self, survey_id: str, user: str, role: Role) -> None:
        """Raises UnknownSurveyError: roles in a trial are those in its draft."""
        raise UnknownSurveyError("a test run has no roles of its own")

    def revoke(self, survey_id: str, user: str) -> bool:
        """Returns False: roles in a trial are those in its draft."""
        return False
