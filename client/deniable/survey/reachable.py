"""Unreachable questions: no answers meet their conditions, so their shares of epsilon are wasted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from deniable.survey.condition import Condition, ShowIf
from deniable.survey.question import Question

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
    options = _relevant_options(show_if, by_id)
    questions = [question for name, question in by_id.items() if name in options]
    sizes = [2 ** len(options[question.id]) if question.labels else 1 + len(options[question.id]) for question in questions]
    if math.prod(sizes) > MOST:
        return True
    answers = itertools.product(*(_answers(question, sorted(options[question.id])) for question in questions))
    return any(_holds(show_if, _selections(questions, combination)) for combination in answers)


def _relevant_options(show_if: ShowIf, by_id: Mapping[str, Question]) -> dict[str, set[str]]:
    """Returns the options that a condition depends on, by question, including the conditions of these questions."""
    options: dict[str, set[str]] = {}
    waiting = [show_if]
    while waiting:
        for condition in waiting.pop().conditions:
            earlier = by_id[condition.question].show_if
            if condition.question not in options and earlier:
                waiting.append(earlier)
            options.setdefault(condition.question, set()).update(condition.options)
    return options


def _answers(question: Question, options: Sequence[str]) -> Iterator[frozenset[str]]:
    """Yields the possible answers among these options: at most one option, or any number in a multiple choice."""
    most = len(options) if question.labels else 1
    for size in range(most + 1):
        yield from map(frozenset, itertools.combinations(options, size))


def _selections(questions: Sequence[Question], answers: Sequence[frozenset[str]]) -> Selections:
    """Returns the answers by question, without answers to hidden questions."""
    selections: dict[str, frozenset[str]] = {}
    for question, options in zip(questions, answers, strict=True):
        selections[question.id] = options if question.show_if is None or _holds(question.show_if, selections) else frozenset()
    return selections


def _holds(show_if: ShowIf, selections: Selections) -> bool:
    """Returns whether selections meet a condition."""
    if isinstance(show_if, Condition):
        return not selections[show_if.question].isdisjoint(show_if.options)
    return (all if show_if.word == "all" else any)(_holds(part, selections) for part in show_if.parts)
