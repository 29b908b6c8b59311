"""What files of rows have in common, whatever is in them."""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from deniable.device.sources.rows import Raw
from deniable.errors import AnswerError
from deniable.files import File

T = TypeVar("T")


class FileRows(ABC):
    """Only a path has a name, and can be read twice."""

    def __init__(self, file: File) -> None:
        self._told = file
        self._file = file.file
        self.name: str | None = None
        self.mark = ""
        self.total: int | None = None
        self.repeatable = isinstance(self._file, str | Path)
        if isinstance(self._file, str | Path):
            status = os.stat(self._file)
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):  # a directory says so itself
                rule = "must be a file that can be read from its start again, and is a pipe or a device"
                raise AnswerError(f"{self.label}: {rule}: give it open (on the command line: -)")
            self._begun = _state(status)
            self.name = os.path.realpath(self._file)  # one name, whatever links lead to it
            self.mark = f"{status.st_size} bytes, changed {status.st_mtime_ns}"

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        """As `Rows.stretches`. Raises AnswerError once the file is another than at first: rows may come twice, or end in their middle."""
        return map(self._unchanged, self._stretches(names, size, skip))

    @abstractmethod
    def _stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        """Those of a file that stays as it is."""

    def _unchanged(self, raw: Raw) -> Raw:
        if isinstance(self._file, str | Path) and _state(os.stat(self._file)) != self._begun:
            raise AnswerError(f"{self.label}: must stay as it is while it is read, and has changed; what was read last is not sent")
        return raw

    @property
    def label(self) -> str:
        return str(self._file) if isinstance(self._file, str | Path) else "the input"


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev


def certain(opened: Callable[[], T], label: str, what: str) -> T:
    """What a library opens. Its errors end here: they may quote what it read."""
    try:
        return opened()
    except (AnswerError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        problem = f"{label}: must be {what}, and cannot be read as one"
    raise AnswerError(problem)
