"""Precision gained from impossible pairs of answers, where a question is shown only after some answers to another.

A quarter of the people say yes to a question, and are shown a second one with two options; 40 of 100 of them give the first, and `skip` is
the share that does not answer. `plain` is the standard deviation of estimates from the table alone, `found` that without the noise of the
impossible pairs, `covers` how often its 95% interval holds the truth. Each survey has new people and coins.
Run: make bench NAME=shown ARGS="--surveys 2000"
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate import Analysis
from deniable.estimate.moments import counts, pseudo_answers
from deniable.survey import Survey
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
    """Simulated surveys of one case: the coins are the real ones, fed by a generator with a seed."""

    def __init__(self, case: Case, seed: int) -> None:
        self.case, self._rng = case, np.random.default_rng(seed)
        often = {
            "id": "often",
            "text": "?",
            "type": "choice",
            "options": ["daily", "rarely"],
            "show_if": {"question": "used", "is": ["yes"]},
        }
        questions = [{"id": "used", "text": "?", "type": "yes_no"}, often]
        head = {"deniable": 1, "id": "s", "title": "T", "about": "A", "accept_high_epsilon": True}
        self.survey = Survey.from_dict({**head, "questions": [{**one, "epsilon": case.epsilon} for one in questions]})
        answered = SHOWN * (1 - case.skip)
        self.cells = np.array([[answered * FIRST, answered * (1 - FIRST), SHOWN * case.skip], [0.0, 0.0, 1 - SHOWN]])
        self.truth = np.array([SHOWN, FIRST * (1 - case.skip), FIRST])

    def once(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """The figures from the table alone, those that are found, and whether their intervals hold the truth."""
        drawn = self._rng.choice(6, self.case.n, p=self.cells.ravel())
        items = zip(self.survey.items, (drawn // 3, drawn % 3), strict=True)
        tally = Tally.from_bits(np.hstack([randomize(item.channel, codes.astype(np.int64), self._words)[:, :-1] for item, codes in items]))
        _, n, together = counts.pair_counts(self.survey, tally, "used", "often")
        plain = pseudo_answers.invert(together / n, [item.channel for item in self.survey.items])
        alone = np.array([plain[0].sum(), plain[0, 0] / plain[0].sum(), plain[:, 0].sum() / plain[:, :2].sum()])
        analysis = Analysis(self.survey, tally)
        try:
            told = analysis.among_shown("often", complete=self.case.complete)
        except EstimateError:  # that all answered is contradicted, by chance: who is told so goes without it
            told = analysis.among_shown("often")
        found = [told.part, told.shares[0], told.answered[0]]
        figures = np.array([math.nan if one is None else one.estimate for one in found])
        held = np.array([one is None or one.low <= truth <= one.high for one, truth in zip(found, self.truth, strict=True)])
        return alone, figures, held

    def _words(self, count: int) -> NDArray[np.uint32]:
        return self._rng.integers(0, 1 << 32, count, dtype=np.uint32)


def measured(case: Case, surveys: int, seed: int = 1) -> NDArray[np.float64]:
    """Of each figure: plain and found standard deviations, the bias of what is found, and how often it is covered, shape (3, 4).

    Half the width that 68 of 100 estimates are in, since a few ratios are far out.
    """
    made = Surveys(case, seed)
    parts = [made.once() for _ in range(surveys)]
    alone, found, held = (np.array(part, dtype=np.float64) for part in zip(*parts, strict=True))
    spread = [(np.nanquantile(x, 0.8413, axis=0) - np.nanquantile(x, 0.1587, axis=0)) / 2 for x in (alone, found)]
    return np.stack([*spread, np.nanmedian(found, axis=0) - made.truth, held.mean(axis=0)], axis=1)


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
