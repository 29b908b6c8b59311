"""Runs inside the peers' environment, for benchmarks/peers.py: true answers in, squared errors of each package out.

Standard input: JSON {"cells": [{"k", "epsilon", "counts", "slow_runs", "reports"}]}; counts: how many respondents hold each category;
reports: a file of bits, shape (runs, n, k), packed along the last axis. Standard output: one JSON line with the versions, then one a cell
{method: [sum of squared errors of the shares, a number for each run]}. Every package tosses its own coins through its own client and
estimates by its own code, where it has one. Only for Subset Selection, which multi-freq-ldpy has too, are the reports those it is given.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import sys
import warnings
from collections.abc import Callable

import diffprivlib.mechanisms as diffprivlib
import numpy as np
import opendp.prelude as opendp
from multi_freq_ldpy.pure_frequency_oracles import GRR, SS
from pure_ldp import frequency_oracles as pure

PACKAGES = ("pure-ldp", "multi-freq-ldpy", "opendp", "diffprivlib")
Estimates = dict[str, np.ndarray]
"""Each method's estimated shares, shape (k,)."""


def both(server, k: int, n: int) -> list[np.ndarray]:
    """pure-ldp's unbiased estimate, and its nearest point of the simplex."""
    return [server.estimate_all(range(1, k + 1), suppress_warnings=True, normalization=kind) / n for kind in (0, 2)]


def pure_ldp(answers: np.ndarray, k: int, epsilon: float) -> Estimates:
    hadamard = pure.HadamardResponseServer(epsilon, k)
    oracles = {
        "k-RR": (pure.DEClient(epsilon, k), pure.DEServer(epsilon, k)),
        "OUE": (pure.UEClient(epsilon, k, use_oue=True), pure.UEServer(epsilon, k, use_oue=True)),
        "Hadamard": (pure.HadamardResponseClient(epsilon, k, hadamard.get_hash_funcs()), hadamard),
    }
    found = {}
    for name, (client, server) in oracles.items():
        for answer in answers.tolist():
            server.aggregate(client.privatise(answer + 1))
        found[f"pure-ldp {name}"], found[f"pure-ldp {name} simplex"] = both(server, k, len(answers))
    return found


def subset_selection(bits: np.ndarray, epsilon: float) -> Estimates:
    """multi-freq-ldpy's two estimates from reports that are not its own; it has the same d and the same chances to 1e-9."""
    n, k = bits.shape
    subsets = np.nonzero(bits)[1].reshape(n, -1)
    if subsets.shape[1] != SS.SS_Client(0, k, epsilon).size:
        raise SystemExit(f"multi-freq-ldpy has another d at k = {k}, epsilon = {epsilon}")
    return {
        "multi-freq-ldpy SS": SS.SS_Aggregator_MI(subsets, k, epsilon),
        "multi-freq-ldpy SS IBU": SS.SS_Aggregator_IBU(subsets, k, epsilon),
    }


def multi_freq_ldpy(answers: np.ndarray, k: int, epsilon: float) -> Estimates:
    single = [GRR.GRR_Client(answer, k, epsilon) for answer in answers.tolist()]
    return {"multi-freq-ldpy k-RR IBU": GRR.GRR_Aggregator_IBU(single, k, epsilon)}


def k_ary(reports: list[int], k: int, epsilon: float) -> np.ndarray:
    """The unbiased shares of k-ary randomized response, for the packages that leave them to their users."""
    own = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    other = (1 - own) / (k - 1)
    return (np.bincount(reports, minlength=k) / len(reports) - other) / (own - other)


def diffprivlib_response(answers: np.ndarray, k: int, epsilon: float) -> Estimates:
    if k == 2:
        mechanism = diffprivlib.Binary(epsilon=epsilon, value0="0", value1="1")
    else:
        pairs = [(str(i), str(j), 1) for i in range(k) for j in range(i)]
        mechanism = diffprivlib.ExponentialCategorical(epsilon=epsilon, utility_list=pairs)
    return {"diffprivlib k-RR": k_ary([int(mechanism.randomise(str(answer))) for answer in answers.tolist()], k, epsilon)}


def opendp_response(answers: np.ndarray, k: int, epsilon: float) -> Estimates:
    own = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    response = opendp.m.make_randomized_response(categories=list(range(k)), prob=own)
    return {"opendp k-RR": k_ary([response(answer) for answer in answers.tolist()], k, epsilon)}


FAST: tuple[Callable[..., Estimates], ...] = (pure_ldp, multi_freq_ldpy, diffprivlib_response)


def errors(cell: dict) -> dict[str, list[float]]:
    k, epsilon = cell["k"], cell["epsilon"]
    answers = np.repeat(np.arange(k), cell["counts"])
    truth = np.array(cell["counts"]) / len(answers)
    found: dict[str, list[float]] = {}
    for run, packed in enumerate(np.load(cell["reports"])):
        estimates = subset_selection(np.unpackbits(packed, axis=1, count=k), epsilon)
        for package in (*FAST, opendp_response) if run < cell["slow_runs"] else FAST:
            estimates |= package(answers, k, epsilon)
        for method, shares in estimates.items():
            found.setdefault(method, []).append(float(((np.asarray(shares) - truth) ** 2).sum()))
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    opendp.enable_features("contrib")
    asked = json.load(sys.stdin)
    print(json.dumps({package: importlib.metadata.version(package) for package in PACKAGES}), flush=True)
    for cell in asked["cells"]:
        print(json.dumps(errors(cell)), flush=True)


if __name__ == "__main__":
    main()
