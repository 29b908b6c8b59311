"""Simulated reports of one group of people, drawn as counts of each possible report, which equals tossing every coin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from deniable.mechanism import Channel, Window
from deniable.survey import Survey
from deniable.wire.tally import Tally

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_BEYOND = 1e-10  # counts that are rarer than this, on either side, are left out of an enumeration


class Source:
    """The possible reports of a survey, as stored bits, shape (reports, bits), and their chances for each kind of person.

    chances: shape (kinds, reports). shares: of the kinds, adding to 1.
    """

    def __init__(self, survey: Survey, shares: Floats, kinds: Floats | None = None) -> None:
        """Takes the shares of all cells, one axis a question; or of kinds of people, with the chances of each cell in `kinds`."""
        self.survey = survey
        every = [reports(item.channel) for item in survey.items]
        indices = np.indices([len(bits) for bits, _ in every]).reshape(len(every), -1)
        self.bits = np.hstack([bits[index][:, :-1] for (bits, _), index in zip(every, indices, strict=True)])
        cells = reduce(np.kron, [chances for _, chances in every])
        self.shares = np.asarray(shares, dtype=np.float64).ravel()
        self.chances = cells if kinds is None else kinds @ cells

    def draw(self, n: int, surveys: int, rng: np.random.Generator, fixed: bool) -> Counts:
        """Draws how many of n people send each report, shape (surveys, reports). fixed: the same people in every survey."""
        if not fixed:
            mixed = self.shares @ self.chances
            return np.asarray(rng.multinomial(n, mixed / mixed.sum(), surveys))
        people = zip(whole(n, self.shares), self.chances, strict=True)
        return np.sum([rng.multinomial(some, row / row.sum(), surveys) for some, row in people if some], axis=0)

    def of_one_bit(self, n: int, fixed: bool) -> tuple[Counts, Floats]:
        """Returns all likely counts of the first of two reports, and their chances."""
        if fixed:
            parts = [_binomial(some, row[0]) for some, row in zip(whole(n, self.shares), self.chances, strict=True)]
            chances = reduce(np.convolve, parts)
        else:
            chances = _binomial(n, float((self.shares @ self.chances)[0]))
        likely = np.flatnonzero(chances > _BEYOND)
        return likely, chances[likely]


@dataclass(frozen=True)
class Reports:
    """The reports of one survey from one source: the number of each possible report."""

    source: Source
    counts: Counts

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def tally(self) -> Tally:
        bits = self.source.bits.astype(np.int64)
        return Tally(self.n, (bits.T * self.counts) @ bits)

    @property
    def bits(self) -> NDArray[np.bool_]:
        """The reports themselves, equal ones together."""
        return np.repeat(self.source.bits, self.counts, axis=0).astype(bool)


def reports(channel: Channel) -> tuple[Counts, Floats]:
    """Returns all reports of a question as bits, shape (reports, outputs), and P(report | category), shape (k, reports)."""
    if isinstance(channel, Window):
        return np.eye(channel.outputs, dtype=np.int64), np.array(channel.chances, dtype=np.float64)
    k, d, theta = channel.k, channel.d, float(channel.theta)
    bits = np.array([[i in chosen for i in range(k)] for chosen in combinations(range(k), d)], dtype=np.int64)
    return bits, np.where(bits.T, theta / math.comb(k - 1, d - 1), (1 - theta) / math.comb(k - 1, d))


def whole(n: int, shares: Floats) -> list[int]:
    """Returns how many of n people are of each kind: whole numbers nearest to the shares, adding to n."""
    ends = np.rint(n * np.cumsum(shares)).astype(int)
    return [int(end) for end in np.diff(np.concatenate([[0], ends]))]


def survey_of(questions: Sequence[dict[str, object]], epsilon: float, **settings: object) -> Survey:
    """Returns a survey of these questions, named a, b, c .., each with this epsilon."""
    head = {"deniable": 1, "id": "s", "title": "T", "about": "A", "accept_high_epsilon": True, **settings}
    every = [{"id": name, "text": "?", "epsilon": epsilon, **one} for name, one in zip("abcdef", questions, strict=False)]
    return Survey.from_dict({**head, "questions": every})


def _binomial(n: int, rate: float) -> Floats:
    from scipy.stats import binom

    return np.asarray(binom.pmf(np.arange(n + 1), n, rate))
