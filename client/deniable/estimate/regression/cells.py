"""Missing data: the latent cells of the likelihood, which are combinations of answers, and of "no answer" to some question.

A model is of people who answered all of its questions. If a question need not be answered, or is only shown to some, "no answer" is
one of its categories, and the people who gave it are latent, too. So the latent cells are the combinations of answers to the predictors,
with an answer to the outcome that follows the model; and every combination with "no answer" somewhere, together with the outcome, without a
model: their shares are a part of the nuisance pi. People without an answer are not assumed to be like the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.regression.layout import MAX_COMBINATIONS
from deniable.estimate.regression.variable import PerturbedVariable


class Cells(NamedTuple):
    """Latent cells.

    Attributes:
        a: P(reports | cell) of the predictors, and of the outcome if the cell has it, shape (R, S).
        b: P(outcome's report | y), shape (R, S or 1, K); 1 if the cell has the outcome.
        complete: The number of cells, the first ones, that are combinations of answers.
    """

    a: FloatArray
    b: FloatArray
    complete: int

    def padded(self, x: FloatArray) -> FloatArray:
        """Returns the terms, shape (R, complete, p), with 0 for the other cells, where the outcome follows no model."""
        return np.pad(x, ((0, 0), (0, self.a.shape[1] - self.complete), (0, 0)))


def product(factors: Sequence[FloatArray], rows: int) -> FloatArray:
    """Returns the product for each row, and each combination of one column of every factor, shape (R, combinations)."""
    result = np.ones((rows, 1))
    for factor in factors:
        result = (result[:, :, None] * factor[:, None, :]).reshape(rows, -1)
    return result


def latent_cells(predictors: Sequence[PerturbedVariable], outcome: PerturbedVariable, order: Sequence[int]) -> Cells:
    """Returns the cells of R kinds of respondent.

    order: the outcome's categories in the family's order. Raises EstimateError for too many.
    """
    factors, b = [variable.likelihood() for variable in predictors], outcome.likelihood()
    modelled = b[:, list(order)]
    complete = product([factor[:, one.answered] for factor, one in zip(factors, predictors, strict=True)], outcome.n)
    if outcome.missing is None and all(variable.missing is None for variable in predictors):
        return Cells(complete, modelled[:, None, :], complete.shape[1])
    partial = _partial([[category == one.missing for category in one.categories] for one in predictors])
    silent = [list(range(len(outcome.categories)))] * int(partial.sum())
    unanswered = [outcome.categories.index(outcome.missing)] if outcome.missing is not None else []
    if (size := complete.shape[1] * (1 + len(unanswered)) + sum(map(len, silent))) > MAX_COMBINATIONS:
        raise EstimateError(
            f"there must be at most {MAX_COMBINATIONS:,} combinations of answers, those with no answer among them, got {size:,}"
        )
    incomplete = product(factors, outcome.n)[:, partial]
    others = [complete * b[:, [place]] for place in unanswered] + [product([incomplete, b], outcome.n)]
    a = np.concatenate([complete, *others], axis=1)
    present = np.broadcast_to(modelled[:, None, :], (*complete.shape, modelled.shape[1]))
    rest = np.ones((len(a), a.shape[1] - complete.shape[1], modelled.shape[1]))
    return Cells(a, np.concatenate([present, rest], axis=1), complete.shape[1])


def _partial(missing: Sequence[Sequence[bool]]) -> NDArray[np.bool_]:
    """Returns which combinations of categories have one that is missing."""
    return np.array([any(chosen) for chosen in itertools.product(*missing)], dtype=np.bool_)
