"""Unreachable questions: no answers meet their conditions, so their parts of epsilon are wasted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from deniable.survey.condition import Condition, ShowIf
from deniable.survey.question import Question

MOST = 2_000  # ways to answer that are tried for one question: of one that depends on more, nothing is said

Chosen = Mapping[str, frozenset[str]]
"""The chosen options of each question, none if it is hidden."""


def never_shown(questions: Sequence[Question]) -> Iterator[str]:
    """Yields a sentence for each question that is never shown, by trying every way to answer those it depends on."""
    by_id = {question.id: question for question in questions}
    for question in questions:
        if question.show_if and not _can_be_shown(question.show_if, by_id):
            yield f"nobody is ever shown the question {question.id}: no answers meet its condition, and its part of epsilon tells nothing"


def _can_be_shown(show_if: ShowIf, by_id: Mapping[str, Question]) -> bool:
    named = _named(show_if, by_id)
    needed = [question for name, question in by_id.items() if name in named]
    sizes = [2 ** len(named[question.id]) if question.labels else 1 + len(named[question.id]) for question in needed]
    if math.prod(sizes) > MOST:
        return True
    ways = itertools.product(*(_ways(question, sorted(named[question.id])) for question in needed))
    return any(_holds(show_if, _answered(needed, way)) for way in ways)


def _named(show_if: ShowIf, by_id: Mapping[str, Question]) -> dict[str, set[str]]:
    """Returns the options that a condition names, by question, including the conditions of these questions."""
    named: dict[str, set[str]] = {}
    waiting = [show_if]
    while waiting:
        for one in waiting.pop().conditions:
            earlier = by_id[one.question].show_if
            if one.question not in named and earlier:
                waiting.append(earlier)
            named.setdefault(one.question, set()).update(one.options)
    return named


def _ways(question: Question, options: Sequence[str]) -> Iterator[frozenset[str]]:
    """Yields the possible choices among these options: one at most, or any number of a multiple choice's."""
    most = len(options) if question.labels else 1
    for size in range(most + 1):
        yield from map(frozenset, itertools.combinations(options, size))


def _answered(needed: Sequence[Question], way: Sequence[frozenset[str]]) -> Chosen:
    chosen: dict[str, frozenset[str]] = {}
    for question, options in zip(needed, way, strict=True):
        chosen[question.id] = options if question.show_if is None or _holds(question.show_if, chosen) else frozenset()
    return chosen


def _holds(show_if: ShowIf, chosen: Chosen) -> bool:
    if isinstance(show_if, Condition):
        return not chosen[show_if.question].isdisjoint(show_if.options)
    return (all if show_if.word == "all" else any)(_holds(part, chosen) for part in show_if.parts)
