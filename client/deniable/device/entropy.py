"""Cryptographic randomness for the coins: the operating system's generator, or OpenSSL's with a key from it.

Large draws come from OpenSSL's generator (AES in counter mode, NIST SP 800-90A), which is twelve times as fast and first gets a fresh key
from the operating system. It detects a fork by itself and takes a new key. A copy of a whole running machine repeats the words up to the
next key, so a caller that takes one key for each batch repeats coins for one batch at most.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

MANY = 1 << 10
"""Bytes above which a draw comes from OpenSSL's generator."""
_KEY = 48
"""Bytes of a fresh key: 256 bits, and a block of 128 for the counter."""


def os_words(count: int) -> NDArray[np.uint32]:
    """Returns `count` independent uniform 32-bit words, read-only.

    Raises:
        NotImplementedError: The system has no such source.
        OSError: The source cannot be read.
    """
    return _direct(count) if 4 * count <= MANY else keyed_words()(count)


def keyed_words() -> Callable[[int], NDArray[np.uint32]]:
    """Returns a function that draws words as `os_words` does, with one key for many draws: for a batch of answers."""
    ssl.RAND_add(os.urandom(_KEY), float(_KEY))
    return lambda count: _direct(count) if 4 * count <= MANY else np.frombuffer(ssl.RAND_bytes(4 * count), dtype="<u4")


def _direct(count: int) -> NDArray[np.uint32]:
    return np.frombuffer(os.urandom(4 * count), dtype="<u4")
