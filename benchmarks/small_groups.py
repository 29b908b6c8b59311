"""How often do intervals that rest on a normal error hold the truth where reports are few, and does the warning come in time?

A line is a figure, an epsilon, sizes and true shares; new people and new coins for each survey. `covers`: how often the 95% interval holds
the truth (of the test of independence: how often it stays silent). `warned`: surveys with the warning of `deniable.estimate.checks.few`.
`missed unwarned`: surveys whose interval misses the truth and says nothing; what counts is that this stays near 5%.
Run: python benchmarks/small_groups.py [--surveys 2000]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate import compare, crosstab, mean
from deniable.estimate.tables import conditional_share, independence
from deniable.survey import Survey
from deniable.wire.tally import Tally

LN3 = math.log(3)
RARE, EVEN = ((0.02, 0.08), (0.08, 0.82)), ((0.25, 0.25), (0.25, 0.25))
UNEVEN = tuple(tuple(a * b for b in (0.9, 0.04, 0.03, 0.02, 0.01)) for a in (0.9, 0.04, 0.03, 0.02, 0.01))
EXTREME = (0.95, 0.0, 0.0, 0.0, 0.05)

Found = tuple[bool, bool]
"""Whether the interval holds the truth, and whether it comes with a warning."""


@dataclass(frozen=True)
class Case:
    """A line: what it is called, the epsilon of a question, the sizes of the groups, and the true shares."""

    figure: str
    epsilon: float
    sizes: tuple[int, ...]
    shares: tuple[object, ...]

    def __str__(self) -> str:
        epsilon = "ln 3" if self.epsilon == LN3 else f"{self.epsilon:g}"
        return f"{self.figure} | {epsilon} | {' and '.join(f'{n:,}' for n in self.sizes)}"


CASES = (
    *(Case("difference .05/.05", e, n, (0.05, 0.05)) for e, n in ((LN3, (30, 20)), (LN3, (200, 50)), (4.0, (200, 30)), (4.0, (1000, 500)))),
    Case("difference .02/.02", 8.0, (1000, 50), (0.02, 0.02)),
    Case("difference .02/.02", 8.0, (2000, 1000), (0.02, 0.02)),
    Case("difference .03/.03", 6.0, (200, 20), (0.03, 0.03)),
    Case("difference .2/.6", 6.0, (200, 40), (0.2, 0.6)),
    *(Case("cell .02 of four", e, (n,), RARE) for e, n in ((LN3, 50), (4.0, 50), (4.0, 200), (4.0, 1000))),
    *(Case("share among .02/.1", e, (n,), RARE) for e, n in ((4.0, 50), (4.0, 300), (4.0, 1000))),
    *(Case("share among .25/.5", e, (n,), EVEN) for e, n in ((2.0, 300), (4.0, 50))),
    *(Case("independence, 5 by 5", e, (n,), UNEVEN) for e, n in ((LN3, 1000), (4.0, 100), (4.0, 300), (4.0, 3000))),
    *(Case("mean of .95/0/0/0/.05", e, (n,), EXTREME) for e, n in ((1.0, 50), (4.0, 50), (8.0, 50), (8.0, 300))),
)


class Surveys:
    """Simulated surveys of one case: the coins are the real ones, fed by a generator with a seed."""

    def __init__(self, case: Case, seed: int) -> None:
        self.case, self._rng = case, np.random.default_rng(seed)
        k = 2 if case.figure.startswith("difference") else len(case.shares)
        kind = {"type": "yes_no"} if k == 2 else {"type": "scale", "options": [f"o{i}" for i in range(k)]}
        names = ["a"] if case.figure.startswith(("difference", "mean")) else ["a", "b"]
        questions = [{"id": name, "text": "?", "epsilon": case.epsilon, **kind} for name in names]
        self.survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "questions": questions})
        self.once: Callable[[], Found] = {"difference": self._difference, "mean": self._mean}.get(case.figure.split()[0], self._table)

    def _tally(self, *answers: NDArray[np.int64]) -> Tally:
        items = zip(self.survey.items, answers, strict=True)
        return Tally.from_bits(np.hstack([randomize(item.channel, codes, self._words)[:, :-1] for item, codes in items]))

    def _words(self, count: int) -> NDArray[np.uint32]:
        return self._rng.integers(0, 1 << 32, count, dtype=np.uint32)

    def _difference(self) -> Found:
        p = np.array(self.case.shares, dtype=np.float64)
        first, second = (self._tally((self._rng.random(n) >= q).astype(np.int64)) for n, q in zip(self.case.sizes, p, strict=True))
        one = compare(self.survey, first, second, "a").differences[0]
        return one.low <= p[1] - p[0] <= one.high, bool(one.warning)

    def _mean(self) -> Found:
        p = np.array(self.case.shares, dtype=np.float64)
        scores = np.arange(1.0, len(p) + 1)
        one = mean(self.survey, self._tally(self._rng.choice(len(p), self.case.sizes[0], p=p)), "a", scores)
        return one.low <= p @ scores <= one.high, bool(one.warning)

    def _table(self) -> Found:
        p = np.array(self.case.shares, dtype=np.float64)
        cells = self._rng.choice(p.size, self.case.sizes[0], p=p.ravel())
        table = crosstab(self.survey, self._tally(cells // len(p), cells % len(p)), "a", "b")
        if self.case.figure.startswith("cell"):
            return bool(table.low[0, 0] <= p[0, 0] <= table.high[0, 0]), False
        try:
            if self.case.figure.startswith("independence"):
                test = independence(table)
                return test.p_value >= 0.05, bool(test.warning)
            one = conditional_share(table, {"a": self.survey.items[0].categories[0]}, among={"b": self.survey.items[1].categories[0]})
            return one.low <= p[0, 0] / p[:, 0].sum() <= one.high, bool(one.warning)
        except EstimateError:  # refused, with its reason: nobody is misled
            return True, True


def measured(case: Case, surveys: int, seed: int = 1) -> tuple[float, float, float]:
    """Of so many surveys, the parts that cover, that are warned, and that miss the truth without a warning."""
    made = Surveys(case, seed)
    found = np.array([made.once() for _ in range(surveys)])
    return float(found[:, 0].mean()), float(found[:, 1].mean()), float((~found[:, 0] & ~found[:, 1]).mean())


def line(case: Case, parts: Sequence[float]) -> str:
    """A line of the table."""
    return f"| {case} | " + " | ".join(f"{100 * part:.1f}" for part in parts) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--surveys", type=int, default=2000, help="simulated surveys a line")
    surveys = parser.parse_args().surveys
    print("| figure | epsilon | n | covers % | warned % | missed unwarned % |\n" + "|---" * 6 + "|")
    for case in CASES:
        print(line(case, measured(case, surveys)), flush=True)


if __name__ == "__main__":
    main()
