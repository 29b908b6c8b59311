"""Saved questions: each researcher's own library of questions. Data types and storage interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

MOST = 100
"""The most saved questions of one person."""

MOST_BYTES = 1 << 15
"""The most bytes of one saved question."""

UNKNOWN = "no saved question has this id"


@dataclass(frozen=True)
class SavedQuestion:
    """A question as a part of a survey file, in JSON, with texts in the file's language."""

    id: str
    author: str
    text: str
    saved_on: str  # a day, YYYY-MM-DD


class SavedQuestions(Protocol):
    """Storage interface for saved questions. Methods raise the errors that `Drafts` raises."""

    def add(self, author: str, text: str) -> SavedQuestion:
        """Stores a question under a random id; returns the stored one if the author has the same already.

        Raises:
            TooManyQuestionsError: Its author has MOST saved questions.
        """

    def listed(self, author: str) -> list[SavedQuestion]:
        """Returns one person's saved questions, the oldest day first."""

    def remove(self, author: str, question_id: str) -> bool:
        """Deletes a saved question of this author. Returns whether it existed."""
