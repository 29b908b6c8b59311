"""Coverage of intervals where people were not drawn one by one: the default beside the interval of a described sample.

Clinics: the log odds of an answer are normal about a middle, with a standard deviation between clinics; the truth is the mean of all
clinics. Strata: 300 of 1,000 people in each of three parts of a finite population, whose share is the truth. Weights: half of the clinics
are in a region that is a fifth of the population, and answers differently; or half of the population say yes to the other question, and 30
of 100 of those who answer. Each survey has new clinics, people and coins. `alone`: without a sample. Of a test: how often it is silent
under the null. benchmarks/atlas/clusters.py measures samples of clusters in more cells, without the default beside them.
Run: make bench NAME=samples ARGS="--surveys 2000"
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.atlas.clusters import Clinics, mean_rate
from benchmarks.atlas.source import Counts, Reports, Source

from deniable.estimate import analyse
from deniable.estimate.limits.interval import Interval
from deniable.estimate.samples.sample import Sample
from deniable.estimate.samples.sampled_reports import SampledReports, together
from deniable.estimate.tables import conditional_share, independence, share_rows
from deniable.estimate.tables.sampled import shares
from deniable.wire.tally import Tally

LN3 = math.log(3)

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
        self.case, self._rng, self._half = case, np.random.default_rng(seed), len(case.sizes) // 2
        middle = np.full(len(case.sizes), case.middle)
        if case.figure == "weights":
            middle[: self._half] += 1
        self.clinics = Clinics(case.epsilon, case.sizes, middle, case.spread, apart=case.figure == "independence")
        self.survey, self.groups = self.clinics.survey, self.clinics.names
        by_figure: dict[str, Callable[[], Found]] = {
            "difference of two arms": self._arms,
            "independence": self._independence,
            "strata of known size": self._strata,
            "weights": self._weights,
            "weights by a question": self._question,
        }
        self.once = by_figure.get(case.figure, self._share_or_cell)

    def _share_or_cell(self) -> Found:
        tallies, clusters = self._drawn(), Sample(clusters="group")
        share, cell = (mean_rate(self.case.middle, self.case.spread, power) for power in (1, 2))
        if self.case.figure == "share":  # the rows of the results alone, which is faster than all results
            item = self.survey.items[0]
            plain = share_rows(self.survey, together(tallies), [item], Interval())
            return _beside(share, plain[0], shares(SampledReports(self.survey, tallies, clusters), item, Interval())[0])
        tables = [analyse(self.survey, tallies, sample=sample).crosstab("a", "b") for sample in (None, clusters)]
        if self.case.figure == "cell":
            return _beside(cell, *(table.share({"a": "yes", "b": "yes"}) for table in tables))
        return _beside(cell / share, *(conditional_share(table, {"a": "yes"}, {"b": "yes"}) for table in tables))

    def _arms(self) -> Found:
        tallies, differences = self._drawn(), []
        arms = [{group: tallies[group] for group in part} for part in (self.groups[: self._half], self.groups[self._half :])]
        for sample in (None, Sample(clusters="group")):
            first, second = (analyse(self.survey, arm, sample=sample) for arm in arms)
            differences.append(first.compare(second, "a").differences[0])
        return _beside(0.0, *differences)

    def _independence(self) -> Found:
        tallies = self._drawn()
        samples = (None, Sample(clusters="group"))
        alone, drawn = (independence(analyse(self.survey, tallies, sample=one).crosstab("a", "b")).p_value for one in samples)
        return alone >= 0.05, drawn >= 0.05, math.nan

    def _strata(self) -> Found:
        """The three parts have 10, 30 and 60 yes of 100."""
        tallies = {}
        for group, share in zip(self.groups, (100, 300, 600), strict=True):
            yes = self._rng.hypergeometric(share, 1000 - share, 300) / 300
            stratum = Source(self.survey, np.outer([yes, 1 - yes], [0.5, 0.5]))
            tallies[group] = Reports(stratum, stratum.draw(300, 1, self._rng, fixed=True)[0]).tally
        sample = Sample(strata="group", population=dict.fromkeys(self.groups, 1000))
        return self._results(1 / 3, tallies, sample)

    def _weights(self) -> Found:
        region = {group: "small" if index < self._half else "large" for index, group in enumerate(self.groups)}
        sample = Sample(clusters="group", margins={"region": {"small": 0.2, "large": 0.8}}, attributes={"region": region})
        small, large = (mean_rate(middle, self.case.spread, 1) for middle in (self.case.middle + 1, self.case.middle))
        return self._results(0.2 * small + 0.8 * large, self._drawn(), sample)

    def _question(self) -> Found:
        """Of b half the population say yes, and of those who answer 30 of 100; of those who say yes to b 60 of 100 do to a, else 20."""
        people = Source(self.survey, np.array([[0.3 * 0.6, 0.7 * 0.2], [0.3 * 0.4, 0.7 * 0.8]]))  # rows: a, columns: b, yes first
        drawn = np.concatenate([people.draw(n, 1, self._rng, fixed=False) for n in self.case.sizes])
        tallies = {group: Reports(people, counts).tally for group, counts in zip(self.groups, drawn, strict=True)}
        return self._results(0.4, tallies, Sample(margins={"b": {"yes": 1, "no": 1}}))

    def _drawn(self) -> dict[str, Tally]:
        """Draws the reports of each clinic."""
        counts: Counts = self.clinics.draw(sum(self.case.sizes), 1, self._rng, fixed=False)[0]
        return self.clinics.tallies(counts)

    def _results(self, truth: float, tallies: dict[str, Tally], sample: Sample) -> Found:
        """Compares the share of yes to a without and with a sample."""
        return _beside(truth, *(analyse(self.survey, tallies, sample=one).results["a", "yes"] for one in (None, sample)))


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
