"""Sums of pseudo-answers to one or two questions, group by group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits.interval import Interval
from deniable.estimate.moments import applicability, counts, pseudo_answers
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.wire.tally import Tally

MAX_CELLS = 1 << 10


@dataclass(frozen=True)
class Totals:
    """Counts and sums of one or two questions.

    Attributes:
        channels: The channel of each question.
        n: Reports that were asked all of them, shape (G,).
        everybody: All reports of the group.
        sums: Sums of pseudo-answers, shape (G, cells), cells in row-major order.
        together: Reports with all bits of a cell set, in all groups, one axis a question.
        rounding: The part of the answers' variance that may be rounding to a grid.
    """

    channels: tuple[Channel, ...]
    n: FloatArray
    everybody: FloatArray
    sums: FloatArray
    together: NDArray[np.int64]
    rounding: float

    @classmethod
    def of(cls, survey: Survey, tallies: Sequence[Tally], names: Sequence[str], rounding: float | None = None) -> Totals:
        """Returns the totals of these questions. rounding: the part of the variance by rounding, if known to be below 1.

        Raises:
            EstimateError: No report was asked them all, or the table has too many cells.
        """
        questions = [counts.find(survey, name)[0] for name in names]
        channels = tuple(question.channel for question in questions)
        cells = math.prod(channel.k for channel in channels)
        if cells > MAX_CELLS:
            raise EstimateError(f"sample: a table must have at most {MAX_CELLS:,} cells, got {cells:,}")
        result = [_counted(survey, tally, names) for tally in tallies]
        n = np.array([float(n) for n, _ in result])
        if not n.any():
            raise EstimateError(f"there must be at least 1 report to {' and '.join(names)}, got 0: without reports there is no estimate")
        sums = [n * pseudo_answers.invert(together / n, channels).ravel() if n else np.zeros(cells) for n, together in result]
        most = float(any(map(applicability.on_grid, questions)))
        everybody = np.array([float(tally.n) for tally in tallies])
        together = np.sum([together for _, together in result], axis=0)
        return cls(channels, n, everybody, np.array(sums), together, most if rounding is None else rounding)

    def moments(self, group: int) -> FloatArray:
        """Returns the second moments of one report's pseudo-answers, shape (cells, cells)."""
        shares = self._shares(group)
        result: FloatArray = pseudo_answers.products(shares, self.channels).reshape(shares.size, shares.size)
        return result

    def coins(self, group: int) -> FloatArray:
        """Returns the covariance of a known respondent's pseudo-answers: by coins, rounding, and the draw of the questions; same shape."""
        about = Interval(target="respondents", everybody=int(self.everybody[group]), rounding=self.rounding)
        shares, part = self._shares(group), about.sampling(int(self.n[group]))
        alone = pseudo_answers.covariance(shares, self.channels, 0.0)
        return pseudo_answers.at_least(alone, pseudo_answers.covariance(shares, self.channels, part)) if part else alone

    def _shares(self, group: int) -> FloatArray:
        shares: FloatArray = self.sums[group] / self.n[group]
        return shares.reshape([channel.k for channel in self.channels])


def _counted(survey: Survey, tally: Tally, names: Sequence[str]) -> tuple[int, NDArray[np.int64]]:
    """Returns the reports that were asked the questions, and how many have all bits of a cell set; zeros if none was asked."""
    places = [counts.place_of(survey, name) for name in names]
    masks = [place.mask for place in places if place.mask is not None]
    if not tally.n or (masks and not tally.pairs[masks[0], masks[-1]]):
        return 0, np.zeros([place.item.channel.outputs for place in places], dtype=np.int64)
    if len(names) == 1:
        return counts.counts(survey, tally, names[0])[1:]
    return counts.pair_counts(survey, tally, *names)[1:]
