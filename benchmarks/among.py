"""Coverage of figures among people with one true answer (`Analysis.among`).

A share of the people say yes to a question; of these, 60 of 100 give the first of three answers to a second one, and of the others 20. The
numbers of a third question have another mean among them, too. `refused` is the share of surveys in which the share of these people is not
clearly above 0, and `covers` how often, in all others, the 95% interval holds the truth. Each survey has new people and coins.
Run: make bench NAME=among ARGS="--surveys 2000"
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

import numpy as np
from benchmarks.atlas.one_question import YES_NO
from benchmarks.atlas.source import Floats, Reports, Source, survey_of

from deniable.errors import EstimateError
from deniable.estimate import Analysis

LN3 = math.log(3)
FIGURES = ("first option", "last option", "mean of a scale", "mean of a number")
AMONG, OTHERS = np.array([0.6, 0.38, 0.02]), np.array([0.2, 0.3, 0.5])


@dataclass(frozen=True)
class Case:
    """A line: the epsilon of each question, the people, and the share that says yes."""

    epsilon: float
    n: int
    yes: float

    def __str__(self) -> str:
        return f"{'ln 3' if self.epsilon == LN3 else f'{self.epsilon:g}'} | {self.n:,} | {self.yes:g}"


CASES = tuple(
    Case(epsilon, n, yes)
    for epsilon, n in ((LN3, 500), (LN3, 2000), (2.0, 500), (2.0, 2000), (4.0, 200), (4.0, 1000), (8.0, 100))
    for yes in (0.05, 0.2, 0.5)
)


class Surveys:
    """Simulated surveys of one case: a filter, a scale and a number."""

    def __init__(self, case: Case) -> None:
        scale = {"type": "scale", "options": ["low", "middle", "high"], "scores": [1, 2, 3]}
        survey = survey_of([YES_NO, scale, {"type": "number", "low": 0, "high": 10}], case.epsilon)
        number = next(item for item in survey.items if item.id == "c")
        scores = np.array(number.scores or ())
        numbers = [np.linspace(2, 1, len(scores)), np.linspace(1, 2, len(scores))]
        numbers = [weights / weights.sum() for weights in numbers]
        parts = [
            share * np.outer(options, weights)
            for share, options, weights in zip((case.yes, 1 - case.yes), (AMONG, OTHERS), numbers, strict=True)
        ]
        self.people = Source(survey, np.stack(parts))
        self.truth = np.array([AMONG[0], AMONG[2], AMONG @ [1, 2, 3], numbers[0] @ scores])

    def figures(self, reports: Reports) -> tuple[Floats, Floats] | None:
        """Returns the estimates, and whether their intervals hold the truth; nan for a refused figure, and None if all are."""
        try:
            people = Analysis(self.people.survey, reports.tally).among("a", "yes")
        except EstimateError:
            return None
        rows = [people["b", "low"], people["b", "high"], *people.means]
        values = [row.mean if "mean" in vars(row) else row.estimate for row in rows]
        limits = [(row.low, row.high) for row in rows]
        holds = [
            math.nan if low is None or high is None else float(low <= truth <= high)
            for (low, high), truth in zip(limits, self.truth, strict=True)
        ]
        return np.array([math.nan if value is None else value for value in values]), np.array(holds)


def measured(case: Case, surveys: int, seed: int = 1) -> tuple[float, Floats]:
    """Returns the share of refused surveys; and of each figure the median error, in standard deviations, and coverage, shape (4, 2)."""
    simulated = Surveys(case)
    counts = simulated.people.draw(case.n, surveys, np.random.default_rng(seed), fixed=False)
    parts = [simulated.figures(Reports(simulated.people, row)) for row in counts]
    present = [part for part in parts if part is not None]
    if not present:
        return 1.0, np.full((len(FIGURES), 2), math.nan)
    values, holds = (np.array(part) for part in zip(*present, strict=True))
    spread = (np.nanquantile(values, 0.8413, axis=0) - np.nanquantile(values, 0.1587, axis=0)) / 2
    error = (np.nanmedian(values, axis=0) - simulated.truth) / spread
    return 1 - len(present) / surveys, np.stack([error, np.nanmean(holds, axis=0)], axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--surveys", type=int, default=2000, help="simulated surveys a line")
    surveys = parser.parse_args().surveys
    print("| epsilon | n | say yes | refused % | " + " | ".join(f"{name} covers %" for name in FIGURES) + " |\n" + "|---" * 8 + "|")
    for case in CASES:
        refused, figures = measured(case, surveys)
        covers = " | ".join("" if math.isnan(value) else f"{100 * value:.1f}" for value in figures[:, 1])
        print(f"| {case} | {100 * refused:.1f} | {covers} |", flush=True)


if __name__ == "__main__":
    main()
