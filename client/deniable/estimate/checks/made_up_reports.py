"""Detection of made-up reports that repeat the same answers: a test of the pairs of bits, and its limits.

A made-up report has no coins in it: a program that sends yes to all questions sends the same bits every time. Honest reports cannot agree
so much, since each question has coins of its own. This module bounds how much they can agree, for any answers; their true
answers may be associated in any way.

Let z be a report's bits, for each question b - d/k, scaled so that |z_q|^2 = k - 1. Given a person's answers the z_q are independent with
means m_q and covariances C_q, so that E[zz'] = blockdiag(C_q) + mm'. With g = theta - phi and rho = d (k - d) / k,

    |m_q|^2 = S_q = g^2 (1 - 1/k) (k - 1) / rho,
    C_q has the eigenvalue lambda - S_q along the answer's category, and (k - 1 - lambda) / (k - 2) elsewhere,
    lambda = [theta (1 - d/k)^2 + (1 - theta) (d/k)^2] (k - 1) / (rho (1 - 1/k)),

whatever the answer is. So no eigenvalue of E[zz'] is above mu = max |C_q| + sum S_q, for any person. Where the coins hide much, mu is
hardly above 1, whereas a share w of made-up reports with the same bits adds w |z|^2 = w sum (k_q - 1) along them: 0.05 x 20 for twenty
yes/no questions.

*Any pattern.* The largest eigenvalue of the mean of zz' over n reports is at least (1 + t) mu with a chance of at most M exp(-(n mu / R)
((1 + t) ln(1 + t) - t)), M the dimension and R = |z|^2: the matrix Chernoff bound (J. Tropp, "User-friendly tail bounds for sums of random
matrices", Found. Comput. Math. 12 (2012), theorem 1.1). It needs independent coins and nothing else.

*The first, or the last, option everywhere.* Over that option's bits T = sum (b_q - d/k) is a sum of bits that are independent given the
answers, with |E T| <= m = sum (theta - d/k), so it is sub-Gaussian with s^2 = (number of questions) / 4 (Hoeffding). Then E exp(a T^2) <=
(1 - 2 a s^2)^(-1/2) exp(a m^2 / (1 - 2 a s^2)), and the best a bounds the chance of the mean of T^2. This needs fewer reports.

Each test has an equal part of the level of 0.01. If devices draw the questions, m, s and R are of the largest draw, and mu is
multiplied by the part of the blocks that is drawn. A question that hides little would drown the others, so those that hide most are
tested, as many as make the smallest share of made-up reports show. That choice depends on the survey and on n, never on the reports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimate.arrays import FloatArray
from deniable.estimate.checks.method import worst_case_shift, worst_case_shift_of_mean
from deniable.estimate.limits.roots import root
from deniable.estimate.present.figures import p_value, percent
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.mechanism import Channel, Window
from deniable.survey import Survey
from deniable.survey.layout import Field
from deniable.survey.question import Question
from deniable.wire.tally import Tally

if TYPE_CHECKING:
    from scipy.sparse import csr_array


LEVEL = 0.01
STATED = 0.01  # the part of the reports that the summary states the effect of
_DENSE = 256  # up to this size the eigenvalues are found without iteration
_CACHED = 512  # most bits of a record whose result is cached: the counts are a megabyte then
_MOST = 0.5  # who would need more than this has no test
_SURE = 2.33  # standard errors that 99 of 100 surveys keep to


@dataclass(frozen=True)
class MadeUp(Tabular):
    """Result of the test for made-up reports.

    Attributes:
        p_value: An upper bound on the chance that honest reports agree as much.
        alarm: Whether it is below 0.01.
        shows_from: The smallest share of all reports, 0 to 1, at which made-up ones that repeat the same answers are detected; None if half
            would not be.
        question: The question whose share 1% made-up reports of the worst kind move farthest.
        shift: How far they move it (0.01 is one percentage point).
        words: A summary of the above.
    """

    p_value: float
    alarm: bool
    shows_from: float | None
    question: str
    shift: float
    words: str

    def tables(self) -> tuple[Table, ...]:
        """Returns one row, with its meaning in words."""
        shows = "none would show" if self.shows_from is None else percent(self.shows_from)
        row = (p_value(self.p_value), "yes" if self.alarm else "no", shows, self.question, f"{100 * self.shift:.2g} points")
        head = ("p-value at most", "alarm", "shows from", "moved farthest", f"by {percent(STATED)}")
        return (Table("Reports that repeat the same answers", head, (row,), (self.words,), texts=0),)

    def records(self) -> tuple[Table, ...]:
        """Returns one row with the fields."""
        return (Table("made_up", tuple(field.name for field in fields(self)), (astuple(self),)),)


def made_up(survey: Survey, tally: Tally) -> MadeUp | None:
    """Tests a survey's reports for made-up ones that repeat the same answers; returns None without reports.

    Of surveys with honest reports only, fewer than 1 in 100 raise the alarm.
    """
    if not tally.n:
        return None
    if survey.record.bits > _CACHED:
        return _tested(survey, tally)
    return _tested_once(survey.definition, tally.n, tally.to_bytes())


@lru_cache(maxsize=16)  # results are often read again, and this takes the most time
def _tested_once(definition: bytes, n: int, pairs: bytes) -> MadeUp:
    survey = Survey.from_definition(definition)
    return _tested(survey, Tally.from_bytes(n, survey.record.bits, pairs))


def _tested(survey: Survey, tally: Tally) -> MadeUp:
    design = _best(survey, tally.n)
    reports = _Reports(survey, tally, design.places)
    ends = [0] if all(place.item.channel.outputs == 2 for place in design.places) else [0, -1]  # of yes and no, one is the other inverted
    chances = [design.chance_of_eigenvalue(reports.largest_eigenvalue), *(design.chance_of_option(reports.agreement(end)) for end in ends)]
    p_value = min(1.0, len(chances) * min(chances))
    shows_from = design.shows_from
    present = shows_from if shows_from < _MOST else None
    question, shift = _farthest_move(survey)
    shares = any(item.shared == item.categories for item in survey.items)
    words = _in_words(p_value < LEVEL, present, (question, shift), shares)
    return MadeUp(p_value, p_value < LEVEL, present, question, shift, words)


@dataclass(frozen=True)
class _Moments:
    """One question's share in the bounds: |z|^2, S and |C| as above, and the least eigenvalue of C."""

    size: float
    mean: float
    most: float
    least: float

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, channel: Channel) -> _Moments:
        if isinstance(channel, Window):
            return cls._of_window(channel)
        k, d, theta, phi = channel.k, channel.d, float(channel.theta), float(channel.phi)
        middle, rho = d / k, d * (k - d) / k
        mean = (theta - phi) ** 2 * (1 - 1 / k) * (k - 1) / rho
        own = (theta * (1 - middle) ** 2 + (1 - theta) * middle**2) * (k - 1) / (rho * (1 - 1 / k))
        values = [own - mean, *([(k - 1 - own) / (k - 2)] if k > 2 else [])]
        return cls(k - 1, mean, max(values), min(values))

    @classmethod
    def _of_window(cls, channel: Window) -> _Moments:
        """Returns the extremes over the categories.

        A number between two levels is at one of them given its rounding, so it has no others.
        """
        outputs = channel.outputs
        scale = outputs  # (outputs - 1) / rho, where rho = (outputs - 1) / outputs
        means, values = [], []
        for row in np.array(channel.chances, dtype=np.float64):
            means.append(scale * float(((row - 1 / outputs) ** 2).sum()))
            values.append(scale * np.linalg.eigvalsh(np.diag(row) - np.outer(row, row))[1:])  # the first is 0, along the sum of all bits
        return cls(outputs - 1, max(means), float(np.max(values)), float(np.min(values)))


