"""The process that writes a download takes the same memory, however many records there are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.api import reports
from deniable_server.results import bundles, external_sort
from deniable_server.store import open_store
from deniable_server.store.sql import tallies
from deniable_server.web.outlet import Outlet

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux says how much memory was used"),
]

SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "batch": 1,
        "accept_small_batches": True,
        "id": "big",
        "title": "T",
        "about": "A.",
        "epsilon": 8,
        "questions": [{"id": f"q{number}", "text": "?", "type": "yes_no"} for number in range(20)],
    }
)
N = int(os.environ.get("DENIABLE_RECORDS", "500000"))
TIMES = int(os.environ.get("DENIABLE_TIMES", "3"))
SUBMISSION = 50_000
SLACK = 1 << 20  # bytes
FILES = ("rows.csv", "rows.parquet", "reports", "reports?form=arrow", "rows.sav", "rows.dta")
IN_SUITE = 4  # files; the others are made of the same pieces


def fill(db: Path, records: int) -> Path:
    rng, store = np.random.default_rng(1), open_store(db)
    store.surveys.publish(SURVEY)
    for _ in range(records // SUBMISSION):
        packed = np.packbits(rng.random((SUBMISSION, 20)) < 0.5, axis=1).tobytes()
        store.submissions.add("big", Submission(os.urandom(16), SURVEY.digest, SUBMISSION, packed, mode="organisation"))
    store.close()
    return db


def write(db: Path, name: str) -> None:
    store = open_store(db, writing=False)
    with create_app(Config(db, "x" * 40), store).test_request_context():
        outlet = Outlet()
        if name.startswith("reports"):
            reports.make(store, "big", name.partition("form=")[2] or reports.PACKED, "", "", outlet)
        else:
            bundles.make(store, "big", name, bundles.PROPOSED, outlet)
        outlet.discard()
    store.close()


def most(empty: Path, db: Path, name: str, whole: bool) -> int:
    """Returns the bytes of memory that a download takes at most beyond the same download without records, in a new process.

    With `whole`, records are read and sorted all at once.
    """
    if whole:
        external_sort.AT_ONCE = external_sort.AT_ONCE_BYTES = tallies.READ_BYTES = 1 << 40
    write(empty, name)
    Path("/proc/self/clear_refs").write_text("5")  # the most is counted from here on
    before = _peak()
    write(db, name)
    return _peak() - before


def _peak() -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) << 10


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[int, int]]:
    """Returns the memory that a download of N records takes, and of TIMES as many."""
    folder = tmp_path_factory.mktemp("memory")
    empty, few, many = (fill(folder / f"{n}.db", n) for n in (0, N, TIMES * N))

    def both(name: str, *, whole: bool = False) -> tuple[int, int]:
        with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as new:
            small, large = (new.submit(most, empty, db, name, whole).result() for db in (few, many))
        print(f"{name}: {small / 1e6:.1f} MB for {N:,} records, {large / 1e6:.1f} MB for {TIMES * N:,}")
        return small, large

    return both


@pytest.mark.parametrize("name", FILES if "DENIABLE_RECORDS" in os.environ else FILES[:IN_SUITE])
def test_a_download_of_many_records_takes_as_much_memory_as_one_of_few(grown: Callable[..., tuple[int, int]], name: str) -> None:
    small, large = grown(name)
    assert large < 1.25 * small + SLACK


def test_records_that_are_sorted_all_at_once_would_take_more(grown: Callable[..., tuple[int, int]]) -> None:
    small, large = grown("reports", whole=True)
    assert large > 1.25 * small + SLACK
