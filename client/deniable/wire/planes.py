"""Bit counting of packed records, many records at each step of the processor.

Single bits are counted in growing fields: 64-bit words are added up as long as their fields cannot overflow, then each field is split in
two. Pairs of bits are counted in bit planes, one for each stored bit, with one bit for every record (`np.bitwise_count`); for a few hundred
records a matrix product is faster.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FEW = 2048  # up to so many records, a product is faster; below 2^24, where float32 counts exactly
_CHUNK_BITS = 1 << 25  # records that are turned into planes together, so that these stay in the cache
_MOST = (1 << 16) - 64  # records of a chunk: no count needs more than 16 bits
_TILE = 1 << 15  # words of 64 records that are combined at a time
_CHUNK_BYTES = 1 << 17  # records whose single bits are counted together; the C library maps larger pieces anew each time

_FIELDS = ((1, 0x5555555555555555, 3), (2, 0x3333333333333333, 5), (4, 0x0F0F0F0F0F0F0F0F, 17))
"""Fields of 1, 2 and 4 bits: the lower one of each two, and how many may be added up in one that is twice as wide."""
_DEEP = 8 * 3 * 5 * 17  # records that end in one field of 8 bits, which counts to 255, beside those that share its words

Octets = NDArray[np.uint8]
Words = NDArray[np.uint64]


def ones(octets: Octets, bits: int) -> NDArray[np.int64]:
    """Returns how many packed records, shape (n, bytes of a record), have each of their first `bits` bits set, shape (bits,)."""
    size = octets.shape[1]
    counts = np.zeros((8, size), dtype=np.int64)
    for chunk in _chunks(octets, max(_DEEP, _CHUNK_BYTES // size)):
        counts += _ones(chunk)
    return counts[::-1].T.ravel()[:bits]


def pairs(octets: Octets, bits: int) -> NDArray[np.int64]:
    """Returns how many records have both of two bits set, shape (bits, bits); on the diagonal, one bit alone."""
    counts = np.zeros((bits, bits), dtype=np.int64)
    for chunk in _chunks(octets, min(_MOST, _CHUNK_BITS // bits)):
        counts += _product(chunk, bits) if len(chunk) <= FEW else _together(planes(chunk, bits))
    return counts


def planes(octets: Octets, bits: int) -> Words:
    """Returns the bit planes of packed records, shape (bits, words). Each record is the same bit in every plane; padding is zero.

    Eighths of the records exchange bits until the first has every record's first bit, the second every second bit, and so on: the 8 x 8
    transposition of H. S. Warren, "Hacker's Delight", 2nd ed. (2013), section 7-3, with whole arrays in place of the bytes of one word.
    """
    n, size = octets.shape
    words = -(-n // 64)
    columns = np.zeros((size, 64 * words), dtype=np.uint8)
    columns[:, :n] = octets.T
    eighths = columns.view(np.uint64)
    spare = np.empty(size * 4 * words, dtype=np.uint64)
    for width, mask, _ in reversed(_FIELDS):
        halves = eighths.reshape(size, 4 // width, 2, width, words)
        first, second = halves[:, :, 0], halves[:, :, 1]
        traded = np.right_shift(second, np.uint64(width), out=spare.reshape(first.shape))
        traded ^= first
        traded &= np.uint64(mask)
        first ^= traded
        traded <<= np.uint64(width)
        second ^= traded
    return eighths.reshape(8 * size, words)[:bits]


def _chunks(octets: Octets, size: int) -> list[Octets]:
    return [octets[first : first + size] for first in range(0, len(octets), size)]


def _ones(octets: Octets) -> NDArray[np.int64]:
    """Returns how often each bit of a byte is set, the lowest first, shape (8, bytes of a record)."""
    n, size = octets.shape
    deep = -(-n // _DEEP)
    padded = np.zeros((deep * _DEEP, size), dtype=np.uint8)
    padded[:n] = octets
    fields = padded.reshape(1, -1).view(np.uint64)
    for width, mask, addends in _FIELDS:
        lanes, words = fields.shape
        split = np.empty((2, lanes, words), dtype=np.uint64)
        np.right_shift(fields, np.uint64(width), out=split[1])
        np.bitwise_and(fields, np.uint64(mask), out=split[0])
        split[1] &= np.uint64(mask)
        fields = split.reshape(2 * lanes, addends, words // addends).sum(axis=1)
    octaves = fields.view(np.uint8).reshape(8, deep, 8 * size).sum(axis=1, dtype=np.int64)
    return np.asarray(octaves.reshape(8, 8, size).sum(axis=1))


def _product(octets: Octets, bits: int) -> NDArray[np.int64]:
    unpacked = np.unpackbits(octets, axis=1, count=bits).astype(np.float32)
    return (unpacked.T @ unpacked).astype(np.int64)


def _together(of: Words) -> NDArray[np.int64]:
    """Returns counts of each plane with itself and the following ones, half way around a ring of all planes; a tile at a time."""
    bits, words = of.shape
    ring = np.concatenate([of, of[: bits // 2]])
    common = np.empty((bits // 2 + 1, bits), dtype=np.uint16)
    tile = min(bits, max(1, _TILE // words))
    both, counts = np.empty((tile, words), dtype=np.uint64), np.empty((tile, words), dtype=np.uint8)
    for first in range(0, bits, tile):
        last = min(first + tile, bits)
        both_set, count = both[: last - first], counts[: last - first]
        for apart in range(bits // 2 + 1):
            np.bitwise_and(ring[first:last], ring[first + apart : last + apart], out=both_set)
            np.bitwise_count(both_set, out=count)
            np.add.reduce(count, axis=1, dtype=np.uint16, out=common[apart, first:last])
    return _square(common)


def _square(ring: NDArray[np.uint16]) -> NDArray[np.int64]:
    """Returns pair counts of shape (bits, bits), from counts of each bit with the one at each distance, shape (bits // 2 + 1, bits)."""
    bits = ring.shape[1]
    # rows are one longer than the rows they are read as, so each begins one later
    shifted_rows = np.zeros((bits, 2 * bits + 1), dtype=np.uint16)
    shifted_rows[:, : len(ring)] = ring.T
    shifted = shifted_rows.ravel()[: 2 * bits * bits].reshape(bits, 2, bits)
    half = shifted[:, 0] + shifted[:, 1]
    return np.asarray(np.maximum(half, half.T), dtype=np.int64)
