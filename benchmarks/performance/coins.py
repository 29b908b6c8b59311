"""Coins: exact, of the system's generator, beside what numpy needs for random numbers alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from benchmarks.performance.line import Line

from deniable.device.entropy import keyed_words
from deniable.device.perturb import BLOCK, perturb_one
from deniable.device.randomize import randomize_as_numbers
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.wire.public import Public

SETS = (
    "memory: of 26 ms for 64 options the words take 9, the check and remainders 4, and five passes over 64-bit numbers a draw most of the "
    "rest, the widening to 64 bits alone 2"
)
COINS, REPORTS = 10_000_000, 1_000_000
AT_ONCE = 1 << 16  # words, and rows of keys, that numpy is given


def yes_no(questions: int, epsilon: float = 8) -> Survey:
    asked = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(questions)]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": epsilon, "questions": asked})


def toss(channel: Channel, total: int) -> None:
    """`total` reports of one question, as many at once as a client takes."""
    categories, words = np.zeros(BLOCK, dtype=np.int8), keyed_words()
    for start in range(0, total, BLOCK):
        randomize_as_numbers(channel, categories[: total - start], words)


def raw_words() -> None:
    generator = np.random.Generator(np.random.PCG64())
    for start in range(0, COINS, AT_ONCE):
        generator.integers(0, 1 << 32, min(AT_ONCE, COINS - start), dtype=np.uint32)


def partition(k: int, d: int) -> None:
    """Random keys for all categories, drawn beforehand; the d lowest of each row."""
    keys = np.random.default_rng(1).random((AT_ONCE, k))
    for start in range(0, REPORTS, AT_ONCE):
        np.partition(keys[: REPORTS - start], d, axis=1)


def one_respondent() -> float:
    """Milliseconds of one respondent's answers to 20 questions, checked and randomized; the mean of many."""
    import time

    survey, answers = yes_no(20), {f"q{i}": "yes" for i in range(20)}
    before = time.process_time()
    for _ in range(300):
        perturb_one(answers, survey, Public())
    return 1000 * (time.process_time() - before) / 300


def lines(quick: bool) -> Iterator[Line]:
    pair = Channel.for_epsilon(1.0, 2)
    yield Line("coins of 10 million yes/no answers", "<= 0.6", lambda: toss(pair, COINS), raw_words, "PCG64, as many words of 32 bits")
    for k in (64, 8):
        channel = Channel.for_epsilon(1.0, k)
        yield Line(
            f"1 million reports of {k} options, {channel.d} of them in each",
            "<= 0.25",
            lambda channel=channel: toss(channel, REPORTS),  # type: ignore[misc]
            lambda k=k, d=channel.d: partition(k, d),  # type: ignore[misc]
            "numpy's partition of keys drawn beforehand",
            rounds=3,
            remark=SETS,
        )
    yield Line("one respondent, 20 questions", "<= 1", one_respondent, 1.0, "1 ms", rounds=3)
