"""How often do 95% intervals hold the truth where people were not drawn one by one, by default and where the sample is said?

Clinics: how common an answer is varies between clinics, whose log odds are normal about a middle with a standard deviation; the truth is
the mean of all clinics there could be. Strata: 300 of 1,000 people of each of three parts of a finite population, whose own share is the
truth. Weights: half of the clinics are in a region that is a fifth of the population, and answers otherwise; or the other question is one
to which half of the population say yes, and 30 of 100 of those who answer. New clinics, people and coins for each survey; coins are the
real ones' chances. `alone`: without a sample. Of a test, how often it is silent where there is nothing.
Run: python benchmarks/samples.py [--surveys 2000]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.estimate import analyse
from deniable.estimate.limits.interval import Interval
from deniable.estimate.samples.sample import Sample
from deniable.estimate.samples.sampled_reports import SampledReports, together
from deniable.estimate.tables import conditional_share, independence, share_rows
from deniable.estimate.tables.sampled import shares
from deniable.survey import Survey
from deniable.wire.tally import Tally

LN3 = math.log(3)
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)

Found = tuple[bool, bool, float]
"""Whether the default interval holds the truth, whether the sample's does, and how many times wider it is (nan of tests)."""


@dataclass(frozen=True)
class Case:
    """A line. sizes: of the clinics, or groups. middle: of the log odds; spread: their standard deviation."""

    figure: str
    epsilon: float
    sizes: tuple[int, ...]
    middle: float = -1.0
    spread: float = 0.7

    def __str__(self) -> str:
        epsilon = "ln 3" if self.epsilon == LN3 else f"{self.epsilon:g}"
        sizes = f"{len(self.sizes)} of {min(self.sizes)}" + (f" to {max(self.sizes)}" if len(set(self.sizes)) > 1 else "")
        return f"{self.figure} | {epsilon} | {sizes} | {self.middle:g} | {self.spread:g}"


EVEN, MANY, FEW = (100,) * 20, (40,) * 50, (200,) * 8
UNEVEN = tuple(range(20, 220, 10))
CASES = (
    *(Case("share", epsilon, EVEN) for epsilon in (LN3, 2.0, 4.0, 8.0)),
    Case("share", 2.0, EVEN, spread=0.0),
    Case("share", 2.0, EVEN, spread=0.3),
    Case("share", 2.0, EVEN, middle=-3.0),
    Case("share", 8.0, EVEN, middle=-3.0),
    Case("share", 2.0, UNEVEN),
    Case("share", 2.0, MANY),
    Case("share", 2.0, FEW),
    Case("cell", 2.0, EVEN),
    Case("cell", 2.0, UNEVEN),
    Case("share among", 2.0, EVEN),
    Case("difference of two arms", 2.0, EVEN),
    Case("independence", LN3, EVEN),
    Case("independence", 4.0, EVEN),
    Case("strata of known size", 2.0, (300,) * 3),
    Case("strata of known size", 8.0, (300,) * 3),
    Case("weights", 2.0, EVEN, spread=0.3),
    Case("weights by a question", LN3, EVEN, spread=0.0),
    Case("weights by a question", 4.0, EVEN, spread=0.0),
)


