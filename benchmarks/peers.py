"""Errors of estimated shares beside pure-ldp, multi-freq-ldpy, OpenDP and diffprivlib, on the same true answers.

10,000 respondents hold k categories, always in the same numbers, so only coins are random. Every figure is a mean over runs of the sum of
squared errors of the k shares, times 1e4. `unbiased` is compared with its exact variance. `adjusted` is compared with maximum likelihood
by expectation maximisation from the whole reports, which no package has (it is in this file), with the best estimate of a package from the
same reports, and with the best from a package's own reports.

The packages have a separate environment, see peers-requirements.txt.
Run: make bench NAME=peers ARGS="--share-of-runs 1 --truth zipf --truth uniform"
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable.device.randomize import randomize
from deniable.estimate.moments.shrinkage import adjusted
from deniable.mechanism import Channel

N = 10_000
EPSILONS = {"0.5": 0.5, "ln 3": math.log(3), "2": 2.0, "4": 4.0}
RUNS = {2: 40_000, 8: 10_000, 64: 2_000}  # of `unbiased`: the mean is known to about 0.7%
PEER_RUNS = {2: 200, 8: 100, 64: 40}
SLOW_RUNS = 40  # of OpenDP, whose coins take half a second a run
EM_STEPS = 1_000
SAME_REPORTS = "multi-freq-ldpy SS"

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """One truth at one epsilon. counts: how many respondents hold each category, shape (k,)."""

    truth: str
    name: str
    counts: NDArray[np.int64]
    channel: Channel

    @property
    def theory(self) -> float:
        """The exact expectation of the sum of squared errors of the unbiased estimate."""
        theta, phi, shares = float(self.channel.theta), float(self.channel.phi), self.counts / N
        each = shares * theta * (1 - theta) + (1 - shares) * phi * (1 - phi)
        return float(each.sum()) / (N * (theta - phi) ** 2)


@dataclass(frozen=True)
class Ours:
    """Sums of squared errors: unbiased in every run; adjusted, em in the runs that the peers see too."""

    unbiased: _Floats
    adjusted: _Floats
    em: _Floats


def cells(truths: list[str]) -> Iterator[Cell]:
    for truth in truths:
        for k in RUNS:
            weights = 1 / np.arange(1, k + 1) if truth == "zipf" else np.ones(k)
            below = np.floor(np.cumsum(weights) / weights.sum() * N + 0.5).astype(np.int64)
            for name, epsilon in EPSILONS.items():
                yield Cell(truth, name, np.diff(below, prepend=0), Channel.for_epsilon(epsilon, k))


def em(bits: NDArray[np.bool_], channel: Channel) -> _Floats:
    """Maximum likelihood from whole reports, from equal shares; reports that are alike are counted together."""
    kinds, count = np.unique(np.packbits(bits, axis=1), axis=0, return_counts=True)
    inside = np.unpackbits(kinds, axis=1, count=channel.k).astype(bool)
    likelihood = np.where(inside, float(channel.theta) / channel.d, float(1 - channel.theta) / (channel.k - channel.d))
    shares = np.full(channel.k, 1 / channel.k)
    for _ in range(EM_STEPS):
        shares = shares * ((count / (likelihood @ shares)) @ likelihood) / N
    return shares


def measure(cell: Cell, runs: int, peer_runs: int, reports: Path, rng: np.random.Generator) -> Ours:
    """Tosses the coins of all runs, and leaves the first `peer_runs` runs' reports for the peers."""
    categories = np.repeat(np.arange(len(cell.counts)), cell.counts)
    phi, theta, truth = float(cell.channel.phi), float(cell.channel.theta), cell.counts / N
    unbiased, fitted, likeliest, kept = [], [], [], []
    for run in range(runs):
        bits = randomize(cell.channel, categories, lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32))
        ones = bits.sum(axis=0)
        unbiased.append(_error((ones / N - phi) / (theta - phi), truth))
        if run < peer_runs:
            fitted.append(_error(adjusted(ones, N, phi, theta), truth))
            likeliest.append(_error(em(bits, cell.channel), truth))
            kept.append(np.packbits(bits, axis=1))
    np.save(reports, np.array(kept))
    return Ours(np.array(unbiased), np.array(fitted), np.array(likeliest))


def _error(shares: _Floats, truth: _Floats) -> float:
    return float(((shares - truth) ** 2).sum())


