"""Tallies count pairs of bits, add up, and come back from bytes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray

from deniable.wire import planes
from deniable.wire.tally import Tally

Bits = NDArray[np.bool_]
some_bits = npst.arrays(np.bool_, st.tuples(st.integers(0, 40), st.just(7)))


def counted_one_by_one(bits: Bits) -> list[list[int]]:
    width = bits.shape[1]
    return [[sum(bool(row[i]) and bool(row[j]) for row in bits) for j in range(width)] for i in range(width)]


@settings(deadline=None)
@given(some_bits)
def test_every_pair_is_counted_as_by_hand(bits: Bits) -> None:
    counted = Tally.from_bits(bits)
    assert counted.n == len(bits)
    assert counted.pairs.dtype == np.int64
    assert counted.pairs.tolist() == counted_one_by_one(bits)
    assert counted.ones.tolist() == bits.sum(axis=0).tolist()


@pytest.mark.slow
@settings(deadline=None)
@given(some_bits, some_bits)
def test_the_tally_of_two_parts_is_their_sum(one: Bits, other: Bits) -> None:
    together = Tally.from_bits(np.concatenate([one, other]))
    added = Tally.from_bits(one) + Tally.from_bits(other)
    assert (added.n, added.pairs.tolist()) == (together.n, together.pairs.tolist())
    nothing = Tally.empty(7) + Tally.from_bits(one)
    assert (nothing.n, nothing.pairs.tolist()) == (len(one), Tally.from_bits(one).pairs.tolist())


@settings(deadline=None)
@given(some_bits, some_bits)
@pytest.mark.slow
def test_what_is_taken_out_again_leaves_no_trace(one: Bits, other: Bits) -> None:
    left = Tally.from_bits(np.concatenate([one, other])) - Tally.from_bits(other)
    assert (left.n, left.to_bytes()) == (len(one), Tally.from_bits(one).to_bytes())


@settings(deadline=None)
@given(some_bits)
def test_a_tally_comes_back_from_its_bytes(bits: Bits) -> None:
    counted = Tally.from_bits(bits)
    raw = counted.to_bytes()
    assert len(raw) == 8 * 7 * 8 // 2
    back = Tally.from_bytes(counted.n, 7, raw)
    assert (back.n, back.pairs.tolist()) == (counted.n, counted.pairs.tolist())


def test_bytes_are_the_upper_triangle_row_by_row_in_little_endian() -> None:
    pairs = np.array([[5, 2], [2, 3]], dtype=np.int64)
    assert Tally(6, pairs).to_bytes() == b"".join(value.to_bytes(8, "little") for value in (5, 2, 3))


def test_bytes_of_another_size_are_no_tally() -> None:
    with pytest.raises(ValueError, match="shape"):
        Tally.from_bytes(1, 2, bytes(16))


def test_counts_beyond_32_bits_survive_bytes_and_sums() -> None:
    large = Tally(2**40, np.full((3, 3), 2**40, dtype=np.int64))
    doubled = large + Tally.from_bytes(2**40, 3, large.to_bytes())
    assert doubled.n == 2**41
    assert (doubled.pairs == 2**41).all()


@pytest.mark.parametrize("bits", [1, 8, 20])
@pytest.mark.parametrize("n", [planes.FEW, planes.FEW + 1, planes._MOST + planes.FEW + 1, 2 * planes._MOST + 17])
def test_many_reports_are_counted_as_few_are(n: int, bits: int) -> None:
    octets = np.random.default_rng(n).integers(0, 256, (n, -(-bits // 8)), dtype=np.uint8)
    counted = Tally.from_records(octets.tobytes(), bits)
    few = [Tally.from_records(octets[first : first + 100].tobytes(), bits) for first in range(0, n, 100)]
    assert (counted.n, counted.to_bytes()) == (n, sum(few, Tally.empty(bits)).to_bytes())
    assert counted.ones.tolist() == planes.ones(octets, bits).tolist() == np.unpackbits(octets, axis=1, count=bits).sum(axis=0).tolist()
    assert (counted.pairs == counted.pairs.T).all()


def test_pairs_of_a_wide_survey_are_counted_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    n, bits = planes.FEW + 77, 300
    monkeypatch.setattr(planes, "_TILE", 100 * 34)  # planes of 34 words: three tiles
    octets = np.random.default_rng(5).integers(0, 256, (n, -(-bits // 8)), dtype=np.uint8)
    unpacked = np.unpackbits(octets, axis=1, count=bits).astype(np.float64)
    assert np.array_equal(Tally.from_records(octets.tobytes(), bits).pairs, (unpacked.T @ unpacked).astype(np.int64))


@pytest.mark.parametrize("n", [1, 255 * 8, 255 * 8 + 1, planes._MOST, planes._MOST + planes.FEW + 1])
def test_no_count_overflows_where_every_bit_is_set(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planes, "_CHUNK_BYTES", 1 << 15)
    octets = np.full((n, 2), 255, dtype=np.uint8)
    assert (planes.ones(octets, 13) == n).all()
    assert (planes.pairs(octets, 13) == n).all()


def test_bits_and_records_give_one_tally() -> None:
    bits = np.random.default_rng(6).random((5000, 13)) < 0.4
    assert Tally.from_bits(bits).to_bytes() == Tally.from_records(np.packbits(bits, axis=1).tobytes(), 13).to_bytes()


def test_one_product_stays_where_float32_is_exact() -> None:
    assert planes.FEW <= 2**24
    assert np.float32(2**24) + np.float32(1) == np.float32(2**24)  # beyond, a count would stand still


def test_many_tallies_add_up_in_the_memory_of_one_and_stay_as_they_were() -> None:
    bits, width = np.random.default_rng(1).random((64, 90)) < 0.5, 90
    parts = [Tally.from_bits(part) for part in np.split(bits, 8)]
    before = [part.to_bytes() for part in parts]
    total = Tally.total(parts, width)
    assert (total.n, total.to_bytes()) == (64, Tally.from_bits(bits).to_bytes())
    assert [part.to_bytes() for part in parts] == before
    empty = Tally.total([], width)
    assert (empty.n, empty.to_bytes()) == (0, Tally.empty(width).to_bytes())

    def most(total: Callable[[Iterator[Tally]], Tally]) -> int:
        tracemalloc.start()
        try:
            total(Tally.empty(500) for _ in range(5))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert most(lambda tallies: Tally.total(tallies, 500)) < 2.1 * 500 * 500 * 8
    assert most(lambda tallies: sum(tallies, Tally.empty(500))) > 2.9 * 500 * 500 * 8, "the control"


def test_ones_are_a_copy() -> None:
    counted = Tally.from_bits(np.ones((3, 2), dtype=np.bool_))
    counted.ones[0] = 99
    assert counted.pairs[0, 0] == 3
