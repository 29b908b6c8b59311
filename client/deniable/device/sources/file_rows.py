"""Base class of files of rows in any format."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from deniable.device.sources.file import File, State
from deniable.device.sources.rows import RawRows
from deniable.errors import AnswerError

T = TypeVar("T")
_UNPACK = "unpack it, or give it open"
_EXPORT = "save it as .xlsx, without a password, or as CSV"
_KINDS = {
    b"PK\3\4": (".xlsx, .ods or .zip", "if it is a workbook (.xlsx), say so by its name, or else save it as one"),
    b"\xd0\xcf\x11\xe0": (".xls or, with a password, .xlsx", _EXPORT),
    b"PAR1": (".parquet", "if it is one, say so by its name"),
    b"ARROW1": (".arrow", "if it is one, say so by its name"),
    b"FEA1": (".feather (version 1)", "write it as version 2"),
    **dict.fromkeys((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd"), ("compressed (.gz, .bz2, .xz, .zst)", _UNPACK)),
    **dict.fromkeys((b"$FL2", b"$FL3", b"<stata_dta>"), ("SPSS or Stata", "save it as .xlsx or CSV")),
    b"%PDF": (".pdf", "save the table as .xlsx or CSV"),
}
"""First bytes of binary formats: their names, and advice."""
_LINES = "if it has one JSON object a line, say so by the name .jsonl or by jsonl=True (--jsonl)"
_ARRAY = "write one object a line instead, as pandas does by orient='records', lines=True"
_TEXTS = {b"[": ("JSON (an array)", _ARRAY), b"{": ("JSON", _LINES), b"<": ("HTML or XML", _EXPORT)}
"""The same for text formats."""


class FileRows(ABC):
    """Rows of a file. A file that is passed open has no name, and cannot be read twice."""

    def __init__(self, file: File) -> None:
        self._format, self._file = file, file.file
        self.name: str | None = None
        self.mark = ""
        self.total: int | None = None
        self._hint = ""
        self.repeatable = isinstance(self._file, str | Path)
        if isinstance(self._file, str | Path):
            self._state = State.of(self._file)
            self.name = os.path.realpath(self._file)  # the same name for every link to the file
            self.mark = str(self._state)

    def batches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        """Yields rows as `Rows.batches` does.

        Raises:
            AnswerError: The file has changed since it was opened: rows may be repeated or cut off.
        """
        return map(self._check_unchanged, self._batches(names, size, skip))

    @abstractmethod
    def _batches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        """Yields rows, without checking that the file stays unchanged."""

    def _check_unchanged(self, raw: RawRows) -> RawRows:
        if isinstance(self._file, str | Path) and State.of(self._file) != self._state:
            raise AnswerError(f"{self.label}: must not change while it is read; the rows read last are not sent")
        return replace(raw, comma=self._format.decimal == ",", hint=self._hint)

    @property
    def label(self) -> str:
        """The file's name for messages."""
        return str(self._file) if isinstance(self._file, str | Path) else "the input"

    def call_library(self, open_file: Callable[[], T], rule: str) -> T:
        """Returns the result of a library's function. Replaces its errors, which may quote their input."""
        try:
            return open_file()
        except (AnswerError, MemoryError):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
        with open(self.label, "rb") as file:
            self.refuse_another_kind(file.read(16), rule)
        raise AnswerError(f"{self.label}: must be {rule}, but cannot be read as one")

    def refuse_another_kind(self, start: bytes, rule: str, text: bool = False) -> None:
        """Refuses a file that begins like another binary format, or with `text`, like another text format. Raises AnswerError."""
        for mark, (other, advice) in (_TEXTS if text else _KINDS).items():
            if start.lstrip().startswith(mark) and not other.startswith(f".{self._format.kind}"):
                raise AnswerError(f"{self.label}: must be {rule}, but begins like a {other} file: {advice}")
