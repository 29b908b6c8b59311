"""File of rows: its path and format. Nothing here opens it."""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from deniable.device.redacted import Redacted

_KINDS = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    **dict.fromkeys((".arrow", ".feather"), "arrow"),
    ".parquet": "parquet",
    ".xlsx": "xlsx",
}
_OPTIONS = {"csv": ("encoding", "delimiter", "decimal"), "jsonl": ("encoding",), "xlsx": ("sheet",)}
_TEXT = "text, or left out"
_RULES = {
    "file": "a path or an open file",
    **dict.fromkeys(("encoding", "delimiter", "decimal", "sheet"), _TEXT),
    "jsonl": "true or false",
}
_NAME = re.compile(r'[^\0-\x1f,;|"{}]{1,255}')
"""Matches paths, but no table or row passed by mistake."""


def _only(kind: Any, argument: Any) -> Any:
    return argument if isinstance(argument, kind) else Redacted(argument)


def _input(argument: Any) -> Any:
    if isinstance(argument, os.PathLike):
        return Path(argument)
    return argument if isinstance(argument, str) or callable(getattr(argument, "read", None)) else Redacted(argument)


@dataclass(frozen=True, init=False)
class File:
    """A file of rows, one respondent a row, by its path or open.

    The ending of the path is its format: .jsonl, .ndjson or .json (an object a line), .parquet, .arrow or .feather, .xlsx, and otherwise
    CSV.

    Args:
        file: The path, or the open file.
        encoding: Of text that neither is UTF-8 nor begins with a byte order mark, e.g. "cp1252".
        delimiter: Of CSV, if its header is ambiguous.
        sheet: Of a workbook with several.
        jsonl: Read JSON lines, whatever the ending.
        decimal: Of CSV: "," if numbers have a decimal comma.

    Raises:
        ValueError: It is not a file, or its format has no such option.
    """

    file: str | Path | IO[Any] = field(repr=False)
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    jsonl: bool = False
    decimal: str | None = None

    def __init__(
        self,
        file: str | os.PathLike[str] | IO[Any],
        encoding: str | None = None,
        delimiter: str | None = None,
        sheet: str | None = None,
        jsonl: bool = False,
        decimal: str | None = None,
    ) -> None:
        vars(self).update(file=_input(file), jsonl=_only(bool, jsonl))
        encoding, delimiter, sheet, decimal = (_only(str | None, option) for option in (encoding, delimiter, sheet, decimal))
        vars(self).update(encoding=encoding, delimiter=delimiter, sheet=sheet, decimal=decimal)
        del file, jsonl  # no frame shows these after this: they may be answers
        self._check()

    def _check(self) -> None:
        for name, rule in _RULES.items():
            if isinstance(argument := getattr(self, name), Redacted):
                raise ValueError(f"{name} must be {rule}, got {argument}")
        del argument  # it may be a text of answers
        options = {"encoding": self.encoding, "delimiter": self.delimiter, "decimal": self.decimal, "sheet": self.sheet}
        if wrong := [name for name, value in options.items() if value is not None and name not in _OPTIONS.get(self.kind, ())]:
            raise ValueError(f"{' and '.join(wrong)} must be left out for a {self.kind} file")
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise ValueError(f"delimiter must be one character, got {self.delimiter!r}")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal must be . or , got {self.decimal!r}")
        if self.decimal == self.delimiter == ",":
            raise ValueError("decimal must be another character than delimiter, got , for both")
        try:
            io.TextIOWrapper(io.BytesIO(), self.encoding)
        except LookupError:
            raise ValueError(f"encoding must be one that Python knows, such as cp1252, got {self.encoding!r}") from None

    @property
    def kind(self) -> str:
        """The format: csv, jsonl, parquet, arrow or xlsx."""
        suffix = Path(self.file).suffix.lower() if isinstance(self.file, str | Path) else ""
        return "jsonl" if self.jsonl else _KINDS.get(suffix, "csv")

    @property
    def codec(self) -> str:
        """Python's name of the encoding, such as utf-8 for utf8; empty without an encoding."""
        return codecs.lookup(self.encoding).name if self.encoding else ""


class State(NamedTuple):
    """Size, modification time and inode of a file, to detect changes. size: bytes. changed: nanoseconds since 1970."""

    size: int
    changed: int
    inode: tuple[int, int]

    @classmethod
    def of(cls, path: str | Path) -> Self:
        """Returns the state of a file. Raises OSError, also for a pipe or a device."""
        status = _status(path)
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):  # reading a directory raises its own error
            rule = "must be a file that can be read again from its start, got a pipe or a device: pass it open (on the command line: -)"
            raise OSError(errno.ESPIPE, rule, str(path))
        return cls(status.st_size, status.st_mtime_ns, (status.st_dev, status.st_ino))

    def __str__(self) -> str:
        """Returns the part that may be stored: not the size, since `no` is shorter than `yes`."""
        return f"changed {self.changed}"


def _status(path: str | Path) -> os.stat_result:
    """Returns the status of a file.

    Raises:
        OSError: The file does not exist. The error quotes only what looks like a path: any other text may be answers.
    """
    try:
        return os.stat(path)
    except OSError:
        if isinstance(path, Path) and _NAME.fullmatch(str(path)):
            raise
    except ValueError:  # a file name has no zero byte and no lone surrogate
        pass
    rule = "rows must be the path of a file that exists, a data frame or an iterable of mappings"
    error = FileNotFoundError(f"{rule}, got a text that names no file; it is not quoted, since it may be an answer")
    error.errno = errno.ENOENT
    raise error
