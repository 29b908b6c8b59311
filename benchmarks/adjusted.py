"""How near to the truth the adjusted shares are, beside the unbiased ones and others that could be true.

Prints the mean over simulated surveys of 1e4 times the sum of squared errors against the respondents' true shares.
Run: python benchmarks/adjusted.py [--runs 100] [--em-runs 10] [--truth zipf]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deniable.device.randomize import randomize
from deniable.estimate.moments.shrinkage import _nearest_on_simplex, adjusted
from deniable.mechanism import Channel

K, N = 64, 10_000
EPSILONS = (("0.5", 0.5), ("ln 3", math.log(3)), ("2", 2.0), ("4", 4.0))
TRUTHS: dict[str, Callable[[np.random.Generator], NDArray[np.float64]]] = {
    "zipf": lambda rng: 1 / np.arange(1, K + 1),
    "zipf2": lambda rng: 1 / np.arange(1, K + 1) ** 2,
    "uniform": lambda rng: np.ones(K),
    "dirichlet": lambda rng: rng.dirichlet(np.full(K, 0.5)),
}


def em(bits: NDArray[np.bool_], channel: Channel, steps: int = 1000) -> NDArray[np.float64]:
    """Maximum likelihood from whole reports by expectation maximisation, from equal shares."""
    own, other = float(channel.theta) / channel.d, float(1 - channel.theta) / (channel.k - channel.d)
    likelihood = np.where(bits, own, other)
    shares = np.full(channel.k, 1 / channel.k)
    for _ in range(steps):
        shares = shares * ((1 / (likelihood @ shares)) @ likelihood) / len(bits)
    return shares


def errors(channel: Channel, truth: NDArray[np.float64], rng: np.random.Generator, with_em: bool) -> list[float]:
    categories = rng.choice(K, N, p=truth / truth.sum())
    bits = randomize(channel, categories, lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32))
    ones, phi, theta = bits.sum(axis=0), float(channel.phi), float(channel.theta)
    unbiased = (ones / N - phi) / (theta - phi)
    estimates = [unbiased, _nearest_on_simplex(unbiased), adjusted(ones, N, phi, theta)]
    if with_em:
        estimates.append(em(bits, channel))
    shares = np.bincount(categories, minlength=K) / N
    return [1e4 * float(((estimate - shares) ** 2).sum()) for estimate in estimates]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--em-runs", type=int, default=0, help="of these, how many with EM, about a second each")
    parser.add_argument("--truth", choices=TRUTHS, default="zipf")
    arguments = parser.parse_args()
    rng = np.random.default_rng(20240601)
    print(f"{arguments.truth}, k = {K}, n = {N:,}: sum of squared errors x 1e4, mean of {arguments.runs} runs")
    print(f"{'epsilon':>8} {'d':>3} {'unbiased':>9} {'simplex':>9} {'adjusted':>9} {'(error)':>8} {'EM':>9}")
    for name, epsilon in EPSILONS:
        channel = Channel.for_epsilon(epsilon, K)
        rows = [errors(channel, TRUTHS[arguments.truth](rng), rng, run < arguments.em_runs) for run in range(arguments.runs)]
        unbiased, simplex, ours = np.mean([row[:3] for row in rows], axis=0)
        uncertainty = np.std([row[2] for row in rows]) / math.sqrt(len(rows))
        peer = f"{np.mean([row[3] for row in rows if len(row) > 3]):9.2f}" if arguments.em_runs else f"{'-':>9}"
        print(f"{name:>8} {channel.d:>3} {unbiased:9.2f} {simplex:9.2f} {ours:9.2f} {uncertainty:8.2f} {peer}", flush=True)


if __name__ == "__main__":
    main()
