"""Unreachable questions: no answers meet their conditions, so their shares of epsilon are wasted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from deniable.survey.condition import Combination, Condition, ShowIf, SumCondition
from deniable.survey.question import Question, summands

MOST = 2_000  # combinations of answers to try for one question; a question that depends on more is taken to be reachable

Selections = Mapping[str, frozenset[str]]
"""The selected options of each question, empty if it is hidden."""


def unreachable(questions: Sequence[Question]) -> Iterator[str]:
    """Yields a sentence for each unreachable question, by trying all answers to the questions that it depends on."""
    by_id = {question.id: question for question in questions}
    for question in questions:
        if question.show_if and not _is_reachable(question.show_if, by_id):
            yield f"the question {question.id} is never shown: no answers meet its condition, so its share of epsilon is wasted"


def _is_reachable(show_if: ShowIf, by_id: Mapping[str, Question]) -> bool:
    """Returns whether some answers meet a condition, or there are too many answers to try."""
    if not _may_hold(show_if, by_id):
        return False
    options = _relevant_options(show_if, by_id)
    questions = [question for name, question in by_id.items() if name in options]
    sizes = [2 ** len(options[question.id]) if question.labels else 1 + len(options[question.id]) for question in questions]
    if math.prod(sizes) > MOST:
        return True
    answers = itertools.product(*(_answers(question, sorted(options[question.id])) for question in questions))
    return any(_holds(show_if, by_id, _selections(questions, by_id, combination)) for combination in answers)


def _relevant_options(show_if: ShowIf, by_id: Mapping[str, Question]) -> dict[str, set[str]]:
    """Returns the options that a condition depends on, by question, including the conditions of these questions."""
    options: dict[str, set[str]] = {}
    waiting = [show_if]
    while waiting:
        condition = waiting.pop()
        if isinstance(condition, Combination):
            waiting += condition.parts
            continue
        for name in condition.questions:
            earlier = by_id[name].show_if
            if name not in options and earlier:
                waiting.append(earlier)
            options.setdefault(name, set()).update(condition.options or by_id[name].kind.categories)
    return options


def _may_hold(show_if: ShowIf, by_id: Mapping[str, Question]) -> bool:
    """Returns whether the range of each sum in a condition can be reached; too many questions can be in a sum to try all answers."""
    if isinstance(show_if, Combination):
        return (all if show_if.word == "all" else any)(_may_hold(part, by_id) for part in show_if.parts)
    if isinstance(show_if, Condition):
        return True
    parts = [summands(show_if, by_id[name]) for name in show_if.questions]
    at_least, below = show_if.range
    return sum(map(max, parts)) >= at_least and sum(map(min, parts)) < below


def _answers(question: Question, options: Sequence[str]) -> Iterator[frozenset[str]]:
    """Yields the possible answers among these options: at most one option, or any number in a multiple choice."""
    most = len(options) if question.labels else 1
    least = int(question.required and not question.labels and len(options) == question.k)  # these are all answers, and one is required
    for size in range(least, most + 1):
        yield from map(frozenset, itertools.combinations(options, size))


def _selections(questions: Sequence[Question], by_id: Mapping[str, Question], answers: Sequence[frozenset[str]]) -> Selections:
    """Returns the answers by question, without answers to hidden questions."""
    selections: dict[str, frozenset[str]] = {}
    for question, options in zip(questions, answers, strict=True):
        selections[question.id] = options if question.show_if is None or _holds(question.show_if, by_id, selections) else frozenset()
    return selections


def _holds(show_if: ShowIf, by_id: Mapping[str, Question], selections: Selections) -> bool:
    """Returns whether selections meet a condition."""
    if isinstance(show_if, Condition):
        return not selections[show_if.question].isdisjoint(show_if.options)
    if isinstance(show_if, SumCondition):
        at_least, below = show_if.range
        return at_least <= sum(_summand(show_if, by_id[name], selections[name]) for name in show_if.questions) < below
    return (all if show_if.word == "all" else any)(_holds(part, by_id, selections) for part in show_if.parts)


def _summand(condition: SumCondition, question: Question, selection: frozenset[str]) -> float:
    """Returns what a selection adds to a sum."""
    if condition.word == "count":
        return float(not selection.isdisjoint(condition.options))
    return sum(score for option, score in zip(question.categories, question.scores or (), strict=False) if option in selection)
