"""Computing process whose downloads grow beyond their beginning only when a test lets them, by files in the folder DENIABLE_PACE.

With `go` they grow to their end, and with `step` by one piece, which removes it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from deniable_server.operate.computing import main
from deniable_server.web.outlet import Outlet

FOLDER = Path(os.environ["DENIABLE_PACE"])
_begin, _write = Outlet.begin, Outlet.write


def begin(self: Outlet, *args: Any, **keywords: Any) -> None:
    """Says which process makes a file."""
    with (FOLDER / "builds").open("a") as file:
        file.write(f"{os.getpid()}\n")
    _begin(self, *args, **keywords)


def write(self: Outlet, part: bytes) -> int:
    """Writes the beginning at once, and everything else when it may."""
    while self._size and not (FOLDER / "go").exists() and not _step():
        time.sleep(0.02)
    return _write(self, part)


def _step() -> bool:
    try:
        (FOLDER / "step").unlink()
    except FileNotFoundError:
        return False
    return True


if __name__ == "__main__":
    Outlet.begin, Outlet.write = begin, write  # type: ignore[method-assign]
    main()
