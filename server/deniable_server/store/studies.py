"""Studies: surveys that ask the same questions again, as numbered waves. Data types and storage interface."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

MOST_NAME = 200
"""Characters of the longest name of a study."""


def study_name(text: str) -> str:
    """Returns a text as a study's name: on one line, without unprintable characters, at most MOST_NAME characters."""
    return "".join(filter(str.isprintable, " ".join(text.split())))[:MOST_NAME].strip()


@dataclass(frozen=True)
class Wave:
    """A survey's place in a study. `study` is the study's id, `number` counts from 1."""

    study: str
    name: str
    survey: str
    number: int


class Studies(Protocol):
    """Storage interface for studies. A survey is in one study at most. A study with fewer than two surveys does not exist.

    Every method is safe to call from several threads. Writing raises FullError and UnavailableError, reading UnavailableError.
    """

    def wave(self, survey_id: str) -> Wave | None:
        """Returns a survey's place in its study, or None."""

    def waves(self, study: str) -> list[Wave]:
        """Returns the waves of a study, by number; empty if there is no such study."""

    def waves_of(self, survey_ids: Collection[str]) -> Mapping[str, Wave]:
        """Returns the places of these surveys in their studies, by survey, without surveys that are in no study."""

    def join(self, survey_id: str, other: str) -> Wave:
        """Adds a survey as the next wave to the study of another survey. Without a study, that survey becomes wave 1 of a new one.

        Raises:
            UnknownSurveyError: There is no such survey.
            ConflictError: It is in a study already, or both are the same survey.
        """

    def leave(self, survey_id: str) -> bool:
        """Removes a survey from its study; the numbers of the other waves stay. Returns whether it was in one."""

    def rename(self, study: str, name: str) -> bool:
        """Changes the name of a study. Returns whether there is such a study."""

    def begin_wave(self, draft_id: str, survey_id: str) -> None:
        """Marks a draft as the next wave of a published survey. Raises UnknownSurveyError and UnknownDraftError."""

    def begun(self, draft_ids: Collection[str]) -> Mapping[str, str]:
        """Returns the survey that each of these drafts follows, by draft, without drafts that are no wave."""
