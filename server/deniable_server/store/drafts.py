"""Drafts of surveys, which are not published yet: data types and storage interface. A draft has no answers, so nothing in it is secret."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple, Protocol

PREVIEW = "preview-"
"""Prefix of the ids of previews. No survey with such an id is ever published."""

MISSING = "no draft has this id; a published draft is listed among the surveys"

MOST = 200
"""The most drafts of one person: each may be as large as a survey, and every backup contains all of them."""

BEGINNING = 10_000
"""Bytes of each draft that a list reads; they contain its title."""


@dataclass(frozen=True)
class DraftHead:
    """A draft as lists show it. `beginning` is its first characters, as many as fit in BEGINNING bytes."""

    id: str
    author: str
    beginning: str
    changed_on: str  # a day, YYYY-MM-DD


@dataclass(frozen=True)
class Draft:
    """A survey file that is not published, valid or not."""

    id: str
    author: str
    text: str
    changed_on: str  # a day, YYYY-MM-DD

    @property
    def revision(self) -> str:
        """A name for this version of the text: 32 hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    @property
    def head(self) -> DraftHead:
        """The draft as lists show it."""
        return DraftHead(self.id, self.author, beginning(self.text.encode()), self.changed_on)


def beginning(text: bytes) -> str:
    """Returns the first characters of a text in UTF-8, without a character that would be cut in two."""
    return text[:BEGINNING].decode(errors="ignore")


class Steps(NamedTuple):
    """How many versions of a draft can be undone and redone."""

    undo: int
    redo: int


class Drafts(Protocol):
    """Storage interface for drafts.

    Every method is safe to call from several threads. Writing raises FullError and UnavailableError, reading UnavailableError.
    """

    def begin(self, author: str, text: str) -> Draft:
        """Stores a new draft under a random id.

        Raises:
            TooManyDraftsError: Its author has MOST drafts.
        """

    def draft(self, draft_id: str) -> Draft:
        """Returns the draft with this id. Raises UnknownDraftError."""

    def listed(self, author: str) -> list[DraftHead]:
        """Returns one person's drafts, sorted by id; for an empty name, drafts of removed accounts."""

    def save(self, draft_id: str, text: str, before: str) -> Draft:
        """Replaces the text of a draft whose revision is still `before`. The old text can be restored with `undo`.

        Raises:
            ConflictError: The draft was changed meanwhile; nothing is stored.
            UnknownDraftError: There is no such draft.
        """

    def steps(self, draft_id: str) -> Steps:
        """Returns how many versions of a draft can be undone and redone."""

    def undo(self, draft_id: str, before: str) -> Draft:
        """Restores the previous version of a draft whose revision is still `before`; returns the draft unchanged without one.

        Raises:
            ConflictError: The draft was changed meanwhile; nothing is stored.
            UnknownDraftError: There is no such draft.
        """

    def redo(self, draft_id: str, before: str) -> Draft:
        """Restores the version that the last `undo` replaced. Raises as `undo` does."""

    def remove(self, draft_id: str) -> bool:
        """Deletes a draft with its history and all roles in it. Returns whether it existed."""
