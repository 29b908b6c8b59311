"""Applicability of each estimate to each kind of question. All others are refused, with the reason.

A number on a grid is rounded at random to one of two levels before it is randomized. This keeps its mean right, and the mean of its product
with another answer. Nonlinear figures (a quantile, a square, a category of its own) would describe the rounded numbers instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.mechanism import Window
from deniable.survey import Survey
from deniable.survey.question import Question

# Whether a figure holds of numbers on a grid. Of categories, named bins among them, all do.
_OF_NUMBERS: dict[str, bool] = {
    "share": True,
    "mean": True,
    "difference": True,
    "cross table": True,
    "test of independence": True,
    "comparison with a known share": False,
    "quantile": False,
    "phi": False,
    "Cramér's V": False,
    "odds ratio": False,
    "correlation": False,
    "conditional share": False,
    "linear regression of a number": True,
    "logit of a number": False,
    "slope on a number": False,
}

LEVELS_NOTE = (
    "each answer was rounded at random to a level of the grid: the mean is right, but this is not the share of the people at this number; "
    "named bins give such shares"
)


def on_grid(question: Question) -> bool:
    """Returns whether a question is a number that is rounded at random to a level of its grid. Named bins are categories."""
    return question.rounds


def require_shares(figure: str, question: Question, option: str | None = None, instead: str = "") -> None:
    """Requires a question whose categories have shares.

    Args:
        figure: The name of the figure, for the message.
        question: The question.
        option: The only category that the figure uses, if any.
        instead: The figure that is available for the mean.

    Raises:
        EstimateError: The question is a number whose reports hold its mean only.
    """
    if isinstance(question.channel, Window) and (option is None or option not in question.shared):
        raise EstimateError(
            f"{figure}: not for {question.id}, a number whose reports hold its mean only; {instead}a survey can "
            "name `bins` or `levels`, whose shares are estimated like a choice's"
        )


def require(figure: str, numbers: Collection[str]) -> None:
    """Requires a figure that holds for numbers on a grid, if there are any.

    Raises:
        EstimateError: The figure does not hold for them; the message has the reason.
    """
    if numbers and not _OF_NUMBERS[figure]:
        raise EstimateError(
            f"{figure}: not for {' and '.join(numbers)}, whose answers are rounded at random to a grid: it would "
            "describe the rounded numbers; its mean is right, and a number with named bins, or a scale, can be analysed like any choice"
        )


def require_of(figure: str, survey: Survey, names: Iterable[str]) -> None:
    """Requires a figure that holds for these items of a survey, as `require` does."""
    ids = set(names)
    require(figure, [item.id for item in survey.items if item.id in ids and on_grid(item)])


def require_linear(question: Question, scores: FloatArray) -> None:
    """Requires evenly spaced scores, as `require_even` does, if the question is a number on a grid; nan: left out."""
    if on_grid(question):
        require_even(question.id, scores[: len(question.scores or ())])


def require_even(name: str, levels: FloatArray) -> None:
    """Requires that the scores of a number's levels (nan: left out) rise by the same amount with each step, as the numbers do.

    Raises:
        EstimateError: The scores are not evenly spaced.
    """
    straight = np.linspace(levels[0], levels[-1], len(levels))
    if not np.allclose(levels, straight, rtol=0, atol=1e-9 * max(1.0, float(np.abs(levels).max()))):
        raise EstimateError(
            f"scores must be evenly spaced over the levels of {name}, none left out: its answers are rounded at random to a grid, "
            "which keeps the mean of the numbers right, and of nothing that bends them"
        )
