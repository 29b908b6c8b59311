"""Surveys that are still being written, and what any database must do for them. A draft has no answers, so nothing of it is secret."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

PREVIEW = "preview-"
"""How the ids of surveys begin that are tried and not asked. No survey with such an id is ever published."""

MISSING = "there is no draft with this id, or not any more: what was published is among the surveys"


MOST = 200
"""Drafts that one person may keep: each may be as large as a survey, and all of them are in every backup."""

BEGINNING = 10_000
"""Bytes of each draft that a list of them reads: what it is called stands there."""


@dataclass(frozen=True)
class Head:
    """What a list of drafts says of one. beginning: its first characters, as many as there are in BEGINNING bytes."""

    id: str
    author: str
    beginning: str
    changed_on: str  # a day, YYYY-MM-DD


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

    @property
    def head(self) -> Head:
        """The draft as a list of them has it."""
        return Head(self.id, self.author, beginning(self.text.encode()), self.changed_on)


def beginning(text: bytes) -> str:
    """The first characters of a text in UTF-8; one that would be cut in two is left out."""
    return text[:BEGINNING].decode(errors="ignore")


class Drafts(Protocol):
    """The shelf of drafts. Every method is safe to call from several threads.

    What writes raises FullError, UnavailableError; what reads UnavailableError.
    """

    def begin(self, author: str, text: str) -> Draft:
        """Keeps a new draft, under a random id. Raises TooManyDraftsError where its author has MOST of them."""

    def draft(self, draft_id: str) -> Draft:
        """The draft with this id. Raises UnknownDraftError."""

    def listed(self, author: str) -> list[Head]:
        """One person's drafts, by id; with an empty name, those of people whose account was removed."""

    def save(self, draft_id: str, text: str, before: str) -> Draft:
        """Replaces the text of a draft whose revision is still `before`.

        Raises ConflictError where somebody has changed it meanwhile, UnknownDraftError. Nothing is changed then.
        """

    def remove(self, draft_id: str) -> bool:
        """Erases a draft. False if there is none."""
