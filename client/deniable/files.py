"""Which file has the rows, and what cannot be told from it. Nothing here opens one."""

from __future__ import annotations

import errno
import io
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

_KINDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".xlsx": "xlsx"}
_OPTIONS = {"csv": ("encoding", "delimiter"), "jsonl": ("encoding",), "xlsx": ("sheet",)}


@dataclass(frozen=True)
class File:
    """A file with a respondent a row, by its path or open.

    The path's ending says what it is: .jsonl or .ndjson, .parquet, .arrow or .feather, .xlsx, and else CSV. encoding: of text, where it
    is neither UTF-8 nor begins with a mark, e.g. "cp1252". delimiter: of CSV, where the header does not tell. sheet: of a workbook
    that has several. jsonl: JSON lines, whatever the ending. Raises ValueError for an option that the kind does not have.
    """

    file: str | Path | IO[Any]
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    jsonl: bool = False

    def __post_init__(self) -> None:
        told = {"encoding": self.encoding, "delimiter": self.delimiter, "sheet": self.sheet}
        if wrong := [name for name, value in told.items() if value is not None and name not in _OPTIONS.get(self.kind, ())]:
            raise ValueError(f"{' and '.join(wrong)} must be left out: a {self.kind} file has none")
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise ValueError(f"delimiter must be one character, got {self.delimiter!r}")
        try:
            io.TextIOWrapper(io.BytesIO(), self.encoding)
        except LookupError:
            raise ValueError(f"encoding must be one that Python knows, such as cp1252, got {self.encoding!r}") from None

    @property
    def kind(self) -> str:
        """csv, jsonl, parquet, arrow or xlsx."""
        suffix = Path(self.file).suffix.lower() if isinstance(self.file, str | Path) else ""
        return "jsonl" if self.jsonl else _KINDS.get(suffix, "csv")


class State(NamedTuple):
    """What a file looks like from outside: it is another one where this differs. size: bytes. changed: nanoseconds since 1970."""

    size: int
    changed: int
    place: tuple[int, int]

    @classmethod
    def of(cls, path: str | Path) -> Self:
        """Raises OSError, for a pipe or a device too."""
        found = os.stat(path)
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):  # a directory says so itself
            rule = "must be a file that can be read from its start again, and is a pipe or a device: give it open (on the command line: -)"
            raise OSError(errno.ESPIPE, rule, str(path))
        return cls(found.st_size, found.st_mtime_ns, (found.st_dev, found.st_ino))

    def __str__(self) -> str:
        """What may be kept of it. Not the size: `no` is shorter than `yes`."""
        return f"changed {self.changed}"
