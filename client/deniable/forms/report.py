"""Report of an import: what became of each row of a form, and what its author can still decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["mapped", "changed", "refused"]
Decision = Literal["numbers", "conditions", "texts", "notes", "others"]

KEPT, EVERYBODY, LEAVE_OUT, BEFORE, OPTION = "kept", "everybody", "leave out", "before the next question", "option"
"""Possible decisions: about a condition, a note and an option “Other”."""


@dataclass(frozen=True)
class ReportLine:
    """The outcome for a row of the form.

    Attributes:
        name: The name of the row, or of a column or a setting.
        verdict: Whether it was mapped, changed or refused.
        why: The reason.
    """

    name: str
    verdict: Verdict
    why: str


@dataclass(frozen=True)
class Mending:
    """Something that an import cannot decide, with a proposal.

    Attributes:
        decision: Its kind.
        name: The name of the row.
        text: The text of the row.
        about: The form's own rule, and how much of it is kept.
        proposal: The decision that the import makes by itself; for a number, ends to begin with.
        choices: The possible decisions; empty if they are numbers or texts.
    """

    decision: Decision
    name: str
    text: str
    about: str
    proposal: dict[str, str] | str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportedForm:
    """A form as a survey.

    Attributes:
        document: The survey file, which may still need corrections.
        report: A line for each row of the form.
        mendings: Decisions that its author can make.
        conditions: How many questions have a condition in the form, and how many of these conditions are kept whole and in part.
    """

    document: dict[str, Any]
    report: tuple[ReportLine, ...]
    mendings: tuple[Mending, ...] = ()
    conditions: tuple[int, int, int] = (0, 0, 0)
