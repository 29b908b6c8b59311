"""Files that only their owner may read, in the user's data folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def in_data_folder(name: str) -> Path:
    """Where a file of this name belongs. It is not made."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "deniable" / name


def create_private(path: str) -> None:
    """Makes an empty file that only its owner may read, unless it is there. Raises OSError."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
