"""Foreign form: what the readers of XLSForms, LimeSurvey and Qualtrics fill in, and the mapper turns into a survey."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from deniable.forms.expressions import ALWAYS, Expression

Texts = Mapping[str, str]
"""A text by the names of its languages in the form; the name is empty if the form names no language."""

Kind = Literal["choice", "multi_choice", "scale", "number"]
_NUMBERS, _SCALES, _SEVERAL = frozenset(("number",)), frozenset(("scale",)), frozenset(("multi_choice",))
LIMITS_LEFT_OUT = "the limits of how many options may be chosen are left out"
MOST_OPTIONS = 20_000  # of all questions: a survey has at most 2,048 bits, so mapping more would only take time


def text_in(texts: Texts, language: str) -> str:
    """Returns a text in a language, or in the form's only one."""
    return texts.get(language, texts.get("", ""))


@dataclass(frozen=True)
class ForeignOption:
    """An option of a question: its name (or code), its labels, and whether it excludes the others."""

    name: str
    labels: Texts
    is_exclusive: bool = False


@dataclass
class ForeignQuestion:
    """A question that randomization can protect.

    Attributes:
        name: Its name in the form.
        kind: Its type in a survey.
        label: Its text.
        hint: Its help.
        options: Its options.
        low: The least number, if the form has one.
        high: The greatest number, if the form has one.
        missing_ends: Why a number has no two ends; empty if it has. `low` and `high` are then proposals.
        has_codes: Whether the form also takes single numbers beside the range, such as -99 for "do not know".
        is_whole: Whether it asks for whole numbers.
        is_required: Whether it must be answered.
        has_other: Whether the form adds an option “Other”.
        at_least: The fewest options that must be chosen of several; 0 if the form has no limit.
        at_most: The most options that may be chosen of several; None if the form has no limit.
        is_random: Whether the order of its options is random.
        condition: When it is asked, without the conditions of groups around it.
        grid: The name of the table of questions with one scale that it belongs to.
        has_random_place: Whether the order of the rows of its table is random.
        losses: Notes on omissions and changes, for the report.
    """

    name: str
    kind: Kind
    label: Texts
    hint: Texts = field(default_factory=dict)
    options: list[ForeignOption] = field(default_factory=list)
    low: str = ""
    high: str = ""
    missing_ends: str = ""
    has_codes: bool = False
    is_whole: bool = False
    is_required: bool = False
    has_other: bool = False
    at_least: int = 0
    at_most: int | None = None
    is_random: bool = False
    condition: Expression = ALWAYS
    grid: str = ""
    has_random_place: bool = False
    losses: list[str] = field(default_factory=list)

    def set_limits(self, least: str, most: str) -> None:
        """Sets the limits of how many options may be chosen, as a form has them; an empty text or 0 is no limit."""
        if self.is_several and all(re.fullmatch("[0-9]{0,4}", limit) for limit in (least, most)):
            self.at_least, self.at_most = int(least or 0), int(most or 0) or None
        elif least or most:
            self.losses.append(LIMITS_LEFT_OUT)

    @property
    def is_number(self) -> bool:
        """Whether its answers are numbers."""
        return self.kind in _NUMBERS

    @property
    def is_scale(self) -> bool:
        """Whether its options are in order."""
        return self.kind in _SCALES

    @property
    def is_several(self) -> bool:
        """Whether several options can be chosen."""
        return self.kind in _SEVERAL

    @property
    def is_plain(self) -> bool:
        """Whether one of some options in any order is chosen."""
        return not (self.is_number or self.is_scale or self.is_several)


@dataclass(frozen=True)
class ForeignNote:
    """A text without a question.

    Attributes:
        name: Its name in the form.
        label: The text.
        condition: When it is shown, without the conditions of groups around it.
        why: Why it is left out if no question can show it.
    """

    name: str
    label: Texts
    condition: Expression = ALWAYS
    why: str = "it asks nothing: put what respondents should read into the survey's text"


@dataclass(frozen=True)
class GroupStart:
    """The beginning of a group of questions.

    Attributes:
        name: Its name in the form; empty for a group that the report does not name.
        label: Its title.
        condition: When its questions are asked.
        refusal: Why none of its questions is asked; empty if they are.
        mixed_with: The name of the set of parts that the form shows in random order, if the group is a part of the form; empty for a part
            that keeps its place, and None for any other group.
        has_internal_label: Whether respondents do not read its label in the form.
    """

    name: str
    label: Texts
    condition: Expression = ALWAYS
    refusal: str = ""
    mixed_with: str | None = None
    has_internal_label: bool = False


@dataclass(frozen=True)
class GroupEnd:
    """The end of the innermost group."""


@dataclass(frozen=True)
class Refusal:
    """A row that cannot be asked, and why."""

    name: str
    why: str


Item = ForeignQuestion | ForeignNote | GroupStart | GroupEnd | Refusal


@dataclass
class ForeignForm:
    """A form, in its own words.

    Attributes:
        title: Its title.
        identifier: Its id.
        language: The language of its own texts, as the form names it; empty if it names none.
        default_language: The language that its settings name, for texts without one.
        items: Its rows, in order.
        remarks: Further lines of the report, about the form as a whole: columns, randomization, quotas.
    """

    title: str
    identifier: str
    language: str
    default_language: str
    items: list[Item]
    remarks: list[Refusal] = field(default_factory=list)
