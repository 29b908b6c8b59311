"""Folder of trials: temporary, readable by its owner only, deleted when the server stops or starts again."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_PREFIX = "deniable-trials-"
_LOCK = "lock"


def make_folder() -> Path:
    """Makes a folder that belongs to this process until it ends, and deletes folders of servers that were killed."""
    delete_abandoned(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    fcntl.flock(os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600), fcntl.LOCK_EX)  # until the process ends
    return folder


def delete_abandoned(parent: Path) -> None:
    """Deletes the folders below `parent` that no living process has locked."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another user's, or deleted meanwhile
            descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(descriptor)
