"""Draft history: earlier and later versions of a draft's text, for undo and redo, compressed together."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass

MOST_STEPS = 50
"""The most versions to undo."""

MOST_BYTES = 1 << 17
"""The most bytes of a packed history. Older versions are dropped first."""


@dataclass(frozen=True)
class History:
    """The versions of a draft around its current text.

    Attributes:
        earlier: The versions that undo returns to, the oldest first.
        later: The versions that redo returns to, the next one last.
    """

    earlier: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

    def changed(self, text: str) -> History:
        """Returns the history after an edit of this text, which ends all redo."""
        return History((*self.earlier, text)[-MOST_STEPS:])

    def undone(self, text: str) -> tuple[str, History]:
        """Returns the previous version and the history around it. Raises LookupError without a previous version."""
        if not self.earlier:
            raise LookupError("there is nothing to undo")
        return self.earlier[-1], History(self.earlier[:-1], (*self.later, text))

    def redone(self, text: str) -> tuple[str, History]:
        """Returns the next version and the history around it. Raises LookupError without a next version."""
        if not self.later:
            raise LookupError("there is nothing to redo")
        return self.later[-1], History((*self.earlier, text), self.later[:-1])

    def pack(self) -> bytes:
        """Returns the history in at most MOST_BYTES; empty if there is nothing to undo or redo."""
        earlier = list(self.earlier)
        while earlier or self.later:
            packed = zlib.compress(json.dumps([earlier, self.later]).encode(), 6)
            if len(packed) <= MOST_BYTES:
                return packed
            if not earlier:
                break
            del earlier[: max(1, len(earlier) // 2)]
        return b""


def unpack(packed: bytes) -> History:
    """Returns the history of packed bytes, the inverse of `pack`."""
    if not packed:
        return History()
    earlier, later = json.loads(zlib.decompress(packed))
    return History(tuple(earlier), tuple(later))
