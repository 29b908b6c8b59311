"""Records are sorted by their bytes in the same memory, however many there are and however alike they are."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from deniable_server.results import external_sort


def alike(size: int, n: int) -> bytes:
    """Records of which half are zero, and the others differ in their last byte or anywhere."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 256, (n, size), dtype=np.uint8) * (rng.integers(0, 4, (n, 1), dtype=np.uint8) == 0)
    rows[:, -1] |= rng.integers(0, 2, n, dtype=np.uint8)
    return rows.tobytes()


def each(packed: bytes, size: int) -> list[bytes]:
    return [packed[at : at + size] for at in range(0, len(packed), size)]


def pieces(packed: bytes, length: int) -> Iterator[bytes]:
    return (packed[at : at + length] for at in range(0, len(packed), length))


@pytest.mark.parametrize("size", [1, 3, 8, 9, 255])
@pytest.mark.parametrize("n", [0, 1, 40, 700])
def test_records_that_do_not_fit_together_come_sorted(size: int, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_sort, "AT_ONCE", 32)
    monkeypatch.setattr(external_sort, "AT_ONCE_BYTES", 2000)
    packed = alike(size, n)
    found = list(external_sort.sorted_records(pieces(packed, 7 * size), size))
    assert each(b"".join(found), size) == sorted(each(packed, size))
    assert all(len(chunk) <= min(32 * size, 2000) for chunk in found)


def most(n: int) -> int:
    """Bytes of memory at most while n records of 3 bytes are sorted, most of which begin alike."""
    packed = alike(3, n)
    tracemalloc.start()
    try:
        for _ in external_sort.sorted_records(pieces(packed, 3000), 3):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_four_times_as_many_take_hardly_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_sort, "AT_ONCE", 20_000)
    most(80_000)  # with what is loaded once
    few, many = most(80_000), most(320_000)
    assert many < 1.3 * few
    monkeypatch.setattr(external_sort, "AT_ONCE", 1 << 20)
    assert most(320_000) > 3 * many, "the control: sorted all at once"
