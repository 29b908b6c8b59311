"""Rows of a plan by rating block: one row for all items of a block, whose figures are equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeVar

from deniable.plan import Plan
from deniable.plan.proposals import Outlook
from deniable.plan.result import QuestionPlan
from deniable.survey import Survey

PlanRow = TypeVar("PlanRow", QuestionPlan, Outlook)


def plan_by_block(plan: Plan, survey: Survey) -> Plan:
    """Returns a plan with one row for each rating block."""
    parts = list(_parts(survey, plan.rows))
    coins = {row.question: coin for row, coin in zip(plan.rows, plan.coins, strict=True)}
    return replace(plan, rows=tuple(row for row, _ in parts), coins=tuple(coins[first] for _, first in parts))


def by_block(survey: Survey, rows: Sequence[PlanRow]) -> tuple[PlanRow, ...]:
    """Returns one row for each rating block, named after it: `mood (4 items)`. Other rows stay, and so do items with unequal figures."""
    return tuple(row for row, _ in _parts(survey, rows))


def block_texts(survey: Survey) -> dict[str, str]:
    """Returns the text of each question by its id, and of each rating block by the name of its row."""
    texts = {question.id: question.text for question in survey.questions}
    for block, questions in groupby(survey.questions, lambda question: question.grid and question.grid.id):
        items = list(questions)
        if block and items[0].grid:
            texts[_name(block, len(items))] = _name(items[0].grid.text, len(items))
    return texts


def _parts(survey: Survey, rows: Sequence[PlanRow]) -> Iterator[tuple[PlanRow, str]]:
    """Yields each row with the id of its first question."""
    blocks = {question.id: question.grid.id for question in survey.questions if question.grid}
    for block, group in groupby(rows, lambda row: blocks.get(row.question)):
        items = list(group)
        if block and len({replace(row, question="") for row in items}) == 1:
            yield replace(items[0], question=_name(block, len(items))), items[0].question
        else:
            yield from ((row, row.question) for row in items)


def _name(block: str, count: int) -> str:
    return f"{block} ({count} items)"
