"""Cache of results: values computed from released records, in memory until the counts of these records change.

A value belongs to no researcher: it has estimates, or a part of a page that is the same for all who may see the survey. Whether a request
may see it, and whether there are enough records, is decided anew for each request, before the cache is asked.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from deniable_server.store.byte_cache import ByteCache

CACHE_BYTES = 64 << 20
ENTRY_BYTES = 1024  # of the key and the entry
MEMORY_TO_PICKLE = 6
"""Memory of a value, in bytes for each byte of its pickle, without its long texts."""
_LONG = 1000  # characters

T = TypeVar("T")
_values: ByteCache[Hashable, tuple[Any]] = ByteCache(CACHE_BYTES)  # each in a tuple, since a value may be None


def compute_once(key: Hashable, compute: Callable[[], T]) -> T:
    """Returns the cached value of a key, or computes it.

    Args:
        key: Everything that the value depends on. Of data that may change, it has a state that never comes again after a change.
        compute: Computes the value, which must be picklable and must not be changed. It must read the data itself: data that were read
            before the key may be of an earlier state. An error is not cached.
    """
    if (entry := _values.get(key)) is not None:
        (value,) = entry
        return cast(T, value)
    value = compute()
    _values.put(key, (value,), _Sizer().size(value))
    return value


def contains(key: Hashable) -> bool:
    """Returns whether the value of a key is cached."""
    return _values.get(key) is not None


class _Sizer(pickle.Pickler):
    """Measures a value: long texts, such as parts of pages, by themselves, and the rest by its pickle."""

    def __init__(self) -> None:
        self._pickle, self._texts = io.BytesIO(), 0
        super().__init__(self._pickle)

    def persistent_id(self, obj: Any) -> int | None:
        """Takes a long text out of the pickle."""
        if not isinstance(obj, str) or len(obj) < _LONG:
            return None
        self._texts += sys.getsizeof(obj)
        return self._texts

    def size(self, value: object) -> int:
        """Returns the bytes that an entry with this value takes in memory, about."""
        self.dump(value)
        return ENTRY_BYTES + self._texts + MEMORY_TO_PICKLE * self._pickle.tell()
