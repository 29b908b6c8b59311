"""Which file has the rows, and what cannot be told from it. Nothing here opens one."""

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
"""What a path looks like, and a table or a row in its place does not."""


def _only(kind: Any, given: Any) -> Any:
    return given if isinstance(given, kind) else Redacted(given)


def _input(given: Any) -> Any:
    if isinstance(given, os.PathLike):
        return Path(given)
    return given if isinstance(given, str) or callable(getattr(given, "read", None)) else Redacted(given)


@dataclass(frozen=True, init=False)
class File:
    """A file with a respondent a row, by its path or open.

    The path's ending says what it is: .jsonl, .ndjson or .json (an object a line), .parquet, .arrow or .feather, .xlsx, and else CSV.

    Args:
        file: The path, or the open file.
        encoding: Of text that neither is UTF-8 nor begins with a mark, e.g. "cp1252".
        delimiter: Of CSV whose header does not tell.
        sheet: Of a workbook that has several.
        jsonl: JSON lines, whatever the ending.
        decimal: Of CSV: "," where numbers have a decimal comma.

    Raises:
        ValueError: It is no file, or its kind does not have an option.
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
        encoding, delimiter, sheet, decimal = (_only(str | None, given) for given in (encoding, delimiter, sheet, decimal))
        vars(self).update(encoding=encoding, delimiter=delimiter, sheet=sheet, decimal=decimal)
        del file, jsonl  # from here on no frame shows what was given, be it answers
        self._check()

    def _check(self) -> None:
        for name, rule in _RULES.items():
            if isinstance(given := getattr(self, name), Redacted):
                raise ValueError(f"{name} must be {rule}, got {given}")
        del given  # the file, which may be a text of answers
        told = {"encoding": self.encoding, "delimiter": self.delimiter, "decimal": self.decimal, "sheet": self.sheet}
        if wrong := [name for name, value in told.items() if value is not None and name not in _OPTIONS.get(self.kind, ())]:
            raise ValueError(f"{' and '.join(wrong)} must be left out: a {self.kind} file has none")
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
        """csv, jsonl, parquet, arrow or xlsx."""
        suffix = Path(self.file).suffix.lower() if isinstance(self.file, str | Path) else ""
        return "jsonl" if self.jsonl else _KINDS.get(suffix, "csv")

    @property
    def codec(self) -> str:
        """The encoding as Python calls it, however it was written: utf-8 for utf8; "" where none is told."""
        return codecs.lookup(self.encoding).name if self.encoding else ""


class State(NamedTuple):
    """What a file looks like from outside: it is another one where this differs. size: bytes. changed: nanoseconds since 1970."""

    size: int
    changed: int
    place: tuple[int, int]

    @classmethod
    def of(cls, path: str | Path) -> Self:
        """Raises OSError, for a pipe or a device too."""
        found = _status(path)
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):  # a directory says so itself
            rule = "must be a file that can be read from its start again, and is a pipe or a device: give it open (on the command line: -)"
            raise OSError(errno.ESPIPE, rule, str(path))
        return cls(found.st_size, found.st_mtime_ns, (found.st_dev, found.st_ino))

    def __str__(self) -> str:
        """What may be kept of it. Not the size: `no` is shorter than `yes`."""
        return f"changed {self.changed}"


def _status(path: str | Path) -> os.stat_result:
    """Raises OSError, which names only a path that looks like one: a text that is no file's name may be answers."""
    try:
        return os.stat(path)
    except OSError:
        if isinstance(path, Path) and _NAME.fullmatch(str(path)):
            raise
    except ValueError:  # no name of a file has a zero byte, or half a character
        pass
    rule = "rows must be the path of a file that exists, a data frame or an iterable of mappings"
    error = FileNotFoundError(f"{rule}, got a text and no file has that name; it is not quoted, since it may be an answer")
    error.errno = errno.ENOENT
    raise error
