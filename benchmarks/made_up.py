"""False and true alarms of the test for made-up reports.

Honest people: `independent` (one in five yes or the first option, the rest the last), `alike` (all the first option) and `split` (half of
them the first everywhere, half the last everywhere: the strongest association). Made-up reports replace those of independent people: all
the same bits, the first option everywhere or a pattern drawn anew for each survey. `shows from`: the share from which the results promise
detection. Each survey has new people and coins.
Run: make bench NAME=made_up ARGS="--surveys 400"
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.device.randomize import randomize
from deniable.device.sampling import draw
from deniable.estimate.checks.made_up_reports import MadeUp, made_up
from deniable.survey import Survey
from deniable.wire.record import pack, unpack
from deniable.wire.tally import Tally

Codes = NDArray[np.int64]
HONEST = ("independent", "alike", "split")


@dataclass(frozen=True)
class Design:
    """sizes: the options of each question. ask: how many of them each person is asked, or None."""

    sizes: tuple[int, ...]
    epsilon: float
    n: int
    ask: int | None = None

    @property
    def survey(self) -> Survey:
        questions = [
            {"id": f"q{i}", "text": "?", **({"type": "yes_no"} if k == 2 else {"type": "choice", "options": [f"o{j}" for j in range(k)]})}
            for i, k in enumerate(self.sizes)
        ]
        more = {"ask": self.ask} if self.ask else {}
        survey = {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": self.epsilon, "questions": questions, **more}
        return Survey.from_dict(survey)

    def __str__(self) -> str:
        kinds = " + ".join(f"{self.sizes.count(k)} of {k}" for k in sorted(set(self.sizes)))
        return f"{kinds}{f', ask {self.ask}' if self.ask else ''} | {self.epsilon:g} | {self.n:,}"


DESIGNS = (
    Design((2,) * 20, 1, 10_000),
    Design((2,) * 20, 1, 300),
    Design((2,) * 20, 8, 10_000),
    Design((2,) * 5, 1, 10_000),
    Design((2,) * 2, 1, 10_000),
    Design((5,) * 10, 2, 5_000),
    Design((2, 2, 2, 2, 3, 5, 5, 7), 4, 5_000),
    Design((2,) * 20, 2, 10_000, ask=8),
)


class People:
    """Made-up surveys of one design, from a generator with a seed: the coins are the real ones, fed by it."""

    def __init__(self, design: Design, seed: int) -> None:
        self.design, self.survey, self._rng = design, design.survey, np.random.default_rng(seed)
        self._sizes = np.array(design.sizes)

    def answers(self, n: int, kind: str) -> Codes:
        """Categories, shape (n, questions)."""
        first = {
            "independent": lambda: self._rng.random((n, len(self._sizes))) < 0.2,
            "alike": lambda: np.ones((n, 1), dtype=np.bool_),
            "split": lambda: self._rng.random((n, 1)) < 0.5,
        }[kind]()
        return np.where(np.broadcast_to(first, (n, len(self._sizes))), 0, self._sizes - 1)

    def pattern(self) -> Codes:
        """One answer to each question."""
        return np.array([self._rng.integers(k) for k in self._sizes])

    def tally(self, answers: Codes, fakes: Codes | None = None) -> Tally:
        """Of honest people's reports, and of made-up ones, shape (m, questions), which hold the category and the d - 1 after it."""
        parts = [randomize(item.channel, column, self._words) for item, column in zip(self.survey.items, answers.T, strict=True)]
        if fakes is not None:
            for j, item in enumerate(self.survey.items):
                places = (fakes[:, [j]] + np.arange(item.d)) % item.k
                sent = np.zeros((len(fakes), item.k), dtype=np.bool_)
                np.put_along_axis(sent, places, True, axis=1)
                parts[j] = np.vstack([parts[j], sent])
        n = len(parts[0])
        return Tally.from_bits(unpack(self.survey, pack(self.survey, parts, draw(self.survey, n, self._words)), n))

    def honest(self, kind: str) -> MadeUp:
        """What is said of a survey of honest people."""
        return _of(self.survey, self.tally(self.answers(self.design.n, kind)))

    def with_fakes(self, share: float, pattern: Codes) -> MadeUp:
        """What is said where a share of the reports is made up."""
        fakes = math.ceil(share * self.design.n)
        return _of(self.survey, self.tally(self.answers(self.design.n - fakes, "independent"), np.tile(pattern, (fakes, 1))))

    def _words(self, count: int) -> NDArray[np.uint32]:
        return self._rng.integers(0, 1 << 32, count, dtype=np.uint32)


def _of(survey: Survey, tally: Tally) -> MadeUp:
    found = made_up(survey, tally)
    assert found is not None
    return found


def measured(design: Design, surveys: int, seed: int = 1) -> list[str]:
    """The cells of one line: false alarms by kind of people, then alarms for 5% made-up reports, then for as many as would show."""
    people = People(design, seed)
    false = [_percent([people.honest(kind).alarm for _ in range(surveys)]) for kind in HONEST]
    first = np.zeros(len(design.sizes), dtype=np.int64)
    five = [_percent([people.with_fakes(0.05, one()).alarm for _ in range(surveys)]) for one in (lambda: first, people.pattern)]
    from_ = people.honest("independent").shows_from
    if from_ is None:
        return [*false, *five, "never", ""]
    enough = _percent([people.with_fakes(from_, people.pattern()).alarm for _ in range(surveys)])
    return [*false, *five, f"{100 * from_:.1f}%", enough]


def _percent(alarms: Sequence[bool]) -> str:
    return f"{100 * sum(alarms) / len(alarms):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--surveys", type=int, default=400, help="simulated surveys a cell")
    surveys = parser.parse_args().surveys
    header = ["questions", "epsilon", "n", *HONEST, "5% first option", "5% any pattern", "shows from", "found there"]
    print("| " + " | ".join(header) + " |\n" + "|---" * len(header) + "|")
    for design in DESIGNS:
        print(f"| {design} | " + " | ".join(measured(design, surveys)) + " |", flush=True)


if __name__ == "__main__":
    main()
