"""Surveys that are still being written, and what any database must do for them. A draft has no answers, so nothing of it is secret."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

PREVIEW = "preview-"
"""How the ids of surveys begin that are tried and not asked. No survey with such an id is ever published."""

MISSING = "there is no draft with this id, or not any more: what was published is among the surveys"


@dataclass(frozen=True)
class Draft:
    """A survey file that is being written, right or wrong."""

    id: str
    author: str
    text: str
    changed_on: str  # a day, YYYY-MM-DD

    @property
    def revision(self) -> str:
        """Names this text among all that the draft ever has: 32 hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]


class Drafts(Protocol):
    """The shelf of drafts. Every method is safe to call from several threads.

    What writes raises FullError, UnavailableError; what reads UnavailableError.
    """

    def begin(self, author: str, text: str) -> Draft:
        """Keeps a new draft, under a random id."""

    def draft(self, draft_id: str) -> Draft:
        """The draft with this id. Raises UnknownDraftError."""

    def all(self) -> list[Draft]:
        """All drafts, by id."""

    def save(self, draft_id: str, text: str, before: str) -> Draft:
        """Replaces the text of a draft whose revision is still `before`.

        Raises ConflictError where somebody has changed it meanwhile, UnknownDraftError. Nothing is changed then.
        """

    def remove(self, draft_id: str) -> bool:
        """Erases a draft. False if there is none."""
