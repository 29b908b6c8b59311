"""Runs inside the peers' environment, for benchmarks/performance/peers.py: a line of JSON in, a line of JSON out.

{"task", "k"}: the names of what does that. {"task", "k", "n", "name", "epsilon"}: milliseconds of the processor and by the clock that it
takes for n reports; what it is given is made beforehand, and kept.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import opendp.prelude as opendp
from multi_freq_ldpy.pure_frequency_oracles import GRR, SS, UE
from pure_ldp import frequency_oracles as pure

Work = Callable[[], object]


def answers(n: int, k: int) -> list[int]:
    return (np.arange(n) % k).tolist()


def toss_pure_ldp(k: int, n: int, epsilon: float) -> Work:
    client = pure.DEClient(epsilon, k) if k == 2 else pure.UEClient(epsilon, k, use_oue=True)
    true = answers(n, k)
    return lambda: [client.privatise(answer + 1) for answer in true]


def toss_multi_freq(k: int, n: int, epsilon: float) -> Work:
    true = answers(n, k)
    return lambda: [GRR.GRR_Client(answer, k, epsilon) for answer in true]


def toss_multi_freq_subsets(k: int, n: int, epsilon: float) -> Work:
    true = answers(n, k)
    return lambda: [SS.SS_Client(answer, k, epsilon) for answer in true]


def toss_multi_freq_unary(k: int, n: int, epsilon: float) -> Work:
    true = answers(n, k)
    return lambda: [UE.UE_Client(answer, k, epsilon, True) for answer in true]


def toss_opendp(k: int, n: int, epsilon: float) -> Work:
    response = opendp.m.make_randomized_response_bool(prob=float(np.exp(epsilon) / (1 + np.exp(epsilon))))
    true = answers(n, k)
    return lambda: [response(answer == 1) for answer in true]


def count_pure_ldp(k: int, n: int, epsilon: float) -> Work:
    client = pure.DEClient(epsilon, k)
    reports = [client.privatise(answer + 1) for answer in answers(n, k)]

    def work() -> None:
        server = pure.DEServer(epsilon, k)
        for report in reports:
            server.aggregate(report)
        server.estimate_all(range(1, k + 1), suppress_warnings=True, normalization=0)

    return work


def count_multi_freq(k: int, n: int, epsilon: float) -> Work:
    reports = [GRR.GRR_Client(answer, k, epsilon) for answer in answers(n, k)]
    return lambda: GRR.GRR_Aggregator_MI(reports, k, epsilon)


def count_multi_freq_subsets(k: int, n: int, epsilon: float) -> Work:
    reports = np.array([SS.SS_Client(answer, k, epsilon) for answer in answers(n, k)])
    return lambda: SS.SS_Aggregator_MI(reports, k, epsilon)


YES_NO = {"pure-ldp, k-RR": toss_pure_ldp, "multi-freq-ldpy, k-RR": toss_multi_freq, "OpenDP, randomized response": toss_opendp}
SETS = {
    "pure-ldp, OUE": toss_pure_ldp,
    "multi-freq-ldpy, Subset Selection": toss_multi_freq_subsets,
    "multi-freq-ldpy, OUE": toss_multi_freq_unary,
}
COUNTS = {
    "pure-ldp, k-RR": count_pure_ldp,
    "multi-freq-ldpy, k-RR": count_multi_freq,
    "multi-freq-ldpy, Subset Selection": count_multi_freq_subsets,
}


def made(task: str, k: int) -> dict[str, Callable[[int, int, float], Work]]:
    """For more than two options only what reports a set of them, as we do, is compared when coins are tossed."""
    return COUNTS if task == "count" else YES_NO if k == 2 else SETS


@lru_cache
def work(task: str, k: int, n: int, name: str, epsilon: float) -> Work:
    return made(task, k)[name](k, n, epsilon)


def main() -> None:
    warnings.simplefilter("ignore")
    opendp.enable_features("contrib")
    for line in sys.stdin:
        asked = json.loads(line)
        if "n" not in asked:
            print(json.dumps(list(made(**asked))), flush=True)
            continue
        done = work(**asked)
        processor, clock = time.process_time(), time.perf_counter()
        done()
        print(json.dumps([1000 * (time.process_time() - processor), 1000 * (time.perf_counter() - clock)]), flush=True)


if __name__ == "__main__":
    main()