@dataclass(frozen=True)
class _Design:
    """Tested questions, with the bounds for n reports to them.

    Attributes:
        part_asked: The part of the blocks that each person is asked.
    """

    places: tuple[Field, ...]
    n: int
    part_asked: float
    longest: float
    """R."""
    strength: float
    """The growth of the eigenvalue by made-up reports with the same answers, as a multiple of their share of the reports."""
    mu: float
    least: float
    """An eigenvalue that honest reports have at least in every direction."""
    option_mean: float
    option_square: float
    """m and s^2."""

    @property
    def dimension(self) -> int:
        return sum(place.item.channel.outputs - 1 for place in self.places)

    def chance_of_eigenvalue(self, observed: float) -> float:
        """Returns a bound on the p-value of the largest eigenvalue, for honest reports."""
        over = observed / self.mu
        if over <= 1:
            return 1.0
        return min(1.0, self.dimension * math.exp(-self.n * self.mu / self.longest * (over * math.log(over) - over + 1)))

    def chance_of_option(self, observed: float) -> float:
        """Returns a bound on the p-value of the mean of T^2, for honest reports."""
        square, mean = self.option_square, self.option_mean**2
        if observed <= square + mean:
            return 1.0
        u = (square + math.sqrt(square**2 + 4 * observed * mean)) / (2 * observed)  # 1 - 2 a s^2 of the best a
        return math.exp(self.n * (-(1 - u) / (2 * square) * (observed - mean / u) - math.log(u) / 2))

    @cached_property
    def shows_from(self) -> float:
        """The share of made-up reports with the same answers that the eigenvalue detects in 99 of 100 surveys; 1 or more if none."""
        room = self.strength - self.least
        if room <= 0:
            return math.inf
        top = root(lambda log: self._log_chance(math.exp(log)) - math.log(LEVEL / 3), 0.0, 50.0)
        noise = _SURE * math.sqrt(2 / (self.n * self.part_asked)) * self.least
        return max(1 / self.n, (self.mu / self.part_asked * math.exp(top) - self.least + noise) / room)

    def _log_chance(self, over: float) -> float:
        return math.log(self.dimension) - self.n * self.mu / self.longest * (over * math.log(over) - over + 1)