class Surveys:
    """Simulated surveys of one case."""

    def __init__(self, case: Case, seed: int) -> None:
        self.case, self._rng = case, np.random.default_rng(seed)
        self.groups = [f"Clinic {number}" for number in range(1, len(case.sizes) + 1)]
        questions = [{"id": name, "text": "?", "type": "yes_no", "epsilon": case.epsilon} for name in ("a", "b")]
        head = {"deniable": 1, "id": "s", "title": "T", "about": "A", "groups": self.groups, "accept_high_epsilon": True}
        self.survey = Survey.from_dict({**head, "questions": questions})
        channel = self.survey.items[0].channel
        self._phi, self._theta = float(channel.phi), float(channel.theta)
        by_kind: dict[str, Callable[[], Found]] = {
            "difference of two arms": self._arms,
            "independence": self._independence,
            "strata of known size": self._strata,
            "weights": self._weights,
            "weights by a question": self._question,
        }
        self.once = by_kind.get(case.figure, self._clinics)

    def _clinics(self) -> Found:
        tallies = self._drawn(self._rates())
        share, cell, clusters = _mean_of(self.case, 1), _mean_of(self.case, 2), Sample(clusters="group")
        if self.case.figure == "share":  # the rows of the results, without all else that these have
            item = self.survey.items[0]
            plain = share_rows(self.survey, together(tallies), [item], Interval())
            return _beside(share, plain[0], shares(SampledReports(self.survey, tallies, clusters), item, Interval())[0])
        alone, drawn = analyse(self.survey, tallies), analyse(self.survey, tallies, sample=clusters)
        tables = [one.crosstab("a", "b") for one in (alone, drawn)]
        if self.case.figure == "cell":
            return _beside(cell, *(table.share({"a": "yes", "b": "yes"}) for table in tables))
        return _beside(cell / share, *(conditional_share(table, {"a": "yes"}, {"b": "yes"}) for table in tables))

    def _arms(self) -> Found:
        tallies, half = self._drawn(self._rates()), len(self.groups) // 2
        found = []
        for sample in (None, Sample(clusters="group")):
            sides = [{group: tallies[group] for group in part} for part in (self.groups[:half], self.groups[half:])]
            first, second = (analyse(self.survey, side, sample=sample) for side in sides)
            found.append(first.compare(second, "a").differences[0])
        return _beside(0.0, *found)

    def _independence(self) -> Found:
        tallies = self._drawn(self._rates(), self._rates())
        samples = (None, Sample(clusters="group"))
        alone, drawn = (independence(analyse(self.survey, tallies, sample=one).crosstab("a", "b")).p_value for one in samples)
        return alone >= 0.05, drawn >= 0.05, math.nan

    def _strata(self) -> Found:
        """The three parts have 10, 30 and 60 yes of 100."""
        yes = [self._rng.hypergeometric(share, 1000 - share, 300) for share in (100, 300, 600)]
        tallies = {group: self._tally(300, count / 300, exact=True) for group, count in zip(self.groups, yes, strict=True)}
        there = dict.fromkeys(self.groups, 1000)
        drawn = analyse(self.survey, tallies, sample=Sample(strata="group", population=there))
        return _beside(1 / 3, analyse(self.survey, tallies).results["a", "yes"], drawn.results["a", "yes"])

    def _weights(self) -> Found:
        half = len(self.groups) // 2
        region = {group: "small" if place < half else "large" for place, group in enumerate(self.groups)}
        rates = self._rates()
        rates[:half] = _odds(np.log(rates[:half] / (1 - rates[:half])) + 1)
        tallies = self._drawn(rates)
        sample = Sample(clusters="group", margins={"region": {"small": 0.2, "large": 0.8}}, attributes={"region": region})
        there = Case("", 1.0, (), self.case.middle + 1, self.case.spread)
        truth = 0.2 * _mean_of(there, 1) + 0.8 * _mean_of(self.case, 1)
        return _beside(truth, *(analyse(self.survey, tallies, sample=one).results["a", "yes"] for one in (None, sample)))

    def _question(self) -> Found:
        """Of b half the population say yes, and of those who answer 30 of 100; of those who say yes to b 60 of 100 do to a, else 20."""
        chances = self._phi + (self._theta - self._phi) * np.array([1.0, 0.0])
        truth = {(0, 0): 0.3 * 0.6, (0, 1): 0.3 * 0.4, (1, 0): 0.7 * 0.2, (1, 1): 0.7 * 0.8}  # (b, a), 0 for yes
        cells = np.zeros((2, 2))
        for (b, a), share in truth.items():
            cells += share * np.outer([chances[a], 1 - chances[a]], [chances[b], 1 - chances[b]])
        tallies = {}
        for group, n in zip(self.groups, self.case.sizes, strict=True):
            both, only_a, only_b, _ = self._rng.multinomial(n, cells.ravel())
            tallies[group] = Tally(n, np.array([[both + only_a, both], [both, both + only_b]]))
        sample = Sample(margins={"b": {"yes": 1, "no": 1}})
        return _beside(0.4, *(analyse(self.survey, tallies, sample=one).results["a", "yes"] for one in (None, sample)))

    def _rates(self) -> NDArray[np.float64]:
        return _odds(self.case.middle + self.case.spread * self._rng.standard_normal(len(self.groups)))

    def _drawn(self, a: NDArray[np.float64], b: NDArray[np.float64] | None = None) -> dict[str, Tally]:
        """Each clinic's reports, whose people say yes to a and to b at its rates, independently; the same rates where b has none."""
        rates = zip(self.groups, self.case.sizes, a, a if b is None else b, strict=True)
        return {group: self._tally(n, one, other) for group, n, one, other in rates}

    def _tally(self, n: int, a: float, b: float = 0.5, exact: bool = False) -> Tally:
        """n reports. exact: so large a part of these very people says yes to a."""
        first, second = (self._phi + (self._theta - self._phi) * share for share in (a, b))
        ones = self._rng.binomial(n, first)
        if exact:
            yes = round(n * a)
            ones = self._rng.binomial(yes, self._theta) + self._rng.binomial(n - yes, self._phi)
        both = self._rng.binomial(ones, second)
        return Tally(n, np.array([[ones, both], [both, both + self._rng.binomial(n - ones, second)]]))


def _odds(logit: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-logit)))


def _mean_of(case: Case, power: int) -> float:
    """The mean of a power of the clinics' rates, over all clinics there could be."""
    return float(_odds(case.middle + case.spread * _NODES) ** power @ _WEIGHTS / _WEIGHTS.sum())


def _beside(truth: float, alone: object, drawn: object) -> Found:
    (low, high), (least, most) = ((float(one.low), float(one.high)) for one in (alone, drawn))  # type: ignore[attr-defined]
    return low <= truth <= high, least <= truth <= most, (most - least) / (high - low)


def measured(case: Case, surveys: int, seed: int = 1) -> tuple[float, float, float]:
    """Of so many surveys, the parts that the default interval and the sample's cover, and the mean of how many times wider that is."""
    made = Surveys(case, seed)
    found = np.array([made.once() for _ in range(surveys)], dtype=np.float64)
    return float(found[:, 0].mean()), float(found[:, 1].mean()), float(found[:, 2].mean())


def line(case: Case, parts: Sequence[float]) -> str:
    """A line of the table."""
    alone, drawn, wider = parts
    return f"| {case} | {100 * alone:.1f} | {100 * drawn:.1f} | {'' if math.isnan(wider) else f'{wider:.2f}'} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--surveys", type=int, default=2000, help="simulated surveys a line")
    surveys = parser.parse_args().surveys
    print("| figure | epsilon | groups | log odds | their sd | alone covers % | sample covers % | times wider |\n" + "|---" * 8 + "|")
    for case in CASES:
        print(line(case, measured(case, surveys)), flush=True)


if __name__ == "__main__":
    main()
