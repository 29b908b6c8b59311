"""Where the words for the coins come from: the operating system's cryptographic generator, and nothing else."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray


def os_words(count: int) -> NDArray[np.uint32]:
    """`count` independent uniform 32-bit words. Raises NotImplementedError where the system has no such source."""
    return np.frombuffer(bytearray(os.urandom(4 * count)), dtype="<u4")
