"""Asking fewer questions: the respondent's device draws which, independently of every answer, and says which it drew."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.device.randomize import Words, choose
from deniable.survey import Survey


def draw(survey: Survey, n: int, words: Words) -> NDArray[np.bool_] | None:
    """Which questions each of n respondents is asked, shape (n, questions); None where everybody is asked everything."""
    if survey.ask is None:
        return None
    drawn = choose(survey.ask, len(survey.blocks), n, words)
    asked = np.zeros((n, len(survey.questions)), dtype=np.bool_)
    for number, block in enumerate(survey.blocks):
        asked[:, list(block)] = drawn[:, [number]]
    return asked
