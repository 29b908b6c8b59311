"""Content of a survey: the keys of a survey file, validated, with their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from deniable.survey.question import Question

BATCH = 10
"""Default of `batch`; a lower one needs `accept_small_batches`."""


@dataclass(frozen=True)
class Content:
    """Validated content of a survey file, before anything is computed from it.

    Attributes:
        id: The survey's id, part of its address.
        title: The first text that respondents read.
        about: The researchers, the purpose, and a contact.
        questions: The questions.
        institution: The name of the institution that asks, or empty.
        logo: Its picture as a data URL, or empty.
        contact: A contact for respondents, or empty.
        ethics: The ethics approval, or empty.
        thanks: The text at the end, or empty.
        closed: The text once the survey is closed, or empty.
        return_link: The address at the end, the same for everybody, or empty.
        ask: The number of blocks of questions that a respondent's device draws and asks; None to ask all.
        groups: The public labels of groups; each submission has one.
        access: "open", or "invited" if each submission needs a one-time code.
        layout: "list", or "steps" for one question a page.
        order: How a respondent's device orders the questions of a section: "random", "rotate", or empty for the given order.
        section_order: How it orders the sections, likewise.
        release: When a server shows respondents' records: "close", all together when the survey closes, or "daily", once a day at most.
        batch: The fewest records of a part (a group, by hand or not) that a server releases together, and the fewest it shows by group.
        results: "private", or "public" if a server shows the results to everyone once records are shown.
        language: The language of the texts.
        translations: The texts in further languages, as in a survey file.
        accept_high_epsilon: Whether the total epsilon may be above `total.HIGH`.
        accept_small_batches: Whether `batch` may be below BATCH.
        issuer: The public key that signs the tokens of invited people; a server adds it when it publishes the survey.
    """

    id: str
    title: str
    about: str
    questions: tuple[Question, ...]
    institution: str = ""
    logo: str = ""
    contact: str = ""
    ethics: str = ""
    thanks: str = ""
    closed: str = ""
    return_link: str = ""
    ask: int | None = None
    groups: tuple[str, ...] = ()
    access: str = "open"
    layout: str = "list"
    order: str = ""
    section_order: str = ""
    release: str = "daily"
    batch: int = BATCH
    results: str = "private"
    language: str = "en"
    translations: Mapping[str, Any] = field(default_factory=dict)
    accept_high_epsilon: bool = False
    accept_small_batches: bool = False
    issuer: str = ""


def default_release(access: Any) -> str:
    """Returns the default of `release`: the authors of invitations know the names, so all records are shown together."""
    return "close" if access == "invited" else "daily"


DEFAULTS: dict[str, Any] = {
    key.name: key.default_factory() if key.default_factory is not MISSING else key.default
    for key in fields(Content)
    if key.default is not MISSING or key.default_factory is not MISSING
}
"""The optional keys of a survey file that are part of its content, with their defaults."""
