"""Public data beside the answers: a group, and an invitation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from deniable.errors import AnswerError
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.part import Mode


@dataclass(frozen=True)
class Public:
    """Public data of rows: one group for all of them or the column with each row's group, and an invitation.

    Attributes:
        group: The group of all rows.
        group_column: The column with each row's group.
        invitation: The invitation code.
        mode: The party that perturbs the rows. Only a server's API key makes the sender an organisation.
    """

    group: str | None = None
    group_column: str | None = None
    invitation: str | None = field(default=None, repr=False)
    mode: Mode = "device"

    def check(self, survey: Survey) -> None:
        """Checks the group and the invitation. Raises AnswerError, which lists every problem."""
        if problems := self.problems(survey):
            raise AnswerError("\n".join(problems))

    def problems(self, survey: Survey) -> list[str]:
        """Returns every problem. They quote nothing: it may be an answer passed by mistake."""
        if self.group_column is None:
            group = _group_problems(survey, self.group)
        else:
            group = [] if survey.groups else [f"group_column: must be left out: survey {survey.id} has no groups"]
        return [*group, *_invitation_problems(survey, self.invitation)]

    def __str__(self) -> str:
        if self.group_column is not None:
            return f"groups from the column {self.group_column}"
        return "" if self.group is None else f"group {self.group}"


def some_of(labels: Sequence[str]) -> str:
    """Returns the valid labels for a message: the first few of many."""
    first = ", ".join(labels[:8])
    return f"one of {first}" if len(labels) <= 8 else f"one of {first}, … ({len(labels):,} in all)"


def _group_problems(survey: Survey, group: str | None) -> list[str]:
    if survey.groups and group not in survey.groups:
        return [f"group: {'is missing; it ' if group is None else ''}must be {some_of(survey.groups)}"]
    if group is not None and not survey.groups:
        return [f"group: must be left out: survey {survey.id} has no groups"]
    return []


def _invitation_problems(survey: Survey, invitation: str | None) -> list[str]:
    if survey.access != "invited":
        return [] if invitation is None else [f"invitation: must be left out: survey {survey.id} is open to all"]
    if invitation is None:
        return [f"invitation: is missing: survey {survey.id} needs a code from each respondent"]
    try:
        access_codes.read(invitation)
    except ValueError as error:
        return [f"invitation: {error}"]
    return []