def _best(survey: Survey, n: int) -> _Design:
    """Returns the questions that hide most: as many as make the detected share smallest."""
    places = sorted(survey.record.fields, key=lambda place: place.item.channel.epsilon)
    designs = (_design(survey, tuple(places[:size]), n) for size in _sizes(len(places)))
    return min(designs, key=lambda design: design.shows_from)


def _sizes(questions: int) -> list[int]:
    """Returns the numbers of questions to try: all numbers up to a dozen, then steps of a tenth."""
    return sorted({*range(1, min(12, questions) + 1), *(math.ceil(questions * part / 10) for part in range(1, 11))})


def _design(survey: Survey, places: tuple[Field, ...], n: int) -> _Design:
    channels = [place.item.channel for place in places]
    sampled = 1.0 if survey.ask is None else survey.ask / len(survey.blocks)
    moments = [_Moments.of(channel) for channel in channels]
    sizes = _by_block(survey, places, [one.size for one in moments])

    def largest(values: Sequence[float]) -> float:
        """Returns the largest sum over the questions that one person can be asked."""
        return math.fsum(sorted(_by_block(survey, places, values))[-(survey.ask or len(survey.blocks)) :])

    return _Design(
        places,
        n,
        sampled,
        longest=largest([one.size for one in moments]),
        strength=_strength(survey, sizes),
        mu=sampled * (max(one.most for one in moments) + sum(one.mean for one in moments)),
        least=min(one.least for one in moments),
        option_mean=largest(list(map(_strays, channels))),
        option_square=largest([0.25] * len(channels)),
    )


def _by_block(survey: Survey, places: Sequence[Field], values: Sequence[float]) -> list[float]:
    """Returns the sums of values, one a question, over each block of questions that are drawn together; one sum if all are asked."""
    if survey.ask is None:
        return [math.fsum(values)]
    of_question: dict[int | None, float] = {}
    for place, value in zip(places, values, strict=True):
        of_question[place.mask] = of_question.get(place.mask, 0.0) + value
    return [math.fsum(of_question.get(number, 0.0) for number in block) for block in survey.blocks]


def _strength(survey: Survey, sizes: Sequence[float]) -> float:
    """Returns the mean of |z|^4 / |z without a draw|^2 over the draws, as a multiple of the chance to be drawn; |z|^2 if all are asked."""
    total, squares = math.fsum(sizes), math.fsum(size**2 for size in sizes)
    both = 1.0 if survey.ask is None or len(sizes) == 1 else (survey.ask - 1) / (len(sizes) - 1)
    return (squares + both * (total**2 - squares)) / total


