"""Encoding of a question's answers as categories 0 .. k-1, one by one or column by column."""

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
from deniable.survey.types.base import NO_ANSWER, Answer

_INVALID = object()
MISSING = object()
"""Placeholder for a missing answer."""


@sealed
def encode(question: Encodable, answer: Answer, words: Words | None = None) -> int:
    """Returns the category, 0 .. k-1, of an answer.

    Args:
        question: The question.
        answer: The answer.
        words: Source of random words; rounding a number to a level of its grid draws one. Other types, and bins, need no source.

    Raises:
        AnswerError: The answer has no category. The message names only the question and its rule.
    """
    position = _position(question, answer)
    if position is None:
        raise AnswerError(f"{question.id}: the answer must be {allowed(question)}")
    return int(round_stochastically(question, np.array([position]), words)[0])


def is_option_chosen(answer: Answer, label: str, labels: Set[str]) -> Answer:
    """Returns one item's part of a multiple choice's answer: True, False, None without an answer, or an invalid value."""
    if isinstance(answer, list | tuple | set | frozenset | np.ndarray):
        options = list(answer)
        return label in options if all(isinstance(option, str) and option in labels for option in options) else _INVALID
    return None if answer is None or _is_blank(answer) else _INVALID


@sealed
def encode_column(question: Encodable, answers: Iterable[Answer], words: Words | None = None) -> NDArray[np.int64]:
    """Returns the categories of many respondents' answers to one question, shape (n,); -1 for invalid ones."""
    return round_stochastically(question, positions(question, answers), words)


def positions(question: Encodable, answers: Iterable[Answer]) -> NDArray[np.float64]:
    """Returns the positions of many answers among the categories, shape (n,); -1 for invalid ones. Each distinct answer is encoded once."""
    answers = list(answers)

    def position_of(answer: Answer) -> float:
        position = _position(question, None if answer is MISSING and not question.required else answer)
        return -1 if position is None else position

    cached = lru_cache(None, typed=True)(position_of)  # 1, 1.0 and True are equal but may be different answers
    try:
        return np.fromiter(map(cached, answers), dtype=np.float64, count=len(answers))
    except TypeError:  # an unhashable answer, such as a list
        return np.fromiter(map(position_of, answers), dtype=np.float64, count=len(answers))


def round_stochastically(question: Encodable, fractional: NDArray[np.float64], words: Words | None) -> NDArray[np.int64]:
    """Returns the categories at positions: between two, the upper one if and only if a word is below 2^32 times the fraction."""
    lower = np.floor(fractional).astype(np.int64)
    if not question.kind.rounds:
        return lower
    if words is None:
        raise TypeError(f"{question.id}: a number needs words, to be rounded to a level of its grid")
    up: NDArray[np.bool_] = words(len(fractional)) < np.floor((fractional - lower) * WORD)
    return lower + up


def _position(question: Encodable, answer: Answer) -> float | None:
    """Returns an answer's position. If the question is not required, a blank answer has one too: the last category."""
    if not question.required and (answer is None or _is_blank(answer)):
        return len(question.categories) - 1
    return question.kind.position(answer)


def _is_blank(answer: Answer) -> bool:
    if isinstance(answer, str):
        return answer.strip() in ("", NO_ANSWER)
    if isinstance(answer, float | np.floating):
        return math.isnan(answer)
    pandas = sys.modules.get("pandas")  # loaded if the answer is its NA
    return pandas is not None and answer is pandas.NA
