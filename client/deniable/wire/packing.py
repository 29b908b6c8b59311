"""Packing of records, question by question: stored bits are written to all records at once.

`record.py` defines and reads records; these have the same bytes as `record.pack` writes, without a table of single bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.survey.layout import Field, Layout


class RecordArray:
    """n records of a layout, all bits 0 at first.

    Args:
        layout: The positions of all bits.
        n: The number of records.
        mask: Shape (n, questions), the questions that each respondent was asked, if the survey asks a sample; it begins each record.
    """

    def __init__(self, layout: Layout, n: int, mask: NDArray[np.bool_] | None = None) -> None:
        self._octets = np.zeros((layout.bytes, n), dtype=np.uint8)
        self._mask = mask
        if mask is not None:
            self._put_bits(0, mask)

    def put(self, field: Field, stored: NDArray[Any]) -> None:
        """Writes a question's stored bits: a number for each record, the first bit highest, or bool of shape (n, stored bits)."""
        if field.mask is not None and self._mask is not None:
            is_asked = self._mask[:, field.mask]
            stored = stored * (is_asked if stored.ndim == 1 else is_asked[:, None])
        if stored.ndim == 1:
            self._put_number(field.bits.start, field.bits.stop, stored)
        else:
            self._put_bits(field.bits.start, stored)

    @property
    def octets(self) -> NDArray[np.uint8]:
        """The records' bytes, shape (n, bytes of a record)."""
        return self._octets.T

    def _put_number(self, start: int, stop: int, number: NDArray[np.unsignedinteger[Any]]) -> None:
        for octet in range(start // 8, -(-stop // 8)):
            below = stop - 8 * (octet + 1)  # bits of the number that belong to later octets
            if below > 0:
                octet_bits = (number >> number.dtype.type(below)).astype(np.uint8)
            else:
                octet_bits = number.astype(np.uint8, copy=False) * np.uint8(1 << -below)  # not <<, which numpy does not vectorize
            self._octets[octet] |= octet_bits

    def _put_bits(self, start: int, bits: NDArray[np.bool_]) -> None:
        """Writes bits; the first byte may already have bits of the question before."""
        padded = np.concatenate([np.zeros((len(bits), start % 8), dtype=np.bool_), bits], axis=1)
        octets = np.packbits(padded, axis=1).T
        self._octets[start // 8 : start // 8 + len(octets)] |= octets


def shuffled(arrays: Sequence[RecordArray], order: NDArray[np.int64]) -> bytes:
    """Returns all records of some arrays, in this order."""
    if not arrays:
        return b""
    octets = np.empty((len(order), arrays[0].octets.shape[1]), dtype=np.uint8)
    np.concatenate([array.octets for array in arrays], axis=0, out=octets)
    return octets.view(f"V{octets.shape[1]}")[order].tobytes()
