"""Tags of surveys and drafts, by which researchers organise their lists: rules and storage interface."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from deniable.survey import lookalikes

MOST_TAGS = 20
"""The most tags of one survey or draft."""

MOST_CHARACTERS = 40
"""Characters of the longest tag."""


def read_tags(text: str) -> tuple[str, ...]:
    """Returns the tags in a text, separated by commas, sorted and each once.

    Raises:
        ValueError: A tag is too long or has invisible characters, or there are too many.
    """
    tags = sorted({tag for part in text.split(",") if (tag := " ".join(part.split()))})
    for tag in tags:
        if len(tag) > MOST_CHARACTERS:
            raise ValueError(f"tags must have at most {MOST_CHARACTERS} characters each, got one of {len(tag)}")
        if name := lookalikes.first_invisible(tag):
            raise ValueError(f"tags must have no invisible characters, got {name}")
        if not tag.isprintable():
            raise ValueError("tags must have printable characters only, got another character")
    if len(tags) > MOST_TAGS:
        raise ValueError(f"tags must be at most {MOST_TAGS}, got {len(tags)}")
    return tuple(tags)


class Tags(Protocol):
    """Storage interface for tags. People with a role in a survey see its tags, and so do a draft's readers.

    Every method is safe to call from several threads. Writing raises FullError and UnavailableError, reading UnavailableError.
    """

    def of_surveys(self, survey_ids: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Returns the sorted tags of these surveys, by survey, without untagged surveys."""

    def of_drafts(self, draft_ids: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Returns the sorted tags of these drafts, by draft, without untagged drafts."""

    def surveys_with(self, tag: str) -> frozenset[str]:
        """Returns the surveys that have a tag."""

    def set_survey(self, survey_id: str, tags: Sequence[str]) -> None:
        """Replaces the tags of a survey. Raises UnknownSurveyError."""

    def set_draft(self, draft_id: str, tags: Sequence[str]) -> None:
        """Replaces the tags of a draft. Raises UnknownDraftError."""

    def replace(self, tag: str, new: str, survey_ids: Collection[str], draft_ids: Collection[str]) -> int:
        """Renames a tag on these surveys and drafts; with an empty `new` it is removed. Returns on how many it was."""
