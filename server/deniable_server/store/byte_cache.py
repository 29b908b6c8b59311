"""Least-recently-used cache with a limit in bytes, which evicts single entries."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ByteCache(Generic[K, V]):
    """The cache. Safe to call from several threads.

    Args:
        most: The most bytes of all entries. A larger entry is not stored.
    """

    def __init__(self, most: int) -> None:
        self._most, self._bytes = most, 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """Returns the value of a key, or None."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Stores a value of `size` bytes, and evicts the values that were not used for the longest time."""
        with self._lock:
            self._bytes -= self._entries.pop(key, (None, 0))[1]
            if size > self._most:
                return
            self._entries[key] = value, size
            self._bytes += size
            while self._bytes > self._most:
                self._bytes -= self._entries.popitem(last=False)[1][1]
