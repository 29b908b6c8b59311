"""What files of rows have in common, whatever is in them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from deniable.device.sources.file import File, State
from deniable.device.sources.rows import Raw
from deniable.errors import AnswerError

T = TypeVar("T")


class FileRows(ABC):
    """Only a path has a name, and can be read twice."""

    def __init__(self, file: File) -> None:
        self._told, self._file = file, file.file
        self.name: str | None = None
        self.mark = ""
        self.total: int | None = None
        self.repeatable = isinstance(self._file, str | Path)
        if isinstance(self._file, str | Path):
            self._begun = State.of(self._file)
            self.name = os.path.realpath(self._file)  # one name, whatever links lead to it
            self.mark = str(self._begun)

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        """As `Rows.stretches`. Raises AnswerError once the file is another than at first: rows may come twice, or end in their middle."""
        return map(self._unchanged, self._stretches(names, size, skip))

    @abstractmethod
    def _stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        """Those of a file that stays as it is."""

    def _unchanged(self, raw: Raw) -> Raw:
        if isinstance(self._file, str | Path) and State.of(self._file) != self._begun:
            raise AnswerError(f"{self.label}: must stay as it is while it is read, and has changed; what was read last is not sent")
        return raw

    @property
    def label(self) -> str:
        return str(self._file) if isinstance(self._file, str | Path) else "the input"


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
