"""One piece of work in a process of its own: memory that something else has warmed makes it look faster, by up to three times.

Run: python -m benchmarks.performance.fresh NAME N
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.performance.line import Took

QUESTIONS = 20
Work = Callable[[], Any]


def in_fresh_process(name: str, n: int) -> Took:
    """Does the work NAME once, with n rows, reports or records, in a process of its own."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.performance.fresh", name, str(n)], check=True, capture_output=True, text=True)
    return Took(**json.loads(done.stdout))


def _words(n: int) -> Any:
    from benchmarks.performance.sdk import answers

    return answers(n)


def _perturb(rows: Any) -> Work:
    """Reads, encodes and randomizes rows, as `submit_many` does before it sends them."""
    from benchmarks.performance.coins import yes_no

    from deniable.delivery.jobs import rows_at_once
    from deniable.device.perturb import perturb_many
    from deniable.device.sources import as_rows
    from deniable.wire.public import Public

    survey = yes_no(QUESTIONS)
    return lambda: [batch.size for batch in perturb_many(survey, as_rows(rows), Public(), lambda batch: batch, size=rows_at_once(survey))]


def _dicts(n: int, folder: Path) -> Work:
    return _perturb(_words(n).to_dict("records"))


def _frame(n: int, folder: Path) -> Work:
    return _perturb(_words(n))


def _csv(n: int, folder: Path) -> Work:
    _words(n).to_csv(folder / "rows.csv", index=False)
    return _perturb(folder / "rows.csv")


def _read_csv(n: int, folder: Path) -> Work:
    import pandas as pd

    _words(n).to_csv(folder / "rows.csv", index=False)
    return lambda: pd.read_csv(folder / "rows.csv")


def _parquet(n: int, folder: Path) -> Work:
    _words(n).to_parquet(folder / "rows.parquet")
    return _perturb(folder / "rows.parquet")


def _read_parquet(n: int, folder: Path) -> Work:
    import pandas as pd

    _words(n).to_parquet(folder / "rows.parquet")
    return lambda: pd.read_parquet(folder / "rows.parquet")


def _wide_sets(k: int) -> Callable[[int, Path], Work]:
    def prepare(n: int, folder: Path) -> Work:
        from deniable.device.entropy import keyed_words
        from deniable.device.perturb import WIDE_BLOCK
        from deniable.device.randomize import randomize
        from deniable.mechanism import Channel

        channel, categories = Channel.for_epsilon(1.0, k), np.zeros(WIDE_BLOCK, dtype=np.int16)
        words = keyed_words()
        return lambda: [len(randomize(channel, categories[: n - start], words)) for start in range(0, n, WIDE_BLOCK)]

    return prepare


def _partition(k: int) -> Callable[[int, Path], Work]:
    def prepare(n: int, folder: Path) -> Work:
        from deniable.mechanism import Channel

        d, keys = Channel.for_epsilon(1.0, k).d, np.random.default_rng(1).random((min(n, 1 << 12), k))
        return lambda: [len(np.partition(keys[: n - start], d, axis=1)) for start in range(0, n, len(keys))]

    return prepare


WORKS: dict[str, Callable[[int, Path], Work]] = {
    "dicts": _dicts,
    "frame": _frame,
    "csv": _csv,
    "read_csv": _read_csv,
    "parquet": _parquet,
    "read_parquet": _read_parquet,
    **{f"sets of {k}": _wide_sets(k) for k in (256, 1_024)},
    **{f"partition of {k}": _partition(k) for k in (256, 1_024)},
}


def main(name: str, n: int) -> None:
    """Prints the time and the page faults of one piece of work, after an eighth of it, so that nothing is imported or planned in it."""
    with tempfile.TemporaryDirectory() as folder:
        WORKS[name](max(1, n // 8), Path(folder))()
        work = WORKS[name](n, Path(folder))
        faults, processor, clock = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, time.process_time(), time.perf_counter()
        work()
        cpu, wall = 1_000 * (time.process_time() - processor), 1_000 * (time.perf_counter() - clock)
        print(json.dumps({"cpu": cpu, "wall": wall, "faults": resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
