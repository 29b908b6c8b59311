"""A cache of limited size evicts what was not used for the longest time, one entry after the other."""

from __future__ import annotations

from deniable_server.store.byte_cache import ByteCache


def test_the_oldest_entries_make_room_and_no_others() -> None:
    cache: ByteCache[str, int] = ByteCache(100)
    for number, name in enumerate("abc"):
        cache.put(name, number, 30)
    assert cache.get("a") == 0  # used again
    cache.put("d", 3, 30)
    assert [cache.get(name) for name in "abcd"] == [0, None, 2, 3]
    assert len(cache) == 3


def test_an_entry_that_is_replaced_counts_once() -> None:
    cache: ByteCache[str, int] = ByteCache(100)
    for number in range(10):
        cache.put("a", number, 60)
    cache.put("b", 0, 40)
    assert [cache.get(name) for name in "ab"] == [9, 0]


def test_an_entry_beyond_the_limit_is_not_stored_and_evicts_nothing() -> None:
    cache: ByteCache[str, int] = ByteCache(100)
    cache.put("a", 1, 100)
    cache.put("b", 2, 101)
    assert (cache.get("a"), cache.get("b")) == (1, None)
    cache.put("a", 2, 101)
    assert (cache.get("a"), len(cache)) == (None, 0)
