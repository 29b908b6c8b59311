"""Bits of many records, counted without a byte for each: many of them in every step of the processor, as whole numbers.

One bit alone is counted by fields that grow: words of 64 bits are added up where their fields cannot overflow, then each field becomes two.
Two bits together are counted by planes, one for each stored bit, in which every record has one bit (`np.bitwise_count`); of a few hundred
records a matrix product counts pairs sooner.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FEW = 2048  # records up to which a product is faster; below 2^24, to where float32 counts exactly
_CHUNK_BITS = 1 << 25  # of records that are turned into planes together, so that these stay near the processor
_MOST = (1 << 16) - 64  # records of them: no count of theirs needs more than 16 bits
_TILE = 1 << 15  # words of 64 records that are held against each other at a time
_CHUNK_BYTES = 1 << 19  # of records whose bits are counted alone together

_FIELDS = ((1, 0x5555555555555555, 3), (2, 0x3333333333333333, 5), (4, 0x0F0F0F0F0F0F0F0F, 17))
"""Fields of 1, 2 and 4 bits: the lower one of each two, and how many may be added up in one that is twice as wide."""
_DEEP = 8 * 3 * 5 * 17  # records that end in one field of 8 bits, which counts to 255, beside those that share its words

Octets = NDArray[np.uint8]
Words = NDArray[np.uint64]


def ones(octets: Octets, bits: int) -> NDArray[np.int64]:
    """How many records have each of their first `bits` bits set, shape (bits,). octets: packed records, shape (n, bytes of a record)."""
    size = octets.shape[1]
    found = np.zeros((8, size), dtype=np.int64)
    for chunk in _chunks(octets, max(_DEEP, _CHUNK_BYTES // size)):
        found += _ones(chunk)
    return found[::-1].T.ravel()[:bits]


def pairs(octets: Octets, bits: int) -> NDArray[np.int64]:
    """How many records have both of two bits set, shape (bits, bits); on the diagonal one bit alone."""
    found = np.zeros((bits, bits), dtype=np.int64)
    for chunk in _chunks(octets, min(_MOST, _CHUNK_BITS // bits)):
        found += _product(chunk, bits) if len(chunk) <= FEW else _together(planes(chunk, bits))
    return found


def planes(octets: Octets, bits: int) -> Words:
    """The planes of packed records, shape (bits, words). Each record is one bit of every plane, the same in all; what fills up is zero.

    Eighths of the records trade bits until the first one has everybody's first bit, the second one everybody's second, and so on: the 8 x 8
    transposition of H. S. Warren, "Hacker's Delight", 2nd ed. (2013), section 7-3, with whole arrays for the bytes of one word.
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
    """How often each bit of an octet is set, the lowest first, shape (8, bytes of a record)."""
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
    """Each plane with itself and those after it, half way round a ring of all of them; a tile of them at a time."""
    bits, words = of.shape
    ring = np.concatenate([of, of[: bits // 2]])
    found = np.empty((bits // 2 + 1, bits), dtype=np.uint16)
    tile = min(bits, max(1, _TILE // words))
    both, counts = np.empty((tile, words), dtype=np.uint64), np.empty((tile, words), dtype=np.uint8)
    for first in range(0, bits, tile):
        last = min(first + tile, bits)
        held, count = both[: last - first], counts[: last - first]
        for apart in range(bits // 2 + 1):
            np.bitwise_and(ring[first:last], ring[first + apart : last + apart], out=held)
            np.bitwise_count(held, out=count)
            np.add.reduce(count, axis=1, dtype=np.uint16, out=found[apart, first:last])
    return _square(found)


def _square(ring: NDArray[np.uint16]) -> NDArray[np.int64]:
    """From what each bit has in common with the one so many places after it, shape (bits // 2 + 1, bits), to shape (bits, bits)."""
    bits = ring.shape[1]
    places = np.zeros(
        (bits, 2 * bits + 1), dtype=np.uint16
    )  # rows that are one longer than those they are read as, so each begins one later
    places[:, : len(ring)] = ring.T
    shifted = places.ravel()[: 2 * bits * bits].reshape(bits, 2, bits)
    half = shifted[:, 0] + shifted[:, 1]
    return np.asarray(np.maximum(half, half.T), dtype=np.int64)
