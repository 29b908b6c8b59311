"""A question's answers become categories 0 .. k-1, one by one or column by column."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Set
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.device.randomize import Words
from deniable.device.sealed import sealed
from deniable.errors import AnswerError
from deniable.mechanism import WORD
from deniable.survey.rules import Encodable, allowed
from deniable.survey.types import TYPES
from deniable.survey.types.base import NO_ANSWER, Answer

_NOT_AN_ANSWER = object()
MISSING = object()
"""In place of an answer that is not there at all."""


@sealed
def encode(question: Encodable, answer: Answer, words: Words | None = None) -> int:
    """The category, 0 .. k-1, that an answer means. Raises AnswerError, which names the question and its rule only.

    words: one is taken for a number, to round it to a level of its grid; other types, and bins, need none.
    """
    place = _position(question, answer)
    if place is None:
        raise AnswerError(f"{question.id}: the answer must be {allowed(question)}")
    return int(round_stochastically(question, np.array([place]), words)[0])


def chosen(answer: Answer, label: str, labels: Set[str]) -> Answer:
    """What a multiple choice's answer says of one of its items: yes, no, nothing where nothing was answered, or what no item allows."""
    if isinstance(answer, list | tuple | set | frozenset | np.ndarray):
        options = list(answer)
        return label in options if all(isinstance(option, str) and option in labels for option in options) else _NOT_AN_ANSWER
    return None if answer is None or _blank(answer) else _NOT_AN_ANSWER


@sealed
def encode_column(question: Encodable, answers: Iterable[Answer], words: Words | None = None) -> NDArray[np.int64]:
    """The categories of many respondents' answers to one question, shape (n,); -1 where an answer means none."""
    return round_stochastically(question, positions(question, answers), words)


def positions(question: Encodable, answers: Iterable[Answer]) -> NDArray[np.float64]:
    """Where many answers stand among the categories, shape (n,); -1 for those that stand nowhere. Each different one is looked at once."""
    answers = list(answers)

    def place(answer: Answer) -> float:
        found = _position(question, None if answer is MISSING and not question.required else answer)
        return -1 if found is None else found

    once = lru_cache(None, typed=True)(place)  # 1, 1.0 and True are equal and may mean different things
    try:
        return np.fromiter(map(once, answers), dtype=np.float64, count=len(answers))
    except TypeError:  # what cannot be looked up, such as a list
        return np.fromiter(map(place, answers), dtype=np.float64, count=len(answers))


def round_stochastically(question: Encodable, places: NDArray[np.float64], words: Words | None) -> NDArray[np.int64]:
    """Places become categories: what stands between two is the upper one if, and only if, a word is below 2^32 times its distance."""
    lower = np.floor(places).astype(np.int64)
    if not TYPES[question.type].rounds(question.settings):
        return lower
    if words is None:
        raise TypeError(f"{question.id}: a number needs words, to be rounded to a level of its grid")
    up: NDArray[np.bool_] = words(len(places)) < np.floor((places - lower) * WORD)
    return lower + up


def _position(question: Encodable, answer: Answer) -> float | None:
    """Where a question is not required, nothing at all is an answer too: the last category."""
    kind, categories = TYPES[question.type], question.categories
    if question.required:
        return kind.position(question.settings, categories, answer)
    if answer is None or _blank(answer):
        return len(categories) - 1
    return kind.position(question.settings, categories[:-1], answer)


def _blank(answer: Answer) -> bool:
    if isinstance(answer, str):
        return answer.strip() in ("", NO_ANSWER)
    if isinstance(answer, float | np.floating):
        return math.isnan(answer)
    pandas = sys.modules.get("pandas")  # who has its NA has loaded it
    return pandas is not None and answer is pandas.NA
