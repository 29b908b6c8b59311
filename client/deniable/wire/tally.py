"""Tally: the sufficient statistic of a survey's reports, n and how often each pair of bits was set together.

Tallies of disjoint reports add up; the diagonal counts each bit alone. Marginals, means, cross tables and all their errors follow from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.wire import planes

_CHUNK = 1 << 18  # pairs checked together, to fit into a cache


@dataclass(frozen=True)
class Tally:
    """n reports; pairs[i, j], shape (bits, bits), int64: how many had stored bits i and j both set."""

    n: int
    pairs: NDArray[np.int64]

    @classmethod
    def empty(cls, bits: int) -> Tally:
        """Returns the tally of no reports."""
        return cls(0, np.zeros((bits, bits), dtype=np.int64))

    @classmethod
    def from_bits(cls, bits: NDArray[np.bool_]) -> Tally:
        """Counts unpacked reports, shape (n, bits)."""
        n, width = bits.shape
        return cls(n, planes.pairs(np.packbits(bits, axis=1), width))

    @classmethod
    def from_records(cls, records: bytes, bits: int) -> Tally:
        """Counts concatenated packed records of `bits` bits each, checked before by `possible.check`."""
        octets = np.frombuffer(records, dtype=np.uint8).reshape(-1, -(-bits // 8))
        return cls(len(octets), planes.pairs(octets, bits))

    @classmethod
    def total(cls, tallies: Iterable[Tally], bits: int) -> Tally:
        """Returns the sum of tallies that come one after the other, in the memory of one of them."""
        n, pairs = 0, np.zeros((bits, bits), dtype=np.int64)
        for tally in tallies:
            n, pairs = n + tally.n, np.add(pairs, tally.pairs, out=pairs)
            del tally  # before the next is created
        return cls(n, pairs)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.n + other.n, self.pairs + other.pairs)

    def __sub__(self, other: Tally) -> Tally:
        """Subtracts reports that are in this tally."""
        return Tally(self.n - other.n, self.pairs - other.pairs)

    @property
    def ones(self) -> NDArray[np.int64]:
        """How many reports had each stored bit set, shape (bits,)."""
        return np.diagonal(self.pairs).copy()

    @cached_property
    def extent(self) -> tuple[int, int]:
        """The least and the greatest count of a pair; there must be a bit."""
        return int(self.pairs.min()), int(self.pairs.max())

    @cached_property
    def contradiction(self) -> tuple[int, int] | None:
        """Two bits (or one twice) with counts that no reports can have, or None; counts are from 0 to n.

        Each bit was counted in all n reports, even if it was not asked. So if a have one bit and b the other, both bits are in
        max(0, a + b - n) to min(a, b) reports, and the counts are symmetric.
        """
        ones, step = np.diagonal(self.pairs).astype(np.int64), max(1, _CHUNK // len(self.pairs))
        for start in range(0, len(ones), step):
            here = slice(start, start + step)
            both, a = self.pairs[here], ones[here, None]
            wrong = (both > np.minimum(a, ones)) | (both < a + (ones - int(self.n))) | (both != self.pairs[:, here].T)
            if wrong.any():
                i, j = np.argwhere(wrong)[0].tolist()
                return start + i, j
        return None

    def to_bytes(self) -> bytes:
        """Returns the upper triangle, row by row, as little-endian 64-bit integers; n is stored separately."""
        return self.pairs[np.triu_indices(len(self.pairs))].astype("<i8").tobytes()

    @classmethod
    def from_bytes(cls, n: int, bits: int, raw: bytes) -> Tally:
        """Returns the inverse of `to_bytes`. Raises ValueError for another number of bytes."""
        return cls.from_triangle(n, bits, np.frombuffer(raw, dtype="<i8"))

    @classmethod
    def from_triangle(cls, n: int, bits: int, triangle: NDArray[np.int64]) -> Tally:
        """Returns a tally from the upper triangle of the pairs, row by row. Raises ValueError for another number of pairs."""
        whole = triangle.reshape(bits * (bits + 1) // 2)  # ValueError, with the shape, for another size
        return cls(n, whole.astype(np.int64, copy=False).take(_triangle_indices(bits)))


@lru_cache(maxsize=4)  # of some surveys, whose tallies are read often
def _triangle_indices(bits: int) -> NDArray[np.intp]:
    """Returns the index of each entry of a symmetric matrix in its upper triangle, row by row, shape (bits, bits)."""
    indices = np.zeros((bits, bits), dtype=np.intp)
    triangle = np.triu_indices(bits)
    indices[triangle] = indices.T[triangle] = np.arange(len(triangle[0]))
    return indices
