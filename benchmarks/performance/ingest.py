"""Single posts over HTTP: durable, beside the same that are only validated."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from statistics import median

from benchmarks.ingest import Poured, single_posts
from benchmarks.performance.line import Line


@cache
def poured(rounds: int) -> dict[str, list[Poured]]:
    return single_posts(rounds=rounds, seconds=2)


def share_of_validated(rounds: int) -> float:
    """The server's CPU a request that is only validated, for that of one that is stored, too."""
    stored, validated = (median(one.cpu_ms for one in poured(rounds)[name]) for name in ("stored", "validated, not stored"))
    return validated / stored


def tail(rounds: int) -> float:
    """p99 / p50 of the time that one durable post takes."""
    return median(one.quantile(0.99) / one.quantile(0.5) for one in poured(rounds)["stored"])


def lines(quick: bool) -> Iterator[Line]:
    rounds = 2 if quick else 5
    beside = "the same, validated and not stored"
    yield Line("single durable posts, 32 connections", ">= 0.7", lambda: share_of_validated(rounds), 1.0, beside, unit="times", rounds=1)
    yield Line("p99 of single durable posts", "<= 5", lambda: tail(rounds), 1.0, "p50", unit="times", rounds=1)
