"""How often the intervals for the respondents themselves hold the truth, where more than coins is random: the draw, and rounding.

A line is a cell: the same people in every simulated survey, whose devices draw which questions they are asked (`ask`), round their numbers
to a grid, and randomize. The truth is that of `deniable.simulate`: the shares, or the mean, among these very people. `coins alone`: how
often an interval whose error is that of the coins would hold it.
Run: python benchmarks/respondents.py [--surveys 2000]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deniable.estimate import analyse
from deniable.estimate.moments import pseudo_answers
from deniable.simulate import Simulated, simulate
from deniable.survey import Survey

CHOICE = {"type": "choice", "options": ["a", "b", "c"]}


@dataclass(frozen=True)
class Cell:
    """epsilon: of a question. asked, questions: so many of so many; all where equal. n: respondents. kind: "share" of yes_no, "choice",
    or "mean" or "level" of a number of so many levels whose answers lie in the middle of two."""

    epsilon: float
    asked: int
    questions: int
    n: int
    kind: str
    levels: int = 0

    def __str__(self) -> str:
        what = f"{self.kind} of {self.levels} levels" if self.levels else self.kind
        return f"{what} | {self.epsilon:g} | {self.asked} of {self.questions} | {self.n:,}"

    @property
    def survey(self) -> Survey:
        """As it would be published."""
        kind: dict[str, Any] = {"share": {"type": "yes_no"}, "choice": CHOICE}.get(self.kind) or {
            "type": "number",
            "low": 0,
            "high": 1,
            "levels": self.levels,
        }
        ask = {"ask": self.asked} if self.asked < self.questions else {}
        questions = [{"id": f"q{i}", "text": "?", "epsilon": self.epsilon, **kind} for i in range(self.questions)]
        head = {"deniable": 1, "id": "s", "title": "T", "about": "A", "accept_high_epsilon": True}
        return Survey.from_dict({**head, **ask, "questions": questions})

    @property
    def people(self) -> pd.DataFrame:
        """Three in ten say the first option; a number is in the middle of two levels for all but one in ten, who are at the lowest."""
        part = np.arange(self.n) / self.n
        if self.levels:
            column: Any = np.where(part < 0.9, 0.5 / (self.levels - 1), 0.0)
        else:
            names = ("yes", "no") if self.kind == "share" else ("a", "c")
            column = np.where(part < 0.3, *names)
        return pd.DataFrame({f"q{i}": column for i in range(self.questions)})


CELLS = (
    *(Cell(epsilon, 1, 3, 600, "share") for epsilon in (2.0, 4.0)),
    Cell(6.0, 2, 10, 1000, "share"),
    Cell(4.0, 1, 3, 6000, "share"),
    Cell(4.0, 1, 3, 60, "choice"),
    Cell(6.0, 1, 1, 500, "mean", 2),
    Cell(4.0, 1, 1, 500, "mean", 5),
    Cell(6.0, 1, 2, 500, "mean", 11),
    Cell(4.0, 1, 1, 500, "level", 5),
)


def held(cell: Cell, made: Simulated) -> tuple[bool, bool]:
    """Whether the interval holds the truth, and whether one with the error of the coins alone would."""
    rows = made.truth[made.truth["question"] == "q0"]
    if cell.kind == "mean":
        one = analyse(made.survey, made.tally, target="respondents").mean("q0")
        truth = float(rows["share"] @ np.asarray(made.survey.items[0].scores))
        value, low, high = one.estimate, one.low, one.high
        weights = np.asarray(made.survey.items[0].scores)
    else:
        row = analyse(made.survey, made.tally, target="respondents").results.rows[0]
        truth, value, low, high = float(rows["share"].iloc[0]), row.estimate or 0.0, row.low or 0.0, row.high or 0.0
        weights = np.eye(made.survey.items[0].k)[0]
    channel, n = made.survey.items[0].channel, analyse(made.survey, made.tally).results.rows[0].n
    coins = pseudo_answers.variance_of(weights, rows["share"].to_numpy(), [channel], 0.0) / n
    return low <= truth <= high, abs(value - truth) <= 1.96 * coins**0.5


def measured(cell: Cell, surveys: int) -> tuple[float, float]:
    """Of so many surveys, the parts whose interval holds the truth, and whose error by coins alone would."""
    survey, people = cell.survey, cell.people
    found = np.array([held(cell, simulate(survey, people)) for _ in range(surveys)])
    return float(found[:, 0].mean()), float(found[:, 1].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--surveys", type=int, default=2000, help="simulated surveys a line")
    surveys = parser.parse_args().surveys
    print("| figure | epsilon | asked | respondents | covers % | coins alone % |\n" + "|---" * 6 + "|")
    for cell in CELLS:
        covers, coins = measured(cell, surveys)
        print(f"| {cell} | {100 * covers:.1f} | {100 * coins:.1f} |", flush=True)


if __name__ == "__main__":
    main()
