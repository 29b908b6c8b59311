"""Kinds of answers and random orders in words, for documents and pages."""

from __future__ import annotations

from deniable.survey.question import Question
from deniable.survey.survey import Survey
from deniable.survey.types import TYPES


def kind_in_words(question: Question) -> str:
    """Returns the kind of answer: the title of the type, or how many of several options a person may select."""
    if question.limits is None:
        return TYPES[question.type].title
    least, most = question.limits
    number = f"up to {most:,}" if not least else f"{most:,}" if least == most else f"{least:,} to {most:,}"
    return f"{number} of several options{', or one that excludes all others' if question.exclusive else ''}"


def orders_in_words(survey: Survey) -> str:
    """Returns a sentence on what comes in a random order; empty if nothing does."""
    parts = {
        "sections": survey.section_order,
        "questions": survey.order,
        "items of rating blocks": any(question.grid and question.grid.order for question in survey.questions),
        "options": any(question.kind.drawn_order for question in survey.questions),
    }
    names = [name for name, is_drawn in parts.items() if is_drawn]
    if not names:
        return ""
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return f"Each device draws the order of {listed} at random, and does not report it."
