"""Runs `deniable-server` and kills it before a statement: `python killed_move.py NUMBER [arguments]`.

NUMBER counts the statements that it gives to databases. With 0 it lives, and the last line that it prints is how many there were: those of
SQLite and of PostgreSQL, also the ones that begin and commit, and those that copy many rows at a time.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

from deniable_server.operate.cli import main

STATEMENTS = {"execute", "executemany", "copy"}


class Countdown:
    """Counts statements, in whatever thread, and kills this process before the last of them."""

    def __init__(self, most: int) -> None:
        self._most, self.count = most, 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Follows the calls of functions in Python and in C."""
        name = frame.f_code.co_name if event == "call" else getattr(argument, "__name__", "") if event == "c_call" else ""
        if name in STATEMENTS:
            self.count += 1
            if self.count == self._most:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    countdown = Countdown(int(sys.argv.pop(1)))
    threading.setprofile(countdown)
    sys.setprofile(countdown)
    main(standalone_mode=False)
    print(countdown.count)
