"""Where the words for the coins come from: the operating system's cryptographic generator, or one that it has given a key.

Many at once come from OpenSSL's generator (AES in counter mode, NIST SP 800-90A), which is twelve times as fast and is given a fresh key of
the operating system's first. It sees by itself that a process was forked, and keys itself anew. A copy of a whole running machine has the
same words until the next key: those behind one key, so whoever takes one for each batch tosses the same coins for the same answers at most.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

MANY = 1 << 10
"""Bytes above which a draw is stretched."""
_KEY = 48
"""Bytes of a fresh key: 256 bits, and a block of 128 for the counter."""


def os_words(count: int) -> NDArray[np.uint32]:
    """`count` independent uniform 32-bit words, read-only. Raises NotImplementedError, OSError where the system has no such source."""
    return _direct(count) if 4 * count <= MANY else keyed_words()(count)


def keyed_words() -> Callable[[int], NDArray[np.uint32]]:
    """Gives words as `os_words` does, with one key for many draws: for a batch of answers."""
    ssl.RAND_add(os.urandom(_KEY), float(_KEY))
    return lambda count: _direct(count) if 4 * count <= MANY else np.frombuffer(ssl.RAND_bytes(4 * count), dtype="<u4")


def _direct(count: int) -> NDArray[np.uint32]:
    return np.frombuffer(os.urandom(4 * count), dtype="<u4")
