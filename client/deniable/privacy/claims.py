"""Claims: the sentences that reassure, warn or advise, each with the condition under which it is true.

`claims.json` has them all, for respondents' pages, researchers' pages, commands and bundles. Nothing else prints such a sentence, and
nothing prints one whose condition does not hold. Twin: `browser/claims.mjs`, which gets its part of the table with the page.

A condition maps facts about a survey to what they must be: one of some words, or a number within bounds. A fact that is not known meets no
condition, so a page that does not know the survey can print unconditional claims only.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Literal

from deniable.privacy.posterior import posterior_bound, right_for
from deniable.survey import Survey

Facts = Mapping[str, str | int]
Condition = Mapping[str, Sequence[str] | Mapping[str, int]]

FILE = Path(__file__).with_name("claims.json")
NO_FACTS: Facts = {}


@dataclass(frozen=True)
class Claim:
    """A sentence and its condition.

    Attributes:
        id: Its topic and its name in it, such as `advice.truth`.
        when: The condition under which it is true.
        text: The sentence in English, the key of its translations, with facts in braces: `{batch}`.
        english: Whether it is for researchers, whose pages and files are in English.
    """

    id: str
    when: Condition
    text: str
    english: bool = False

    @property
    def topic(self) -> str:
        """The part of the id before the dot: a page shows the claims of a topic in one place."""
        return self.id.split(".")[0]

    def holds(self, facts: Facts) -> bool:
        """Returns whether the condition is met."""
        return all(name in facts and _meets(facts[name], required) for name, required in self.when.items())


def _meets(value: str | int, required: Sequence[str] | Mapping[str, int]) -> bool:
    if isinstance(required, Mapping):
        return isinstance(value, int) and required.get("least", value) <= value <= required.get("most", value)
    return value in required


@cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return table


@cache
def all_claims() -> tuple[Claim, ...]:
    """Returns every claim, in the table's order."""
    return tuple(Claim(**entry) for entry in _table()["claims"])


def levels() -> tuple[tuple[str, int], ...]:
    """Returns the levels of protection with their highest bound in percent, the strongest first."""
    return tuple((level, most) for level, most in _table()["levels"])


def level_of(bound: Decimal) -> str:
    """Returns the level of a posterior bound in percent: strong, medium, weak or none."""
    return next(level for level, most in levels() if bound <= most)


def bounds_of(survey: Survey) -> tuple[Decimal, Decimal]:
    """Returns the posterior bounds of the least protected answer and of the whole record, in percent."""
    return posterior_bound(max(question.odds for question in survey.questions)), posterior_bound(survey.odds)


def facts_of(survey: Survey, by: Literal["device", "hand"] = "device", spare: tuple[int, int] | None = None) -> Facts:
    """Returns the facts about a survey that conditions refer to. Twin: `factsOf` in `browser/claims.mjs`.

    Args:
        survey: The survey.
        by: The tosser of the coins: the respondent's device, or the respondent's hand.
        spare: The numbers of invitation codes and of expected people, if there are more codes.
    """
    one, record = bounds_of(survey)
    counts = {} if spare is None else {"made": spare[0], "expected": spare[1]}
    return {
        "one": level_of(one),
        "record": level_of(record),
        "weaker": level_of(max(one, record)),
        "of": right_for(max(one, record))[0],
        "by": by,
        "release": survey.release,
        "batch": survey.batch,
        "results": survey.results,
        "groups": len(survey.groups),
        "codes": "yes" if survey.access == "invited" else "no",
        "sample": "no" if survey.ask is None else "yes",
        **counts,
    }


def claims_about(topic: str, facts: Facts = NO_FACTS) -> tuple[Claim, ...]:
    """Returns the claims of a topic that hold. Raises LookupError for a topic that the table does not have."""
    claims = [claim for claim in all_claims() if claim.topic == topic]
    if not claims:
        raise LookupError(f"topic must be one of the table's, got {topic!r}")
    return tuple(claim for claim in claims if claim.holds(facts))


def claim_texts(
    topic: str, facts: Facts = NO_FACTS, translate: Callable[[str], str] = str, write: Callable[[int], str] = "{:,}".format
) -> tuple[str, ...]:
    """Returns the claims of a topic that hold, as texts with their numbers.

    Args:
        topic: The first part of their ids.
        facts: The facts that are known.
        translate: Returns a sentence in the reader's language.
        write: Returns a number as the language writes it.
    """
    values = {name: write(value) if isinstance(value, int) else value for name, value in facts.items()}
    return tuple(translate(claim.text).format(**values) for claim in claims_about(topic, facts))


def claim_text(topic: str, facts: Facts = NO_FACTS) -> str:
    """Returns the same in English, joined; empty if no claim holds."""
    return " ".join(claim_texts(topic, facts))


@dataclass(frozen=True)
class Guesses:
    """For how many of `of` people a guess about them is right at most: without a record, from one answer, and from the whole record.

    A number equals `of` only if more than 100,000 people would be needed to differ.
    """

    of: int
    blind: int
    one: int
    record: int


def guesses(survey: Survey) -> Guesses:
    """Returns the bounds of a survey in numbers of people, with one denominator."""
    one, record = bounds_of(survey)
    of, right = right_for(max(one, record))
    return Guesses(of, of // 2, min(of, math.ceil(one * of / 100)), right)


@dataclass(frozen=True)
class Protection:
    """The box above the button that starts a survey, in English: what respondents read about their protection.

    Attributes:
        level: The level of the weaker of one answer and the whole record.
        name: The level in words.
        promise: The headline of the page.
        advice: The advice of the page.
        crowd: The heading of the numbers of people.
        rows: The numbers of people, each with what a guess is made from.
        notes: When records are shown, among how few, and by group.
    """

    level: str
    name: str
    promise: str
    advice: str
    crowd: str
    rows: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The box as lines of text."""
        numbers = ", ".join(f"{people:,} {label}" for label, people in self.rows)
        return (f"{self.name} {self.promise} {self.advice}", f"{self.crowd} {numbers}.", *self.notes)


def protection_of(survey: Survey) -> Protection:
    """Returns what respondents read about their protection, for the researchers who write the survey."""
    facts, people = facts_of(survey), guesses(survey)
    rows = [("blind", people.blind), ("one", people.one), *([("all", people.record)] if len(survey.questions) > 1 else [])]
    notes = [text for topic in ("release", "floor", "groups", "public", "sample") for text in claim_texts(topic, facts)]
    return Protection(
        level=str(facts["weaker"]),
        name=claim_text("level", facts),
        promise=claim_text("promise", facts),
        advice=claim_text("advice", facts),
        crowd=claim_text("crowd", facts),
        rows=tuple((claim_text(topic), number) for topic, number in rows),
        notes=tuple(notes),
    )
