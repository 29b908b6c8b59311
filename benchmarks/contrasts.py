"""How often trends, differences in differences and correlations are covered, and how often the tests of several groups reject what is so.

Run: python benchmarks/contrasts.py [--runs 2000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate import analyse, share
from deniable.estimate.tables import compare_groups, correlation, difference_in_differences, homogeneity, trend
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.wire.tally import Tally

SCALE = np.arange(1.0, 6.0)
_Floats = NDArray[np.float64]


def survey_of(epsilon: float, options: int, questions: int = 1, kind: str = "choice") -> Survey:
    names = [f"o{i}" for i in range(options)]
    each = [{"id": f"q{i}", "text": "?", "type": kind, "options": names, "epsilon": epsilon} for i in range(questions)]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "accept_high_epsilon": True, "questions": each})


def flip_of(channel: Channel) -> _Floats:
    """P(report | answer) of a channel whose reports are one category."""
    if channel.d != 1:
        raise ValueError("these surveys are drawn from reports of one category")
    return float(channel.phi) + np.eye(channel.k) * float(channel.theta - channel.phi)


def contrasts(runs: int, epsilon: float, sizes: tuple[int, ...], first: float, rng: np.random.Generator) -> dict[str, float]:
    """Four waves of shares that rise by 0.05 each: coverage of the trend, and of the difference in differences, which is 0."""
    channel = Channel.for_epsilon(epsilon, 2)
    q0, q1 = float(channel.phi), float(channel.theta)
    held = np.zeros(2)
    for ones in rng.binomial(sizes, q0 + (q1 - q0) * (first + 0.05 * np.arange(4)), (runs, 4)).tolist():
        waves = [share(one, n, q0=q0, q1=q1) for one, n in zip(ones, sizes, strict=True)]
        line, apart = trend(waves, [1, 2, 3, 4]), difference_in_differences((waves[0], waves[1]), (waves[2], waves[3]))
        held += [line.low <= 0.05 <= line.high, apart.low <= 0 <= apart.high]
    return dict(zip(("trend", "difference in differences"), (held / runs).tolist(), strict=True))


def correlations(runs: int, epsilon: float, n: int, strength: float, rng: np.random.Generator) -> dict[str, float]:
    """Of two scales of five: truth, mean, coverage, and how many are refused."""
    survey = survey_of(epsilon, 5, 2)
    flip = flip_of(survey.questions[0].channel)
    apart = np.exp(-strength * (SCALE[:, None] - SCALE) ** 2) * np.outer([1, 2, 3, 2, 1], [1, 2, 2, 2, 1])
    shares = apart / apart.sum()
    x, y = (SCALE - shares.sum(axis=axis) @ SCALE for axis in (1, 0))
    truth = float(x @ shares @ y / np.sqrt((x**2 @ shares.sum(axis=1)) * (y**2 @ shares.sum(axis=0))))
    found, refused = [], 0
    for told in rng.multinomial(n, (flip @ shares @ flip.T).ravel(), runs).reshape(-1, 5, 5):
        pairs = np.block([[np.diag(told.sum(axis=1)[:4]), told[:4, :4]], [told[:4, :4].T, np.diag(told.sum(axis=0)[:4])]])
        try:
            found.append(correlation(analyse(survey, Tally(n, pairs)).crosstab("q0", "q1"), SCALE, SCALE))
        except EstimateError:
            refused += 1
    held = np.mean([one.low <= truth <= one.high for one in found])
    return {"truth": truth, "mean": float(np.mean([one.estimate for one in found])), "covered": float(held), "refused": refused / runs}


def paired(runs: int, epsilon: float, n: int, joint: _Floats, rng: np.random.Generator) -> dict[str, float]:
    """Two questions of the same people: coverage of `Analysis.between` and `Analysis.between_means`, joint: shares of their answers."""
    survey = survey_of(epsilon, len(joint), 2, "scale")
    flip, scores, held = flip_of(survey.questions[0].channel), np.arange(1.0, len(joint) + 1), np.zeros(2)
    one, other = joint.sum(axis=1), joint.sum(axis=0)
    last = len(joint) - 1
    for told in rng.multinomial(n, (flip @ joint @ flip.T).ravel(), runs).reshape(-1, *joint.shape):
        a, b = told.sum(axis=1)[:last], told.sum(axis=0)[:last]
        pairs = np.block([[np.diag(a), told[:last, :last]], [told[:last, :last].T, np.diag(b)]])
        found = analyse(survey, Tally(n, pairs))
        share, mean = found.between("q0", "o0", "q1", "o0"), found.between_means("q0", "q1")
        held += [share.low <= one[0] - other[0] <= share.high, mean.low <= (one - other) @ scores <= mean.high]
    return dict(zip(("Analysis.between", "Analysis.between_means"), (held / runs).tolist(), strict=True))


def alike(runs: int, epsilon: float, sizes: tuple[int, ...], shares: list[float], rng: np.random.Generator) -> dict[str, float]:
    """Groups that are alike: how often the test of all rejects at 5%, and how often any pair does, alone and by Holm."""
    survey = survey_of(epsilon, len(shares))
    flip = flip_of(survey.questions[0].channel)
    alarms = {"all at once": 0, "any pair, alone": 0, "any pair, Holm": 0}
    for tallies in _groups(runs, survey, flip @ np.array(shares), sizes, rng):
        alarms["all at once"] += homogeneity(survey, tallies, "q0").p_value < 0.05
        if runs <= 500:
            rows = compare_groups(survey, tallies, "q0", pairs=True).records()[0]
            for name, column in (("any pair, alone", "p_value"), ("any pair, Holm", "p_holm")):
                place = rows.columns.index(column)
                alarms[name] += min(row[place] for row in rows.rows) < 0.05
    return {name: count / runs for name, count in alarms.items()}


def _groups(runs: int, survey: Survey, rates: _Floats, sizes: tuple[int, ...], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    for _ in range(runs):
        yield {str(i): Tally(n, np.diag(rng.multinomial(n, rates)[:-1])) for i, n in enumerate(sizes)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    rng, start = np.random.default_rng(20260602), time.process_time()
    for epsilon in (1.0, 2.0, 4.0):
        for sizes, first in (((900, 700, 800, 600), 0.3), ((60, 50, 40, 80), 0.02)):
            print("contrasts", epsilon, sizes, first, contrasts(runs, epsilon, sizes, first, rng), flush=True)
    for epsilon, n, strength in ((1.5, 5000, 0.1), (2.0, 1000, 0.1), (2.0, 4000, 0.4), (4.0, 300, 0.1), (4.0, 1000, 2.0)):
        print("correlation", epsilon, n, correlations(runs // 4, epsilon, n, strength, rng), flush=True)
    for epsilon, n, shares in (
        (1.5, 2000, [[0.1, 0.4], [0.3, 0.2]]),
        (4.0, 800, [[0.02, 0.9], [0.05, 0.03]]),
        (3.0, 300, [[0.6, 0.1], [0.1, 0.2]]),
    ):
        print("paired", epsilon, n, paired(runs // 4, epsilon, n, np.array(shares), rng), flush=True)
    print("groups alike", alike(min(runs, 500), 2.0, (400, 300, 250, 200, 150), [0.6, 0.3, 0.1], rng), flush=True)
    print("groups alike, a rare option", alike(min(runs, 500), 4.0, (400, 300, 250), [0.9, 0.06, 0.04], rng), flush=True)
    print("groups alike, few", alike(runs // 5, 4.0, (60, 40, 30), [0.9, 0.06, 0.04], rng), f"{time.process_time() - start:.0f} s")


if __name__ == "__main__":
    main()
