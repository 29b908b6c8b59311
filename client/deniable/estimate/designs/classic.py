"""Classic randomized response designs done by hand, each as the probabilities of a report given the true answer.

A `Design` asks for yes or no and is two numbers, q0 = P(reported yes | true no) and q1 = P(reported yes | true yes). A
`CategoryDesign` has k categories and a matrix P[i, j] = P(report i | true j). docs/reference/designs.md says how each is carried out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.moments.design_matrix import checked_matrix

YES_NO = ("yes", "no")


@dataclass(frozen=True)
class Design:
    """A yes/no design.

    Attributes:
        name: The name of the design, for people.
        q0: P(reported yes | true no).
        q1: P(reported yes | true yes); it may be below q0, but not equal, since then reports show nothing.

    Raises:
        EstimateError: An attribute breaks its rule.
    """

    name: str
    q0: float
    q1: float

    def __post_init__(self) -> None:
        q0, q1 = probability("q0", self.q0), probability("q1", self.q1)
        if q0 == q1:
            raise EstimateError(
                f"{self.name}: q0 must differ from q1, got {q0:g} for both: "
                "a yes is as likely under either answer, so the reports say nothing"
            )
        object.__setattr__(self, "q0", q0)
        object.__setattr__(self, "q1", q1)

    @property
    def matrix(self) -> FloatArray:
        """P[reported, true], shape (2, 2), for the categories yes, no."""
        return np.array([[self.q1, self.q0], [1 - self.q1, 1 - self.q0]])

    @property
    def epsilon(self) -> float:
        """The privacy loss of a report; infinite if some report rules a true answer out."""
        return epsilon(self.matrix)


@dataclass(frozen=True, eq=False)
class CategoryDesign:
    """A design with k categories.

    Attributes:
        name: The name of the design, for people.
        categories: The labels.
        matrix: P[reported, true], shape (k, k), its columns adding to 1.

    Raises:
        EstimateError: An attribute breaks its rule.
    """

    name: str
    categories: tuple[str, ...]
    matrix: FloatArray

    def __post_init__(self) -> None:
        if len(set(self.categories)) != len(self.categories):
            raise EstimateError("the categories must be different labels")
        object.__setattr__(self, "matrix", checked_matrix(self.matrix, len(self.categories)))

    @property
    def epsilon(self) -> float:
        """The privacy loss of a report; infinite if some report rules a true answer out."""
        return epsilon(self.matrix)


def warner(p: float) -> Design:
    """Returns Warner's design: "I am one" is judged true or false with probability p, else "I am not one".

    S. Warner, J. Am. Stat. Assoc. 60 (1965).
    """
    return Design(f"warner (p {_digits(p)})", 1 - probability("p", p), p)


def forced_response(forced_yes: float, forced_no: float) -> Design:
    """Returns the forced response design: the device orders "yes" or "no" with these probabilities; else the answer is true.

    R. Boruch, Am. Sociologist 6 (1971).
    """
    yes, no = probability("forced_yes", forced_yes), probability("forced_no", forced_no)
    if yes + no >= 1:
        raise EstimateError(f"forced_yes and forced_no must add to less than 1, got {yes + no:g}: no answer would be a true one")
    return Design(f"forced response (yes {_digits(yes)}, no {_digits(no)})", yes, 1 - no)


def unrelated_question(p: float, prevalence: float) -> Design:
    """Returns the unrelated question design: the sensitive question with probability p, else a harmless one with a known share of yes.

    B. Greenberg et al., JASA 64 (1969).
    """
    p, prevalence = probability("p", p), probability("prevalence", prevalence)
    return Design(f"unrelated question (p {_digits(p)}, prevalence {_digits(prevalence)})", (1 - p) * prevalence, p + (1 - p) * prevalence)


def crosswise(prevalence: float) -> Design:
    """Returns the crosswise design: whether the answers to the sensitive question and to a harmless one are the same (reported yes).

    The harmless one is yes with this prevalence. J.-W. Yu, G.-L. Tian and M.-L. Tang, Metrika 67 (2008).
    """
    return Design(f"crosswise (prevalence {_digits(prevalence)})", 1 - probability("prevalence", prevalence), prevalence)


def triangular(prevalence: float) -> Design:
    """Returns the triangular design: whether at least one of the sensitive question and a harmless one is yes.

    The harmless one is yes with this prevalence. A report of no denies both, so only a yes is protected. J.-W. Yu, G.-L. Tian and M.-L.
    Tang, Metrika 67 (2008).
    """
    return Design(f"triangular (prevalence {_digits(prevalence)})", probability("prevalence", prevalence), 1.0)


def kuk(p_yes: float, p_no: float) -> Design:
    """Returns Kuk's design: a card's colour, red (yes) with p_yes in the deck for true yes, with p_no in the other.

    A. Kuk, Biometrika 77 (1990).
    """
    return Design(f"kuk (yes {_digits(p_yes)}, no {_digits(p_no)})", p_no, p_yes)


def mangat(p: float) -> Design:
    """Returns Mangat's design: true yes reports yes; true no uses Warner's device, and reports no with probability p.

    N. Mangat, J. R. Stat. Soc. B 56 (1994).
    """
    return Design(f"mangat (p {_digits(p)})", 1 - probability("p", p), 1.0)


def forced_categories(categories: Sequence[str], forced: Sequence[float]) -> CategoryDesign:
    """Returns a forced response design of k categories: the device orders category i with probability forced[i]; else the answer is true.

    It is k-ary randomized response if all are equal.
    """
    ordered = np.array([probability("forced", share) for share in forced])
    if len(ordered) != len(categories):
        raise EstimateError(f"forced must have a probability for each of {len(categories)} categories, got {len(ordered)}")
    if ordered.sum() >= 1:
        raise EstimateError(f"the probabilities in forced must add to less than 1, got {ordered.sum():g}: no answer would be a true one")
    matrix = ordered[:, None] + (1 - ordered.sum()) * np.eye(len(ordered))
    return CategoryDesign(f"forced response ({', '.join(map(_digits, ordered))})", tuple(map(str, categories)), matrix)


def matrix_design(categories: Sequence[str], matrix: Any) -> CategoryDesign:
    """Returns any design, with matrix[i][j] = P(report i | true j).

    Raises:
        EstimateError: The matrix cannot be inverted; the message has its condition number.
    """
    return CategoryDesign("matrix", tuple(map(str, categories)), matrix)


def epsilon(matrix: FloatArray) -> float:
    """Returns the largest log ratio of the chances of one report under two true answers."""
    likely = matrix[matrix.max(axis=1) > 0]
    return math.log(max((likely.max(axis=1) / likely.min(axis=1)).tolist())) if likely.min() > 0 else math.inf


def probability(name: str, value: Any) -> float:
    """Returns the value as a float. Raises EstimateError unless it is a number from 0 to 1."""
    if isinstance(value, bool | str) or not isinstance(value, int | float | Fraction | np.number) or not 0 <= float(value) <= 1:
        raise EstimateError(f"{name} must be a probability from 0 to 1, got {value!r}")
    return float(value)


def _digits(value: float) -> str:
    return f"{float(value):.4g}"
