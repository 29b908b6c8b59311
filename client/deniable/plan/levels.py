"""Protection levels: the most precise survey at a level of protection, and precision against the number of respondents.

The table of claims defines the levels, and respondents read them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from deniable.errors import SurveyError
from deniable.plan.arguments import check_count
from deniable.plan.proposals import ASKS, WEIGHTS, least_precise, rough_half_width, widest
from deniable.privacy.claims import bounds_of, level_of, levels
from deniable.survey import Survey
from deniable.survey.piping import without_answers

_GAIN = 0.9  # the part of the half-width, at most, that a smaller number of questions for each person must leave
_WEIGHT_GAIN = 0.97  # likewise for a weight
_MOST_WEIGHTS = 6  # steps of weights


@dataclass(frozen=True)
class LevelProposal:
    """A survey changed to a level of protection.

    Attributes:
        level: The level: strong, medium or weak.
        epsilon: The privacy budget as a survey file writes it.
        ask: The number of blocks of questions for each person, or None for all.
        weights: The text and the new weight of each question whose weight changes.
        half_width: The half-width of the least precise question.
        document: The changed document.
        survey: Its survey.
    """

    level: str
    epsilon: str
    ask: int | None
    weights: tuple[tuple[str, str], ...]
    half_width: float
    document: dict[str, Any]
    survey: Survey


@dataclass(frozen=True)
class PrecisionCurve:
    """Half-widths of the least precise question, for numbers of respondents."""

    level: str
    points: tuple[tuple[int, float], ...]


def proposed_levels() -> tuple[str, ...]:
    """Returns the levels that can be proposed, the strongest first. The last one, next to no protection, is not among them."""
    return tuple(name for name, most in levels() if most < 100)


def level_of_survey(survey: Survey) -> str:
    """Returns the level of protection that respondents read."""
    return level_of(max(bounds_of(survey)))


def propose_level(document: Mapping[str, Any], level: str, n: int, least: int = 1) -> LevelProposal:
    """Returns the most precise survey at a level, for n respondents: its epsilon, `ask` and weights. Texts and order stay.

    Args:
        document: A valid document.
        level: One of `proposed_levels`.
        n: Respondents.
        least: The fewest blocks of questions for each person; 2 keeps associations between questions estimable.

    Raises:
        EstimateError: n is not a whole number from 1.
        LookupError: There is no such level.
    """
    n = check_count("n", n)
    bound = next((most for name, most in levels() if name == level and most < 100), None)
    if bound is None:
        raise LookupError(f"level must be one of {', '.join(proposed_levels())}, got {level!r}")
    whole = _at_epsilon(document, level, bound)
    changed = _weighted(_best_sample(whole, n, least), n)
    survey = Survey.from_dict(changed)
    weights = tuple(
        (without_answers(str(new["text"])), str(new["weight"]))
        for old, new in zip(whole["questions"], changed["questions"], strict=True)
        if old.get("weight") != new.get("weight")
    )
    return LevelProposal(level, changed["epsilon"], survey.ask, weights, widest(survey, n), changed, survey)


def precision_curve(survey: Survey, level: str, sizes: Sequence[int]) -> PrecisionCurve:
    """Returns the half-widths of a survey's least precise question for these numbers of respondents."""
    return PrecisionCurve(level, tuple((n, widest(survey, n)) for n in sizes))


def _at_epsilon(document: Mapping[str, Any], level: str, bound: int) -> dict[str, Any]:
    """Returns the document at the largest epsilon of a level, with every question for each person."""
    questions = [{key: value for key, value in question.items() if key != "epsilon"} for question in document["questions"]]
    changed = {key: value for key, value in document.items() if key != "ask"} | {"questions": questions}
    odds = Decimal(bound) / (100 - bound)
    exact = f"ln {odds.normalize():f}"
    rounded = f"{math.floor(1000 * math.log(odds)) / 1000:g}"  # where thresholds, which are whole numbers, exceed the level
    whole = {**changed, "epsilon": exact}
    return whole if _keeps(whole, level) else {**changed, "epsilon": rounded}


def _keeps(document: Mapping[str, Any], level: str) -> bool:
    names = [name for name, _ in levels()]
    return names.index(level_of_survey(Survey.from_dict(document))) <= names.index(level)


def _best_sample(document: dict[str, Any], n: int, least: int) -> dict[str, Any]:
    """Returns the document with the number of questions for each person that makes it most precise; all, unless a sample gains much."""
    survey = Survey.from_dict(document)
    samples = [{**document, "ask": str(ask)} for ask in ASKS if least <= ask < len(survey.blocks)]
    widths = [rough_half_width(Survey.from_dict(sample), n) for sample in samples]
    if widths and min(widths) <= _GAIN * rough_half_width(survey, n):
        return samples[len(widths) - 1 - widths[::-1].index(min(widths))]  # of equals, the one with the most questions
    return document


def _weighted(document: dict[str, Any], n: int) -> dict[str, Any]:
    """Returns the document with more weight for its least precise questions, as long as that gains."""
    for _ in range(_MOST_WEIGHTS):
        survey = Survey.from_dict(document)
        if len(survey.questions) < 2:
            break
        index, now, better = least_precise(survey, n), rough_half_width(survey, n), None
        for times in WEIGHTS:
            questions = [dict(question) for question in document["questions"]]
            questions[index]["weight"] = f"{float(questions[index].get('weight', 1)) * times:g}"
            changed = {**document, "questions": questions}
            try:
                width = rough_half_width(Survey.from_dict(changed), n)
            except SurveyError:
                continue  # a weight beyond its limit
            if width <= _WEIGHT_GAIN * now:
                better, now = changed, width
        if better is None:
            break
        document = better
    return document
