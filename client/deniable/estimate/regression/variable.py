"""Perturbed variable: the reports, and the channel from a true answer to a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.moments import applicability, counts
from deniable.estimate.moments.design_matrix import checked_matrix
from deniable.estimate.moments.output_values import inverse
from deniable.mechanism import Channel, Window
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.survey.types.base import NO_ANSWER


@dataclass(frozen=True, eq=False)
class PerturbedVariable:
    """One perturbed variable of n respondents.

    Attributes:
        bits: The reported categories of each respondent, all k of them, or the outputs of a `Window`; shape (n, k).
        channel: The `Channel` of the reports, or a matrix P[reported, true] of shape (k, k), or (n, k, k) for one per respondent; then
            exactly one bit is set.
        categories: k labels.
        scores: k numbers, if the variable is a number (for the mean of an outcome, for a slope of a predictor).
        reference: The category that the others are compared with; by default "no" of yes and no, else the first.
        on_grid: Whether the true answers were rounded at random to the categories, as a number's are; it can only be the outcome of a
            linear model.
        missing: The category that is no answer, if there is one: a regression is then of people who gave another one.
        was_asked: Whether each respondent was asked, shape (n,), if devices drew the questions; no bit is set for the others.

    Raises:
        EstimateError: The attributes do not fit each other, or the design reveals nothing (epsilon 0).
    """

    bits: NDArray[np.bool_]
    channel: Channel | FloatArray
    categories: tuple[str, ...]
    scores: tuple[float, ...] | None = None
    reference: str | None = None
    on_grid: bool = False
    missing: str | None = None
    was_asked: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        bits, k = np.asarray(self.bits), len(self.categories)
        wide = self.channel.outputs if isinstance(self.channel, Window) else k
        if bits.ndim != 2 or bits.shape[1] != wide or not np.isin(bits, (0, 1)).all():
            raise EstimateError(f"bits must be 0 or 1 in {wide} columns, one per category, got shape {bits.shape}")
        if len(set(self.categories)) != k or k < 2:
            raise EstimateError("categories must be at least 2 different labels")
        d = self._check_channel(k, len(bits))
        if wrong := int((bits.sum(axis=1) != (d if self.was_asked is None else d * self.was_asked)).sum()):
            raise EstimateError(f"exactly {d} of {wide} bits must be set in every report, which fails in {wrong:,} of {len(bits):,}")
        if self.scores is not None and (len(self.scores) != k or not np.isfinite(self.scores).all()):
            raise EstimateError(f"scores must be {k} numbers, one per category, got {len(self.scores)}")
        if self.missing is not None and (self.missing not in self.categories or k < 3):
            raise EstimateError(f"missing must be one of at least 3 categories ({', '.join(self.categories)}), got {self.missing!r}")
        reference = self.reference or ("no" if set(self.answers) == {"yes", "no"} else self.answers[0])
        if reference not in self.answers:
            raise EstimateError(f"reference must be one of {', '.join(self.answers)}, got {reference!r}")
        object.__setattr__(self, "bits", bits.astype(np.bool_))
        object.__setattr__(self, "reference", reference)

    @classmethod
    def by_design(cls, reported: Sequence[Any] | NDArray[Any], design: Any, categories: Sequence[str], **options: Any) -> PerturbedVariable:
        """Returns a variable collected elsewhere, from each respondent's reported category.

        Args:
            reported: The reported categories.
            design: A `Design`, or a matrix P[reported, true].
            categories: The labels.
            options: `scores` and `reference`.

        Raises:
            EstimateError: A report is no category; it is not quoted.
        """
        labels = [str(category) for category in categories]
        place = {label: i for i, label in enumerate(labels)}
        codes = np.array([place.get(str(report), -1) for report in reported], dtype=np.int64)
        if (unknown := np.flatnonzero(codes < 0)).size:
            raise EstimateError(f"row {unknown[0] + 1}: the report must be one of {', '.join(labels)}")
        bits: NDArray[np.bool_] = codes[:, None] == np.arange(len(labels))
        return cls(bits, np.asarray(getattr(design, "matrix", design)), tuple(labels), **options)

    @property
    def n(self) -> int:
        """Respondents."""
        return len(self.bits)

    @property
    def answers(self) -> tuple[str, ...]:
        """The categories that are answers."""
        return tuple(category for category in self.categories if category != self.missing)

    @property
    def answered(self) -> NDArray[np.intp]:
        """The indexes of the answers among the categories."""
        return np.array([place for place, category in enumerate(self.categories) if category != self.missing], dtype=np.intp)

    @property
    def answer_scores(self) -> FloatArray | None:
        """The scores of the answers, or None."""
        return None if self.scores is None else np.asarray(self.scores, dtype=np.float64)[self.answered]

    def of(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> PerturbedVariable:
        """Returns the same variable of some of the respondents."""
        channel = self.channel
        chosen = channel if isinstance(channel, Channel) or channel.ndim == 2 else channel[rows]
        return replace(self, bits=self.bits[rows], channel=chosen, was_asked=None if self.was_asked is None else self.was_asked[rows])

    def likelihood(self) -> FloatArray:
        """Returns P(report | true category), shape (n, k), with the true categories in the order of `categories`; 1 if not asked."""
        result = self._likelihood()
        return result if self.was_asked is None else np.where(self.was_asked[:, None], result, 1.0)

    def _likelihood(self) -> FloatArray:
        if isinstance(self.channel, Window):
            return np.asarray(np.array(self.channel.chances, dtype=np.float64).T[self.bits.argmax(axis=1)])
        if isinstance(self.channel, Channel):
            theta, k, d = float(self.channel.theta), self.channel.k, self.channel.d
            return np.asarray(np.where(self.bits, theta / math.comb(k - 1, d - 1), (1 - theta) / math.comb(k - 1, d)))
        if self.channel.ndim == 2:
            return np.asarray(self.channel[self.bits.argmax(axis=1)])
        return np.asarray(self.channel[np.arange(self.n), self.bits.argmax(axis=1)])

    def pseudo_answers(self) -> FloatArray:
        """Returns u with E[u | true category] = its indicator, shape (n, k): each report inverted by itself; 0 if not asked."""
        result = self._pseudo_answers()
        return result if self.was_asked is None else np.where(self.was_asked[:, None], result, 0.0)

    def _pseudo_answers(self) -> FloatArray:
        if isinstance(self.channel, Window):
            return np.asarray(inverse(self.channel).T[self.bits.argmax(axis=1)])
        if isinstance(self.channel, Channel):
            theta, phi = float(self.channel.theta), float(self.channel.phi)
            return np.asarray((self.bits - phi) / (theta - phi))
        inverted = np.asarray(np.linalg.inv(self.channel), dtype=np.float64)
        if inverted.ndim == 2:
            return np.asarray(inverted.T[self.bits.argmax(axis=1)])
        return np.asarray(inverted[np.arange(self.n), :, self.bits.argmax(axis=1)])

    def patterns(self) -> NDArray[Any]:
        """Returns one opaque value per respondent, shape (n,), equal where likelihood and pseudo-answer are equal."""
        packed = np.packbits(self.bits, axis=1)
        if not isinstance(self.channel, Channel) and self.channel.ndim == 3:
            packed = np.ascontiguousarray(np.hstack([self.likelihood(), self.pseudo_answers()])).view(np.uint8)
        return np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()

    def _check_channel(self, k: int, n: int) -> int:
        """Returns how many bits are set in a report."""
        if isinstance(self.channel, Channel):
            if self.channel.k != k:
                raise EstimateError(f"channel must have {k} categories, got {self.channel.k}")
            if self.channel.theta <= self.channel.phi:
                raise EstimateError("channel must reveal something: at epsilon 0 the reports say nothing, and there is no estimate")
            return self.channel.d
        matrix = checked_matrix(self.channel, k)
        if matrix.ndim == 3 and len(matrix) != n:
            raise EstimateError(f"channel must have one matrix per respondent, {n:,}, got {len(matrix):,}")
        object.__setattr__(self, "channel", matrix)
        return 1


def perturbed(survey: Survey, bits: NDArray[np.bool_]) -> dict[str, PerturbedVariable]:
    """Returns every question of a survey as a perturbed variable, by its id.

    bits: the reports' stored bits as `unpack` returns them, shape (n, bits). "No answer" to an optional question is missing. If devices
    draw the questions, each is asked of some respondents.
    """
    return {question.id: _of_question(survey, bits, question) for question in survey.items}


def _of_question(survey: Survey, bits: NDArray[np.bool_], question: Question) -> PerturbedVariable:
    was_asked = counts.was_asked(survey, bits, [question.id])
    outputs = np.zeros((len(bits), question.channel.outputs), dtype=np.bool_)
    if was_asked.any() or not len(bits):  # a sample may ask a question of no one, and others can be modelled all the same
        _, (outputs[was_asked],) = counts.bits_of(survey, bits, [question.id])
    missing = NO_ANSWER if NO_ANSWER in question.categories and not question.required else None
    return PerturbedVariable(
        outputs,
        question.channel,
        question.categories,
        on_grid=applicability.on_grid(question),
        missing=missing,
        was_asked=None if was_asked.all() else was_asked,
    )
