"""How long programs take to start: the processor's time of a process of its own."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.performance.line import Line

NUMPY = (
    "half of it is numpy, and half of that a second thread of its own, which looks for work before it sleeps: OPENBLAS_NUM_THREADS=1 "
    "saves a third, 0.28 to 0.19 s, where the processor is as fast as it may be"
)


def cpu_of(*words: str) -> float:
    """Seconds of the processor that a program takes, and those it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lines(quick: bool) -> Iterator[Line]:
    client = str(Path(sys.executable).with_name("deniable"))
    server = str(Path(sys.executable).with_name("deniable-server"))
    for name, words, most in (
        ("deniable --help", (client, "--help"), 0.3),
        ("deniable-server --help", (server, "--help"), 0.3),
        ("import deniable.estimate", (sys.executable, "-c", "import deniable.estimate"), 0.4),
        ("import deniable", (sys.executable, "-c", "import deniable"), 0.4),
    ):
        cpu_of(*words)
        yield Line(name, "<= 1", lambda words=words: cpu_of(*words), most, f"{most:g} s", "s", remark=NUMPY)  # type: ignore[misc]
