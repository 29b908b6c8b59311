"""A bundle is written as it goes: four times as many records take hardly more memory."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ONE_THREAD = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # others wait for each other where the machine is busy
SCRIPT = """
import io, sys, tempfile
import numpy as np
from deniable.bundle import Bundle, CountedRecords
from deniable.survey import Survey
from deniable.wire.part import Part
n, whole = int(sys.argv[1]), sys.argv[2] == "whole"
questions = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(20)]
KEYS = {"deniable": 1, "batch": 1, "accept_small_batches": True, "id": "s", "title": "T", "about": "A.", "epsilon": 8}
survey = Survey.from_dict({**KEYS, "questions": questions})
file = tempfile.TemporaryFile()
for _ in range(0, n, 50_000):
    bits = np.zeros((50_000, 24), dtype=bool)
    bits[:, :20] = np.random.default_rng().integers(0, 2, (50_000, 20))
    file.write(np.packbits(bits, axis=1).tobytes())
counted = CountedRecords(survey, {Part(): n}, file)
kept = [rows.astype(float) for rows in counted.rows()] if whole else None
bundle = Bundle(counted)
for name in ("rows.csv", "rows.parquet", "rows.sav", "rows.dta", "rows.xlsx", "estimates.csv"):
    with tempfile.TemporaryFile() as out:
        bundle.write(name, out)
(peak,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]  # of this program, not of what started it
print(int(peak.split()[1]) >> 10)
"""


def megabytes(n: int, how: str = "streamed") -> int:
    """Of memory at most while the rows of n records of 20 bits are written in all formats."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(n), how], check=True, capture_output=True, text=True, env=ONE_THREAD)
    return int(done.stdout)


@pytest.mark.slow
def test_more_records_take_hardly_more_memory_and_a_table_in_memory_would_be_found() -> None:
    small, large, whole = megabytes(100_000), megabytes(250_000), megabytes(250_000, "whole")
    assert large < 300
    assert large - small < 15
    assert whole - large > 15
