"""Sampling of questions: the respondent's device draws which questions to ask, independently of every answer, and reports them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.device.randomize import Words, choose
from deniable.survey import Survey


def draw(survey: Survey, n: int, words: Words) -> NDArray[np.bool_] | None:
    """Returns which questions each of n respondents is asked, shape (n, questions); None if everyone is asked everything."""
    if survey.ask is None:
        return None
    blocks = choose(survey.ask, len(survey.blocks), n, words)
    questions = np.zeros((n, len(survey.questions)), dtype=np.bool_)
    for number, block in enumerate(survey.blocks):
        questions[:, list(block)] = blocks[:, [number]]
    return questions
