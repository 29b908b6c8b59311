"""Temporary folders of a server: readable by its owner only, and deleted when it stops, or when a server starts after it was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_LOCK = "lock"


def make_folder(prefix: str) -> Path:
    """Makes a folder that belongs to this process until it ends, and deletes abandoned folders of the same prefix."""
    delete_abandoned(Path(tempfile.gettempdir()), prefix)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix))
        if _lock(folder):
            return folder


def delete_abandoned(parent: Path, prefix: str) -> None:
    """Deletes this user's folders below `parent` that no living process has locked."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):  # of another user, of a living process, or deleted meanwhile
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(descriptor)


def _lock(folder: Path) -> bool:
    """Locks a new folder until this process ends. Returns False if another server has deleted it before it was locked."""
    descriptor = -1
    try:
        descriptor = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.path.samestat(os.fstat(descriptor), os.stat(folder / _LOCK)):
            return True
    except FileNotFoundError:
        pass
    if descriptor >= 0:
        os.close(descriptor)
    return False
