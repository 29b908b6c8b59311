"""Tallies of wide surveys, which are counted from all reports when somebody wants them, and kept in memory until a batch changes them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection

from deniable.wire.part import Part
from deniable.wire.tally import Tally

KEPT_BYTES = 128 << 20  # of pairs: one tally of 2,048 bits has 32 MiB

State = tuple[int, ...]
"""What differs whenever the counts of some parts differ (`tallies.state`)."""
_Name = tuple[str, frozenset[Part]]


class Scans:
    """The tallies that were counted last. Whoever wants one that somebody else is counting waits for that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Name, tuple[State, Tally]] = OrderedDict()
        self._counting: dict[_Name, threading.Lock] = {}

    def tally(self, survey_id: str, parts: Collection[Part], state: Callable[[], State], scan: Callable[[], tuple[State, Tally]]) -> Tally:
        """The tally of some parts of a survey, as they are when it is asked for, or later.

        state: tells what their counts are like now; scan: counts them anew, and tells what they were like then.
        """
        name = survey_id, frozenset(parts)
        with self._lock:
            counting = self._counting.setdefault(name, threading.Lock())
        with counting:
            with self._lock:
                kept = self._kept.get(name)
            if kept is None or kept[0] != state():
                kept = scan()
            self._keep(name, kept)
        return kept[1]

    def _keep(self, name: _Name, counted: tuple[State, Tally]) -> None:
        with self._lock:
            self._kept[name] = counted
            self._kept.move_to_end(name)
            while len(self._kept) > 1 and sum(tally.pairs.nbytes for _, tally in self._kept.values()) > KEPT_BYTES:
                forgotten, _ = self._kept.popitem(last=False)
                self._counting.pop(forgotten, None)
