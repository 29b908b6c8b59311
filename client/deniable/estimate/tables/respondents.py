"""Finite-population variance: the randomness of the respondents besides the coins, by drawn questions and by rounding to a grid."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits.interval import Interval
from deniable.estimate.moments.applicability import on_grid
from deniable.estimate.moments.pseudo_answers import possible
from deniable.survey.question import Question


def about(interval: Interval, everybody: int, questions: Iterable[Question]) -> Interval:
    """Returns the interval of a share of these questions' categories, in a survey that this many people answered.

    The share of a level counts people between two levels in part for each; the choice is random, all of it as far as the intervals know.
    """
    return replace(interval, everybody=everybody, rounding=float(any(on_grid(question) for question in questions)))


def about_mean(interval: Interval, everybody: int, question: Question, scores: FloatArray, shares: FloatArray) -> Interval:
    """Returns the interval of a mean. scores: one a category, nan for categories left out. shares: as estimated.

    Between two levels a step apart a number t of the way up is rounded with the variance t (1 - t) step^2, at most a quarter of step^2.
    """
    result = about(interval, everybody, ())
    if not on_grid(question):
        return result
    counted = ~np.isnan(scores)
    weights, values = possible(shares)[counted], scores[counted]
    centre = weights @ values / max(float(weights.sum()), 1e-300)
    spread, most = float(weights @ (values - centre) ** 2), float(weights.sum() * (values[1] - values[0]) ** 2 / 4)
    return replace(result, rounding=1.0 if spread <= most else most / spread)
