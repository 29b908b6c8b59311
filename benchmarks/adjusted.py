"""Errors of the adjusted shares, beside the unbiased ones, the nearest possible shares, and maximum likelihood (EM).

Prints the mean over simulated surveys of 1e4 times the sum of squared errors against the respondents' true shares. The last column is how
much `adjusted` is above EM in the same surveys. benchmarks/peers.py has always the same respondents, and other packages.
Run: make bench NAME=adjusted ARGS="--runs 100 --em-runs 10 --truth zipf --k 64"
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
from benchmarks.peers import EPSILONS, N, em
from numpy.typing import NDArray

from deniable.device.randomize import randomize
from deniable.estimate.moments.shrinkage import _nearest_on_simplex, adjusted
from deniable.mechanism import Channel

TRUTHS: dict[str, Callable[[int, np.random.Generator], NDArray[np.float64]]] = {
    "zipf": lambda k, rng: 1 / np.arange(1, k + 1),
    "zipf2": lambda k, rng: 1 / np.arange(1, k + 1) ** 2,
    "uniform": lambda k, rng: np.ones(k),
    "dirichlet": lambda k, rng: rng.dirichlet(np.full(k, 0.5)),
}


def errors(channel: Channel, truth: NDArray[np.float64], rng: np.random.Generator, with_em: bool) -> list[float]:
    categories = rng.choice(channel.k, N, p=truth / truth.sum())
    bits = randomize(channel, categories, lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32))
    ones, phi, theta = bits.sum(axis=0), float(channel.phi), float(channel.theta)
    unbiased = (ones / N - phi) / (theta - phi)
    estimates = [unbiased, _nearest_on_simplex(unbiased), adjusted(ones, N, phi, theta)]
    if with_em:
        estimates.append(em(bits, channel))
    shares = np.bincount(categories, minlength=channel.k) / N
    return [1e4 * float(((estimate - shares) ** 2).sum()) for estimate in estimates]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--em-runs", type=int, default=0, help="of these, how many with EM, about a second each")
    parser.add_argument("--truth", choices=TRUTHS, default="zipf")
    parser.add_argument("--k", type=int, default=64)
    arguments = parser.parse_args()
    rng = np.random.default_rng(20240601)
    print(f"{arguments.truth}, k = {arguments.k}, n = {N:,}: sum of squared errors x 1e4, mean of {arguments.runs} runs")
    print(f"{'epsilon':>8} {'d':>3} {'unbiased':>9} {'simplex':>9} {'adjusted':>9} {'(error)':>8} {'EM':>9} {'above EM':>16}")
    for name, epsilon in EPSILONS.items():
        channel = Channel.for_epsilon(epsilon, arguments.k)
        truth = TRUTHS[arguments.truth]
        rows = [errors(channel, truth(arguments.k, rng), rng, run < arguments.em_runs) for run in range(arguments.runs)]
        unbiased, simplex, ours = np.mean([row[:3] for row in rows], axis=0)
        uncertainty = np.std([row[2] for row in rows]) / math.sqrt(len(rows))
        peer = beside_em(np.array([row[2:] for row in rows if len(row) > 3])) if arguments.em_runs else f"{'-':>9} {'-':>16}"
        print(f"{name:>8} {channel.d:>3} {unbiased:9.4g} {simplex:9.4g} {ours:9.4g} {uncertainty:8.2g} {peer}", flush=True)


def beside_em(rows: NDArray[np.float64]) -> str:
    """EM's mean, and by how much ours is above it, in per cent of it; rows: ours and EM's, shape (runs, 2)."""
    mean, above = rows[:, 1].mean(), rows[:, 0] - rows[:, 1]
    percent = f"{100 * above.mean() / mean:+.2f} +- {100 * above.std() / math.sqrt(len(rows)) / mean:.2f}%"
    return f"{mean:9.4g} {percent:>16}"


if __name__ == "__main__":
    main()