class _Reports:
    """Second moments of the z of some questions, from a tally: z is linear in the stored bits and in whether a question was asked."""

    def __init__(self, survey: Survey, tally: Tally, places: Sequence[Field]) -> None:
        self._n, self._places = tally.n, places
        stored = np.zeros((survey.record.bits + 1,) * 2)
        stored[:-1, :-1] = tally.pairs
        stored[-1, :-1] = stored[:-1, -1] = tally.ones
        stored[-1, -1] = tally.n
        self._stored: FloatArray = stored
        self._bits = self._full_bits(len(stored))

    def _full_bits(self, width: int) -> csr_array:
        """Returns the matrix that makes b - d/k of all k bits out of the stored ones; a last column is 1, if all are asked.

        Of k = 2 bits one is the other inverted: the first represents both, with its length corrected in `_scales`.
        """
        from scipy.sparse import csr_array

        entries: list[tuple[int, int, float]] = []
        start = 0
        for place in self._places:
            k, d, item = place.item.channel.outputs, place.item.d, width - 1 if place.mask is None else place.mask
            for i, column in enumerate(range(place.bits.start, place.bits.stop)):
                entries += [(start + i, column, 1.0), (start + i, item, -d / k)]
                entries += [(start + k - 1, column, -1.0)] if k > 2 else []
            entries += [(start + k - 1, item, d - d / k)] if k > 2 else []
            start += _rows(k)
        rows, columns, values = zip(*entries, strict=True)
        return csr_array((values, (rows, columns)), shape=(start, width))

    def agreement(self, end: int) -> float:
        """Returns the mean of T^2 over the first (0) or the last (-1) options."""
        sizes = np.array([place.item.channel.outputs for place in self._places])
        starts = np.cumsum([0, *map(_rows, sizes.tolist())])
        chosen = starts[:-1] if end == 0 else starts[1:] - 1
        signs = np.where((sizes == 2) & (end == -1), -1.0, 1.0)
        along = signs @ self._bits[chosen]
        return float(along @ self._stored @ along) / self._n

    @property
    def largest_eigenvalue(self) -> float:
        scales = np.concatenate([_scales(one) for one in self._channels])
        moments = np.asarray(self._bits @ self._stored @ self._bits.T) * np.outer(scales, scales) / self._n
        last = len(moments) - 1
        if last < _DENSE:
            from scipy.linalg import eigh

            return float(eigh(moments, eigvals_only=True, subset_by_index=[last, last])[0])
        from scipy.sparse.linalg import eigsh

        start = np.cos(np.arange(last + 1.0))  # any fixed vector that is no pattern of bits
        return float(eigsh(moments, k=1, which="LA", v0=start, return_eigenvectors=False)[0])

    @property
    def _channels(self) -> list[Channel]:
        return [place.item.channel for place in self._places]


def _strays(channel: Channel) -> float:
    """Returns how far the chance of the first or the last bit can be from d / k, for any answer."""
    if not isinstance(channel, Window):
        return float(channel.theta) - channel.d / channel.k
    return float(max(abs(row[end] - Fraction(1, channel.outputs)) for row in channel.chances for end in (0, -1)))


def _rows(k: int) -> int:
    return k if k > 2 else 1


def _scales(channel: Channel) -> FloatArray:
    """Returns the factors that make z of the rows of one question: |z|^2 = k - 1."""
    k, d = channel.outputs, channel.d
    return np.full(_rows(k), math.sqrt((k - 1) * k / (d * (k - d)) * (k / _rows(k))))


def _farthest_move(survey: Survey) -> tuple[str, float]:
    """Returns the question whose share 1% made-up reports can move farthest, and the distance."""
    shifts = ((item.id, worst_case_shift(item, STATED)) for item in survey.items if item.shared == item.categories)
    of_shares = [(name, max(shift.fakes_up, shift.fakes_down)) for name, shift in shifts]
    return max(of_shares or map(_mean_move, survey.items), key=lambda one: one[1])


def _mean_move(item: Question) -> tuple[str, float]:
    """Returns the distance that made-up reports can move the mean of a number, as a part of its range."""
    scores = np.array([*(item.scores or ()), *[0.0] * (item.k - len(item.scores or ()))])
    scores[: len(item.scores or ())] = np.linspace(0, 1, len(item.scores or ()))
    shift = worst_case_shift_of_mean(item, STATED, scores, 0.5)
    return item.id, 0.5 * STATED + max(shift.fakes_up, shift.fakes_down)


def _in_words(alarm: bool, shows_from: float | None, moved_most: tuple[str, float], shares: bool) -> str:
    question, shift = moved_most
    if alarm:
        return (
            "Some reports are made up, or a client is faulty: more of them repeat the same answers than honest coins allow, whatever "
            "people answer. Of honest surveys, fewer than 1 in 100 look like this. The estimates cannot be relied on."
        )
    figure = "a share" if shares else "the mean of a number, as a part of its range,"
    moved = f"move {figure} by up to {100 * shift:.2g} percentage points ({question})"
    if shows_from is None:
        return f"Made-up reports cannot be distinguished from honest ones in this survey. Each 1% of them can {moved}."
    return (
        f"No sign of made-up reports that repeat the same answers; from {100 * shows_from:.2g}% of all reports on, they would show. "
        f"Fewer, or ones that vary, cannot be distinguished from honest ones; each 1% of them can {moved}."
    )
