"""Precision gained from impossible pairs of answers, where a question is shown only after some answers to another.

A quarter of the people say yes to a question, and are shown a second one with two options; 40 of 100 of them give the first, and `skip` is
the share that does not answer. `plain` is the standard deviation of estimates from the table alone, `found` that without the noise of the
impossible pairs, `covers` how often its 95% interval holds the truth. Each survey has new people and coins.
Run: make bench NAME=shown ARGS="--surveys 2000"
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from benchmarks.atlas.one_question import YES_NO
from benchmarks.atlas.source import Floats, Reports, Source, survey_of
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate import Analysis
from deniable.estimate.moments import counts, pseudo_answers
from deniable.wire.tally import Tally

LN3 = math.log(3)
FIRST, SHOWN = 0.4, 0.25
FIGURES = ("said yes", "first option, of all shown", "first option, of all who answered")


@dataclass(frozen=True)
class Case:
    """A line: the epsilon of each question, the people, those who skip, and whether it is taken that nobody does."""

    epsilon: float
    n: int
    skip: float = 0.0
    complete: bool = False

    def __str__(self) -> str:
        epsilon = "ln 3" if self.epsilon == LN3 else f"{self.epsilon:g}"
        return f"{epsilon} | {self.n:,} | {self.skip:g} | {'yes' if self.complete else 'no'}"


CASES = (
    *(Case(epsilon, n, skip) for epsilon, n in ((LN3, 500), (LN3, 2000), (2.0, 500), (4.0, 500)) for skip in (0.0, 0.1)),
    *(Case(epsilon, n, complete=True) for epsilon, n in ((LN3, 500), (LN3, 2000), (2.0, 500), (4.0, 500))),
)


class Surveys:
    """Simulated surveys of one case."""

    def __init__(self, case: Case, seed: int) -> None:
        self.case, self._rng = case, np.random.default_rng(seed)
        follow_up = {"type": "choice", "options": ["daily", "rarely"], "show_if": {"question": "a", "is": ["yes"]}}
        answered = SHOWN * (1 - case.skip)
        cells = np.array([[answered * FIRST, answered * (1 - FIRST), SHOWN * case.skip], [0.0, 0.0, 1 - SHOWN]])
        self.people = Source(survey_of([YES_NO, follow_up], case.epsilon), cells)
        self.truth = np.array([SHOWN, FIRST * (1 - case.skip), FIRST])

    def draw(self, surveys: int) -> Iterator[Tally]:
        """Yields the tally of each survey."""
        for row in self.people.draw(self.case.n, surveys, self._rng, fixed=False):
            yield Reports(self.people, row).tally

    def figures(self, tally: Tally) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Returns the figures from the table alone, those without impossible pairs, and whether their intervals hold the truth."""
        survey = self.people.survey
        _, n, together = counts.pair_counts(survey, tally, "a", "b")
        plain = pseudo_answers.invert(together / n, [item.channel for item in survey.items])
        alone = np.array([plain[0].sum(), plain[0, 0] / plain[0].sum(), plain[:, 0].sum() / plain[:, :2].sum()])
        analysis = Analysis(survey, tally)
        try:
            shown = analysis.among_shown("b", complete=self.case.complete)
        except EstimateError:  # by chance the reports contradict `complete`; the refusal advises to leave it out
            shown = analysis.among_shown("b")
        estimates = [shown.part, shown.shares[0], shown.answered[0]]
        values = np.array([math.nan if one is None else one.estimate for one in estimates])
        holds = np.array([one is None or one.low <= truth <= one.high for one, truth in zip(estimates, self.truth, strict=True)])
        return alone, values, holds


def measured(case: Case, surveys: int, seed: int = 1) -> Floats:
    """Returns of each figure the plain and the found standard deviation, the bias of the latter, and its coverage, shape (3, 4).

    A standard deviation is half the width that 68 of 100 estimates are in, since a few ratios are far out.
    """
    simulated = Surveys(case, seed)
    parts = [simulated.figures(tally) for tally in simulated.draw(surveys)]
    alone, values, holds = (np.array(part, dtype=np.float64) for part in zip(*parts, strict=True))
    spread = [(np.nanquantile(x, 0.8413, axis=0) - np.nanquantile(x, 0.1587, axis=0)) / 2 for x in (alone, values)]
    return np.stack([*spread, np.nanmedian(values, axis=0) - simulated.truth, holds.mean(axis=0)], axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--surveys", type=int, default=2000, help="simulated surveys a line")
    surveys = parser.parse_args().surveys
    print("| epsilon | n | skip | complete | figure | plain | found | worth more people % | covers % |\n" + "|---" * 9 + "|")
    for case in CASES:
        for figure, (plain, found, _, covers) in zip(FIGURES, measured(case, surveys), strict=True):
            print(
                f"| {case} | {figure} | {plain:.4f} | {found:.4f} | {100 * ((plain / found) ** 2 - 1):.0f} | {100 * covers:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
