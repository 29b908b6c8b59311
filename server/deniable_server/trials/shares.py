"""Shares that a researcher types for the simulated people of a test run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deniable.errors import EstimateError
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable_server.pages.numbers import decimal
from deniable_server.results.simulated import ItemShares

_FIELD = "shares-"


def field_of(question: Question) -> str:
    """Returns the name of a question's field."""
    return _FIELD + question.id


def options_of(question: Question) -> Sequence[str]:
    """Returns the options whose shares are typed, in their order."""
    return question.labels or question.categories


def shares_in(survey: Survey, fields: Mapping[str, str]) -> ItemShares:
    """Returns the typed shares by item; questions with an empty field are left out.

    Raises:
        EstimateError: A field is not a list of as many percentages as there are options, or they do not add to 100.
    """
    shares: dict[str, list[float] | dict[str, float]] = {}
    for question in survey.questions:
        text = fields.get(field_of(question), "").strip()
        if text:
            percentages = _percentages(question, text)
            if question.labels:
                for item, percentage in zip(question.items, percentages, strict=True):
                    shares[item.id] = {"yes": percentage / 100, "no": 1 - percentage / 100}
            else:
                shares[question.id] = [percentage / 100 for percentage in percentages]
    return shares


def _percentages(question: Question, text: str) -> list[float]:
    options = options_of(question)
    try:
        values = [float(decimal(word.removesuffix("%"))) for word in text.replace(";", ",").split(",")]
    except ValueError:
        values = []
    if len(values) != len(options) or not all(0 <= value <= 100 for value in values):
        raise EstimateError(f"the shares of {question.id} must be {len(options)} percentages with commas, in the order of the options")
    if not question.labels and abs(sum(values) - 100) > 0.01:
        raise EstimateError(f"the shares of {question.id} must add to 100, got {sum(values):g}")
    return values if question.labels else [100 * value / sum(values) for value in values]
