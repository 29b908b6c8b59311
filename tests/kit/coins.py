"""The same coins for the same test in every run: what a test of chance finds today it finds tomorrow, and on every machine.

Only in the process of the tests: servers, browsers and other programs that they start toss real ones. `DENIABLE_COINS=2` tosses others,
`DENIABLE_COINS=real` the operating system's; `make long NAME=chance` runs the tests of chance with many. `DENIABLE_COINS_TOSSED=FILE`
writes down which tests tossed any.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from deniable.device import entropy

REAL = os.environ.get("DENIABLE_COINS") == "real"


class _Tossed:
    """In place of `os` and `ssl` in `entropy.py`."""

    def __init__(self, name: str) -> None:
        seed = f"{os.environ.get('DENIABLE_COINS', '1')} {name}"
        self._generator = np.random.default_rng(zlib.crc32(seed.encode()))
        self.tossed = False

    def urandom(self, count: int) -> bytes:
        self.tossed = True
        return self._generator.bytes(count)

    RAND_bytes = urandom

    def RAND_add(self, key: bytes, entropy: float) -> None:
        """A key changes nothing here."""


@contextmanager
def tossed_for(name: str) -> Iterator[None]:
    """Coins that depend on `name` only, until this ends."""
    kept = entropy.os, entropy.ssl
    coins = entropy.os = entropy.ssl = _Tossed(name)  # type: ignore[assignment, attr-defined]
    try:
        yield
    finally:
        entropy.os, entropy.ssl = kept  # type: ignore[attr-defined]
        if coins.tossed and (file := os.environ.get("DENIABLE_COINS_TOSSED")):
            with open(file, "a", encoding="utf-8") as names:
                names.write(f"{name}\n")
