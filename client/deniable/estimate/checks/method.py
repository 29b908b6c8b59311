"""Method checks: tests of the possible range of each bit, and the effect of dishonest answers on an estimate.

They prove no honesty: fake reports that look like honest ones cannot be detected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.checks import plausibility
from deniable.estimate.limits.normal import HypothesisTest
from deniable.estimate.moments import applicability, counts, pseudo_answers
from deniable.mechanism import Window
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.tally import Tally


@dataclass(frozen=True)
class RangeCheck:
    """Test of one bit: whether it is set as often as the declared coins can set it, whatever people answer.

    Attributes:
        lowest: The lowest possible rate, phi.
        highest: The highest possible rate, theta.
        rate: The observed rate.
        p_value: The chance that honest coins stray as far beyond the nearer end; 1 inside the range.
        level: The level of the alarm, which keeps false alarms of a whole survey under 1 in 100.
    """

    question: str
    option: str
    n: int
    ones: int
    rate: float
    lowest: float
    highest: float
    p_value: float
    level: float

    @property
    def alarm(self) -> bool:
        """Whether the p-value is below the level."""
        return self.p_value < self.level


@dataclass(frozen=True)
class Shift:
    """Largest move of an estimated share down and up, as positive numbers.

    Attributes:
        liars_down, liars_up: By people who answer what they like, through honest coins.
        fakes_down, fakes_up: By reports made up without coins.
    """

    liars_down: float
    liars_up: float
    fakes_down: float
    fakes_up: float


def check_range(survey: Survey, tally: Tally) -> tuple[RangeCheck, ...]:
    """Tests whether each bit of every question, the implied last ones included, is within its possible range.

    It is a one-sided exact binomial test against the nearer end. The warnings in `estimate` are these alarms.

    Raises:
        EstimateError: There are no reports.
    """
    level = plausibility.level(question.channel.outputs for question in survey.items)
    checks = []
    for question in survey.items:
        _, n, ones = counts.counts(survey, tally, question.id)
        for (option, phi, theta), count in zip(_bits(question), ones.tolist(), strict=True):
            chance = _chance_beyond(count, n, phi, theta)
            checks.append(RangeCheck(question.id, option, n, count, count / n, phi, theta, chance, level))
    return tuple(checks)


def _bits(question: Question) -> Iterator[tuple[str, float, float]]:
    """Yields each bit of a report: its name, and the least and the greatest chance that it is set, over all answers."""
    channel = question.channel
    if not isinstance(channel, Window):
        yield from ((option, float(channel.phi), float(channel.theta)) for option in question.categories)
        return
    for name, chances in zip(question.recorded, zip(*channel.chances, strict=True), strict=True):
        yield name, float(min(chances)), float(max(chances))


def known_prevalence(survey: Survey, tally: Tally, question: str, option: str, truth: float) -> HypothesisTest:
    """Tests whether an option with a known true share comes out at that share.

    A share of 0 or 1 ("I have been to the moon") is about the respondents, another one about the population that they are a sample of.
    The test is exact binomial and two-sided: twice the smaller tail. Its statistic is the squared distance in standard errors. A small
    p-value means that coins, answers or sample are not as assumed.

    Raises:
        EstimateError: The question is a number on a grid, or there are no reports.
    """
    applicability.require_of("comparison with a known share", survey, (question,))
    item, n, ones = counts.counts(survey, tally, question)
    applicability.require_shares("comparison with a known share", item)
    category = counts.option_index(item, option)
    share = _fraction("truth", truth)
    count = int(ones[category])
    rate = float(item.channel.phi) + share * float(item.channel.theta - item.channel.phi)
    tails = float(scipy.special.bdtr(count, n, rate)), float(scipy.special.bdtrc(count - 1, n, rate)) if count else 1.0
    statistic = (count - n * rate) ** 2 / (n * rate * (1 - rate))
    what = f"the share of {item.id} = {option} is {share:g}"
    return HypothesisTest(what, statistic, 1, min(1.0, 2 * min(tails)), reference="the exact binomial distribution")


def worst_case_shift(question: Question, fraction: float, share: float | None = None) -> Shift:
    """Returns the largest move of the estimated share of an option if `fraction` of all reports replace honest ones.

    A liar's pseudo-answer is on average any value from 0 to 1; a fake report's is (1 - phi) / (theta - phi) with the option's bit set,
    -phi / (theta - phi) without. `share` is the option's honest share, or None for the worst case.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    part = _fraction("fraction", fraction)
    lowest, highest = (0.0, 1.0) if share is None else (_fraction("share", share),) * 2
    applicability.require_shares("shift of a share", question)
    phi, gap = float(question.channel.phi), float(question.channel.theta - question.channel.phi)
    return Shift(
        liars_down=part * highest,
        liars_up=part * (1 - lowest),
        fakes_down=part * (highest + phi / gap),
        fakes_up=part * ((1 - phi) / gap - lowest),
    )


def worst_case_shift_of_mean(question: Question, fraction: float, scores: NDArray[np.floating], honest: float) -> Shift:
    """Returns the largest move of the mean of scores, one number a category, from its honest value `honest`.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    part, values = _fraction("fraction", fraction), np.sort(np.asarray(scores, dtype=np.float64))
    if values.shape != (question.k,) or not np.isfinite(values).all():
        raise EstimateError(f"scores must be {question.k} finite numbers for question {question.id}, one a category, got {scores!r}")
    of_bits = np.sort(pseudo_answers.score_of_bits(np.asarray(scores, dtype=np.float64), question.channel))
    least, most = float(of_bits[: question.d].sum()), float(of_bits[-question.d :].sum())
    return Shift(part * (honest - values[0]), part * (values[-1] - honest), part * (honest - least), part * (most - honest))


def _chance_beyond(ones: int, n: int, phi: float, theta: float) -> float:
    """Returns the chance that a bit strays from [phi, theta] at least as far as it did, at the nearer end; 1 inside."""
    if phi <= ones / n <= theta:
        return 1.0
    return float(scipy.special.bdtr(ones, n, phi) if ones / n < phi else scipy.special.bdtrc(ones - 1, n, theta))


def _fraction(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value <= 1:
        raise EstimateError(f"{name} must be from 0 to 1, got {value!r}")
    return float(value)
