"""What files of rows have in common, whatever is in them."""

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
"""What files begin with that are of no text: which ones they are, and what to do."""
_LINES = "if it has one JSON object a line, say so by the name .jsonl or by jsonl=True (--jsonl)"
_ARRAY = "write one object a line instead, as pandas does by orient='records', lines=True"
_TEXTS = {b"[": ("JSON (an array)", _ARRAY), b"{": ("JSON", _LINES), b"<": ("HTML or XML", _EXPORT)}
"""Likewise for what is text."""


class FileRows(ABC):
    """Only a path has a name, and can be read twice."""

    def __init__(self, file: File) -> None:
        self._told, self._file = file, file.file
        self.name: str | None = None
        self.mark = ""
        self.total: int | None = None
        self._hint = ""
        self.repeatable = isinstance(self._file, str | Path)
        if isinstance(self._file, str | Path):
            self._begun = State.of(self._file)
            self.name = os.path.realpath(self._file)  # one name, whatever links lead to it
            self.mark = str(self._begun)

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        """As `Rows.stretches`. Raises AnswerError once the file is another than at first: rows may come twice, or end in their middle."""
        return map(self._unchanged, self._stretches(names, size, skip))

    @abstractmethod
    def _stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        """Those of a file that stays as it is."""

    def _unchanged(self, raw: RawRows) -> RawRows:
        if isinstance(self._file, str | Path) and State.of(self._file) != self._begun:
            raise AnswerError(f"{self.label}: must stay as it is while it is read, and has changed; what was read last is not sent")
        return replace(raw, comma=self._told.decimal == ",", hint=self._hint)

    @property
    def label(self) -> str:
        return str(self._file) if isinstance(self._file, str | Path) else "the input"

    def certain(self, opened: Callable[[], T], rule: str) -> T:
        """What a library opens. Its errors end here: they may quote what it read."""
        try:
            return opened()
        except (AnswerError, MemoryError):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
        with open(self.label, "rb") as file:
            self.refuse_another_kind(file.read(16), rule)
        raise AnswerError(f"{self.label}: must be {rule}, and cannot be read as one")

    def refuse_another_kind(self, start: bytes, rule: str, text: bool = False) -> None:
        """Raises AnswerError for the first bytes of a file of another kind; of a kind of text only with `text`."""
        for mark, (other, advice) in (_TEXTS if text else _KINDS).items():
            if start.lstrip().startswith(mark) and not other.startswith(f".{self._told.kind}"):
                raise AnswerError(f"{self.label}: must be {rule}, and begins as {other} files do: {advice}")