def peers(python: str, asked: list[dict[str, object]]) -> tuple[dict[str, str], list[dict[str, _Floats]]]:
    """The packages' versions, and each cell's errors by method."""
    worker = Path(__file__).with_name("peers_worker.py")
    done = subprocess.run([python, str(worker)], input=json.dumps({"cells": asked}), text=True, stdout=subprocess.PIPE, check=True)
    versions, *found = [json.loads(line) for line in done.stdout.splitlines()]
    return versions, [{method: np.array(values) for method, values in cell.items()} for cell in found]


def surplus(ours: _Floats, theirs: _Floats, paired: bool = True) -> tuple[float, float]:
    """How much larger our mean is, relative to theirs, and the standard error of that; paired: run i is of the same reports."""
    mean = float(theirs.mean())
    if paired:
        gaps = ours - theirs
        return float(gaps.mean()) / mean, float(gaps.std(ddof=1)) / math.sqrt(len(gaps)) / mean
    return float(ours.mean()) / mean - 1, math.hypot(_spread(ours) / mean, _spread(theirs) / mean)


def _spread(values: _Floats) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def row(cell: Cell, ours: Ours, theirs: dict[str, _Floats]) -> str:
    same = [method for method in theirs if method.startswith(SAME_REPORTS)]
    decoder, other = (min(methods, key=lambda m: float(theirs[m].mean())) for methods in (same, theirs.keys() - same))
    values = [
        cell.truth,
        str(len(cell.counts)),
        cell.name,
        str(cell.channel.d),
        _times_1e4(cell.theory),
        f"{ours.unbiased.mean() / cell.theory:.3f} ± {_spread(ours.unbiased) / cell.theory:.3f}",
        _times_1e4(ours.adjusted.mean()),
        _times_1e4(ours.em.mean()),
        _percent(*surplus(ours.adjusted, ours.em)),
        f"{_times_1e4(theirs[decoder].mean())} {decoder}",
        _percent(*surplus(ours.adjusted, theirs[decoder])),
        f"{_times_1e4(theirs[other].mean())} {other}",
        _percent(*surplus(ours.adjusted, theirs[other], paired=False)),
    ]
    return "| " + " | ".join(values) + " |"


def details(cell: Cell, ours: Ours, theirs: dict[str, _Floats], methods: list[str]) -> str:
    values = [_times_1e4(theirs[method].mean()) for method in methods]
    return "| " + " | ".join([cell.truth, str(len(cell.counts)), cell.name, _times_1e4(ours.adjusted.mean()), *values]) + " |"


def _times_1e4(value: float) -> str:
    return f"{1e4 * value:.4g}"


def _percent(value: float, error: float) -> str:
    return "0" if value == error == 0 or max(abs(value), error) < 5e-5 else f"{100 * value:+.2f} ± {100 * error:.2f}%"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=".venv-peers/bin/python", help="of the peers' environment")
    parser.add_argument("--share-of-runs", type=float, default=1.0)
    parser.add_argument("--truth", action="append", choices=("zipf", "uniform"))
    arguments = parser.parse_args()
    rng, table = np.random.default_rng(20250901), list(cells(arguments.truth or ["zipf", "uniform"]))
    with tempfile.TemporaryDirectory() as folder:
        found, asked = [], []
        for index, cell in enumerate(table):
            k = len(cell.counts)
            runs, peer_runs = (max(3, round(arguments.share_of_runs * most[k])) for most in (RUNS, PEER_RUNS))
            file = Path(folder) / f"{index}.npy"
            found.append(measure(cell, runs, peer_runs, file, rng))
            slow = min(SLOW_RUNS, peer_runs)
            epsilon = EPSILONS[cell.name]
            asked.append({"k": k, "epsilon": epsilon, "counts": cell.counts.tolist(), "slow_runs": slow, "reports": str(file)})
        versions, theirs = peers(arguments.python, asked)
    print(datetime.date.today().isoformat(), *(f"{package} {version}" for package, version in versions.items()), "\n", sep="  ")
    heads = (
        "truth",
        "k",
        "epsilon",
        "d",
        "theory",
        "unbiased / theory",
        "adjusted",
        "EM",
        "adjusted against EM",
        "best of the same reports",
        "against it",
        "best of its own reports",
        "against it",
    )
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    print("\n".join(map(row, table, found, theirs)), "\n")
    methods = list(theirs[0])
    print("| truth | k | epsilon | adjusted | " + " | ".join(methods) + " |\n" + "|---" * (4 + len(methods)) + "|")
    print("\n".join(details(*each, methods) for each in zip(table, found, theirs, strict=True)))


if __name__ == "__main__":
    main()
