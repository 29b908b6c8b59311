"""Do joint analysis, means and differences say what is true? Bias, errors, coverage and false alarms by simulation.

Each repetition draws new respondents and their coins. The counts of all pairs of reported subsets are drawn at once from
the multinomial distribution that the channel's definition gives them, which is the same as tossing coins report by report.
Run: python benchmarks/joint.py [--runs 5000]
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate import Crosstab, Estimate, compare, crosstab, mean, quantile
from deniable.estimate.tables import (
    between_options,
    conditional_share,
    cramers_v,
    independence,
    odds_ratio,
    phi_coefficient,
    weighted_shares,
)
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.wire.tally import Tally

Floats = NDArray[np.float64]

DESIGNS = [  # options of a, options of b, epsilon of each question, n, strength of the association
    (2, 2, 1.0986122886681098, 2_000),
    (2, 2, 1.0986122886681098, 20_000),
    (2, 2, 2.0, 2_000),
    (3, 3, 2.0, 2_000),
    (3, 3, 2.0, 20_000),
    (5, 5, 2.0, 20_000),
    (5, 8, 2.0, 2_000),
    (8, 8, 1.0, 20_000),
]


def survey_of(sizes: Sequence[int], epsilon: float) -> Survey:
    def question(name: str, k: int) -> dict[str, object]:
        kind = {"type": "yes_no"} if k == 2 else {"type": "choice", "options": [f"{name}{i}" for i in range(k)]}
        return {"id": name, "text": "?", "epsilon": epsilon, **kind}

    questions = [question(name, k) for name, k in zip("abcdef", sizes, strict=False)]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "A simulation", "about": "A test.", "questions": questions})


def subsets(channel: Channel) -> tuple[NDArray[np.int64], Floats]:
    """All possible reports as bits, shape (reports, k), and P(report | category), shape (k, reports), from the definition."""
    k, d, theta = channel.k, channel.d, float(channel.theta)
    reports = np.array([[i in chosen for i in range(k)] for chosen in combinations(range(k), d)], dtype=np.int64)
    chances = np.where(reports.T, theta / math.comb(k - 1, d - 1), (1 - theta) / math.comb(k - 1, d))
    return reports, chances


def truth_of(rows: int, cols: int, association: float) -> Floats:
    """Joint shares: uneven margins, and part of the mass moved to where the answers agree."""
    p, q = (1 / (np.arange(k) + 1.5) for k in (rows, cols))
    apart = np.outer(p / p.sum(), q / q.sum())
    together = np.zeros((rows, cols))
    for i in range(max(rows, cols)):
        together[i * rows // max(rows, cols), i * cols // max(rows, cols)] += (p / p.sum())[i * rows // max(rows, cols)]
    return (1 - association) * apart + association * together / together.sum()


def tallies(survey: Survey, truth: Floats, n: int, runs: int, rng: np.random.Generator) -> Iterator[Tally]:
    (bits_a, chance_a), (bits_b, chance_b) = (subsets(question.channel) for question in survey.questions)
    chances = (chance_a.T @ truth @ chance_b).ravel()
    both = np.column_stack([np.repeat(bits_a[:, :-1], len(bits_b), axis=0), np.tile(bits_b[:, :-1], (len(bits_a), 1))])
    for counts in rng.multinomial(n, chances / chances.sum(), size=runs):
        yield Tally(n, (both.T * counts) @ both)


def with_estimated_covariance(table: Crosstab) -> float:
    """The p-value of the other Wald test of independence, whose covariance is that of the estimates as they are."""
    from scipy import stats

    p, q = table.shares.sum(axis=1), table.shares.sum(axis=0)
    rows, cols = table.shares.shape
    change = np.eye(rows * cols) - np.kron(np.eye(rows), np.outer(q, np.ones(cols))) - np.kron(np.outer(p, np.ones(rows)), np.eye(cols))
    inner = np.arange(rows * cols).reshape(rows, cols)[:-1, :-1].ravel()
    covariance = (change @ table.covariance @ change.T)[np.ix_(inner, inner)]
    excess = (table.shares - np.outer(p, q)).ravel()[inner]
    return float(stats.chi2.sf(excess @ np.linalg.solve(covariance, excess), len(inner)))


def true_values(truth: Floats) -> dict[str, float]:
    p, q = truth.sum(axis=1), truth.sum(axis=0)
    phi_squared = float((truth**2 / np.outer(p, q)).sum()) - 1
    values = {
        "Cramér's V": math.sqrt(max(0.0, phi_squared) / (min(truth.shape) - 1)),
        "conditional share": float(truth[0, 0] / p[0]),
        "odds ratio": float(truth[0, 0] * truth[1, 1] / (truth[0, 1] * truth[1, 0])),
        "mean": float(np.arange(len(q)) @ q),
        "option less option": float(q[0] - q[1]),
    }
    if truth.shape == (2, 2):
        values["phi"] = float(truth[0, 0] - p[0] * q[0]) / math.sqrt(p[0] * p[1] * q[0] * q[1])
    return values


def estimators(survey: Survey) -> dict[str, Callable[[Crosstab, Tally], Estimate]]:
    a, b = survey.questions
    pair_a, pair_b = a.categories[:2], b.categories[:2]
    return {
        "phi": lambda table, tally: phi_coefficient(table),
        "Cramér's V": lambda table, tally: cramers_v(table),
        "conditional share": lambda table, tally: conditional_share(table, {"b": pair_b[0]}, {"a": pair_a[0]}),
        "odds ratio": lambda table, tally: odds_ratio(table, pair_a, pair_b),
        "mean": lambda table, tally: mean(survey, tally, "b", list(range(b.k))),
        "option less option": lambda table, tally: between_options(survey, tally, "b", pair_b[0], pair_b[1]),
    }


def cells(survey: Survey, truth: Floats, n: int, runs: int, rng: np.random.Generator) -> None:
    """One line on the cells, and one on each number computed from them."""
    kinds, wanted = estimators(survey), true_values(truth)
    covered, values, errors = np.zeros(truth.shape), [], []
    hits: dict[str, list[bool]] = defaultdict(list)
    refused: dict[str, int] = defaultdict(int)
    for tally in tallies(survey, truth, n, runs, rng):
        table = crosstab(survey, tally, "a", "b")
        covered += (table.low <= truth) & (truth <= table.high)
        values.append(table.shares)
        errors.append(table.std_error)
        for name, value in wanted.items():
            try:
                one = kinds[name](table, tally)
            except EstimateError:
                refused[name] += 1
            else:
                hits[name].append(one.low <= value <= one.high)
    spread = np.std(values, axis=0)
    bias = np.abs(np.mean(values, axis=0) - truth) / (spread / math.sqrt(runs))
    print(
        f"  cells: covered {100 * covered.mean() / runs:.2f}% (worst cell {100 * covered.min() / runs:.2f}%), standard error / spread "
        f"{(np.mean(errors, axis=0) / spread).min():.3f} to {(np.mean(errors, axis=0) / spread).max():.3f}, largest bias {bias.max():.1f} "
        "of its standard errors"
    )
    for name, value in wanted.items():
        share = f"{100 * np.mean(hits[name]):.2f}%" if hits[name] else "-"
        print(f"  {name}: covered {share}, truth {value:.3f}, refused {100 * refused[name] / runs:.1f}%")


def false_alarms(survey: Survey, truth: Floats, n: int, runs: int, rng: np.random.Generator) -> None:
    alone = np.outer(truth.sum(axis=1), truth.sum(axis=0))
    tables = [crosstab(survey, tally, "a", "b") for tally in tallies(survey, alone, n, runs, rng)]
    ours = np.mean([independence(table).p_value < 0.05 for table in tables])
    other = np.mean([with_estimated_covariance(table) < 0.05 for table in tables])
    v, refused = [], 0
    for table in tables:
        try:
            v.append(cramers_v(table))
        except EstimateError:
            refused += 1
    zero = f"V = 0 covered {100 * np.mean([one.low == 0 for one in v]):.2f}%, refused {100 * refused / runs:.1f}%" if v else "V refused"
    print(f"  independent answers: alarms {100 * ours:.2f}% (covariance as estimated: {100 * other:.2f}%); {zero}")


def others(runs: int, rng: np.random.Generator) -> None:
    """Groups, quantiles and weights, each on a scale of five."""
    survey, shares = survey_of([5, 2], 2.0), np.array([0.1, 0.25, 0.3, 0.2, 0.15])
    truth, n = np.outer(shares, [0.3, 0.7]), 2_000
    both = zip(tallies(survey, truth, n, runs, rng), tallies(survey, truth, n // 2, runs, rng), strict=True)
    comparisons = [compare(survey, one, two, "a") for one, two in both]
    covered = np.mean([[one.low <= 0 <= one.high for one in c.differences] for c in comparisons])
    alarms = np.mean([c.test.p_value < 0.05 for c in comparisons])
    print(f"groups of 2,000 and 1,000, k = 5, epsilon 2: differences covered {100 * covered:.2f}%, alarms {100 * alarms:.2f}%")
    for q, option in ((0.5, "a2"), (0.37, "a2"), (0.33, "a1")):
        found = [quantile(survey, tally, "a", q) for tally in tallies(survey, truth, 500, runs, rng)]
        inside = np.mean([one.low <= option <= one.high for one in found])
        right, single = np.mean([one.option == option for one in found]), np.mean([one.low == one.high for one in found])
        print(f"{q}-quantile of 5, n = 500: covered {100 * inside:.2f}%, right {100 * right:.1f}%, a single option {100 * single:.1f}%")
    for target in ("population", "respondents"):
        print(f"weights 1 to 5, n = 1,000, {target}: covered {100 * weighted(survey, shares, target, max(200, runs // 5), rng):.2f}%")


def weighted(survey: Survey, shares: Floats, target: str, runs: int, rng: np.random.Generator) -> float:
    """How often a weighted share is covered where a stratum that is weighted up answers otherwise."""
    bits_a, chance_a = subsets(survey.questions[0].channel)
    n, weights = 1_000, np.array([1.0, 5.0])
    strata = np.array([shares, shares[::-1]])
    wanted = weights @ (strata * [[0.8], [0.2]]) / (weights @ [0.8, 0.2])
    hits = []
    for _ in range(runs):
        stratum = (rng.random(n) < 0.2).astype(int)
        answers = (rng.random(n)[:, None] > strata[stratum].cumsum(axis=1)).sum(axis=1).clip(max=4)
        report = (rng.random(n)[:, None] > chance_a[answers].cumsum(axis=1)).sum(axis=1).clip(max=len(bits_a) - 1)
        bits = np.column_stack([bits_a[report][:, :-1], np.zeros(n)]).astype(np.bool_)
        w = weights[stratum]
        goal = wanted if target == "population" else np.bincount(answers, w, 5) / w.sum()
        found = weighted_shares(survey, bits, w, "a", target=target)
        hits.append([one.low <= share <= one.high for one, share in zip(found.shares, goal, strict=True)])
    return float(np.mean(hits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5_000, help="repetitions of each design; the error of 95%% is 0.31%% at 5,000")
    runs = parser.parse_args().runs
    rng = np.random.default_rng(20240603)
    print(f"{runs:,} simulated surveys each; 95% is known to {100 * math.sqrt(0.95 * 0.05 / runs):.2f}% (one standard error)")
    for rows, cols, epsilon, n in DESIGNS:
        survey, truth = survey_of([rows, cols], epsilon), truth_of(rows, cols, 0.3)
        print(
            f"{rows} by {cols} options, epsilon {epsilon:.4g} each (d = {survey.questions[0].d}, {survey.questions[1].d}), n = {n:,}",
            flush=True,
        )
        cells(survey, truth, n, runs, rng)
        false_alarms(survey, truth, n, runs, rng)
    others(runs, rng)


if __name__ == "__main__":
    main()
