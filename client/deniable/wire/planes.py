"""Bits of many records, counted without a byte for each: a plane for each stored bit, in which every record has one bit.

Counting a plane, or two of them together, is one instruction for 64 records (`np.bitwise_count`). Of a few hundred records a matrix product
counts pairs sooner. Both count the same whole numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FEW = 2048  # records up to which a product is faster; below 2^24, to where float32 counts exactly
_CHUNK_BITS = 1 << 25  # of records that are turned into planes together, so that these stay near the processor
_MOST = 1 << 16  # records of them
_TILE = 1 << 16  # words of 64 records that are held against each other at a time

Octets = NDArray[np.uint8]
Planes = NDArray[np.uint64]


def ones(octets: Octets, bits: int) -> NDArray[np.int64]:
    """How many records have each of their first `bits` bits set, shape (bits,). octets: packed records, shape (n, bytes of a record)."""
    found = np.zeros(bits, dtype=np.int64)
    for chunk in _chunks(octets, bits):
        found += np.bitwise_count(planes(chunk, bits)).sum(axis=1, dtype=np.int64)
    return found


def pairs(octets: Octets, bits: int) -> NDArray[np.int64]:
    """How many records have both of two bits set, shape (bits, bits); on the diagonal one bit alone."""
    found = np.zeros((bits, bits), dtype=np.int64)
    for chunk in _chunks(octets, bits):
        found += _product(chunk, bits) if len(chunk) <= FEW else _together(planes(chunk, bits))
    return found


def planes(octets: Octets, bits: int) -> Planes:
    """The planes of packed records, shape (bits, words): record i is bit i of a plane, and what fills its last word is zero."""
    columns = np.ascontiguousarray(octets.T)
    packed = -(-len(octets) // 8)
    found = np.zeros((bits, -(-packed // 8) * 8), dtype=np.uint8)
    for bit in range(bits):
        found[bit, :packed] = np.packbits(columns[bit >> 3] & np.uint8(0x80 >> (bit & 7)))
    return found.view(np.uint64)


def _chunks(octets: Octets, bits: int) -> list[Octets]:
    size = min(_MOST, _CHUNK_BITS // bits)
    return [octets[first : first + size] for first in range(0, len(octets), size)]


def _product(octets: Octets, bits: int) -> NDArray[np.int64]:
    unpacked = np.unpackbits(octets, axis=1, count=bits).astype(np.float32)
    return (unpacked.T @ unpacked).astype(np.int64)


def _together(of: Planes) -> NDArray[np.int64]:
    """Each plane with itself and those after it, a tile of them at a time; the other half mirrors that."""
    bits, words = of.shape
    found = np.zeros((bits, bits), dtype=np.int64)
    tile = max(1, _TILE // words)
    for row in range(bits):
        for first in range(row, bits, tile):
            both = np.bitwise_count(of[row] & of[first : first + tile])
            found[row, first : first + tile] = both.sum(axis=1, dtype=np.uint32)
    return found + np.triu(found, 1).T
