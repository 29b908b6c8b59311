"""Cache of tallies of wide surveys, which are counted from all records on demand and kept in memory until a batch changes them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection

from deniable.wire.part import Part
from deniable.wire.tally import Tally
from deniable_server.store.protocol import State

CACHE_BYTES = 128 << 20  # of pairs: one tally of 2,048 bits has 32 MiB

_Name = tuple[str, frozenset[Part]]


class TallyCache:
    """The most recently counted tallies. A request for one that is being counted waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tallies: OrderedDict[_Name, tuple[State, Tally]] = OrderedDict()
        self._counting: dict[_Name, threading.Lock] = {}

    def tally(self, survey_id: str, parts: Collection[Part], state: Callable[[], State], scan: Callable[[], tuple[State, Tally]]) -> Tally:
        """Returns the tally of some parts of a survey, as it was at the time of the call or later.

        Args:
            survey_id: The survey's id.
            parts: The parts.
            state: Returns the present state of their counts.
            scan: Counts them anew; returns their state at that time, and the tally.
        """
        name = survey_id, frozenset(parts)
        with self._lock:
            counting = self._counting.setdefault(name, threading.Lock())
        with counting:
            with self._lock:
                entry = self._tallies.get(name)
            if entry is None or entry[0] != state():
                entry = scan()
            self._keep(name, entry)
        return entry[1]

    def _keep(self, name: _Name, counted: tuple[State, Tally]) -> None:
        with self._lock:
            self._tallies[name] = counted
            self._tallies.move_to_end(name)
            while len(self._tallies) > 1 and sum(tally.pairs.nbytes for _, tally in self._tallies.values()) > CACHE_BYTES:
                oldest, _ = self._tallies.popitem(last=False)
                self._counting.pop(oldest, None)
