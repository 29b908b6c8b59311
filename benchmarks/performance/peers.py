"""Coins and counts beside packages that people use, each in its own process; they are in an environment of their own, as is Datasette."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks.performance.coins import toss
from benchmarks.performance.line import Line, Took

from deniable.device.entropy import keyed_words
from deniable.device.randomize import randomize
from deniable.mechanism import Channel
from deniable.wire import planes

PYTHON = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"
MISSING = "make bench NAME=peers sets up what it is compared with"
WORKER = Path(__file__).with_name("peers_worker.py")
EPSILON = 1.0


def missing() -> str:
    """What a line says that needs the packages, where they are not there; nothing where they are."""
    return "" if PYTHON.exists() else MISSING


class Peers:
    """The packages' process, asked by a line of JSON at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([PYTHON, WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def fastest(self, task: str, k: int, n: int) -> str:
        """The one that takes least of the processor for n reports of a task, "toss" or "count", the second time: some compile first."""
        names = self._ask(task=task, k=k)
        return min(names, key=lambda name: [self.took(task, k, n, name).cpu for _ in range(2)][1])

    def took(self, task: str, k: int, n: int, name: str) -> Took:
        return Took(*self._ask(task=task, k=k, n=n, name=name, epsilon=EPSILON))

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

    def _ask(self, **asked: str | int | float) -> list[str]:
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        return list(json.loads(self._process.stdout.readline()))


def shares(octets: planes.Octets, channel: Channel) -> np.ndarray:
    """Unbiased shares of all options from the packed bits of all reports."""
    rates = planes.ones(octets, channel.k) / len(octets)
    return np.asarray((rates - float(channel.phi)) / float(channel.theta - channel.phi))


def lines(quick: bool) -> Iterator[Line]:
    away = missing()
    peers = None if away else Peers()
    try:
        for name, task, k, n, target in (
            ("coins of 1 million yes/no answers", "toss", 2, 1_000_000, "<= 0.05"),
            ("coins of 100,000 answers of 64 options", "toss", 64, 100_000, "<= 0.333"),
            ("shares of 8 options from 1 million reports", "count", 8, 1_000_000, "<= 0.02"),
        ):
            n = n // 10 if quick else n
            channel = Channel.for_epsilon(EPSILON, k)
            bits = randomize(channel, np.arange(n if task == "count" else 0) % k, keyed_words())
            octets = np.packbits(bits, axis=1)
            fastest = peers.fastest(task, k, n // 50) if peers else "the fastest package"
            yield Line(
                name if not quick else f"{name}, a tenth of them",
                target,
                (lambda channel=channel, n=n: toss(channel, n)) if task == "toss" else (lambda o=octets, c=channel: shares(o, c)),  # type: ignore[misc]
                (lambda peers=peers, task=task, k=k, n=n, fastest=fastest: peers.took(task, k, n, fastest)) if peers else 0.0,  # type: ignore[misc]
                fastest,
                rounds=3,
                missing=away,
            )
    finally:
        if peers:
            peers.close()
