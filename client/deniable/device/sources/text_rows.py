"""What files of text have in common: their encoding, and errors that do not quote them."""

from __future__ import annotations

import csv
import io
from abc import ABC
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from deniable.device.sources.file_rows import FileRows
from deniable.errors import AnswerError

_MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class TextRows(FileRows, ABC):
    """Rows from text."""

    def lines(self) -> Iterator[str]:
        """The lines of a text. An open one stays open: it is its owner's to close."""
        if isinstance(self._file, str | Path):
            with open(self._file, "rb") as raw:
                encoding = self.encoding(raw.peek(8))
            with open(self._file, encoding=encoding, newline="") as text:
                yield from text
        elif isinstance(self._file.read(0), str):
            yield from map(str, self._file)  # without map it would be closed where its reader stops early
        else:
            buffer = self._file if isinstance(self._file, io.BufferedReader) else io.BufferedReader(self._file)  # type: ignore[type-var]
            layers: list[Any] = [] if buffer is self._file else [buffer]  # what is not taken off closes the file when it is collected
            try:
                layers.append(io.TextIOWrapper(buffer, self.encoding(buffer.peek(8)), newline=""))
                yield from map(str, layers[-1])
            finally:
                with suppress(ValueError):  # it is closed already
                    while layers:
                        layers.pop().detach()

    def encoding(self, start: bytes) -> str:
        self.refuse_another_kind(start, "text")
        told = self._told.encoding
        mark = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
        if told and mark and not self._told.codec.startswith(mark[:6].rstrip("-")):
            raise AnswerError(f"{self.label}: begins with the mark of {mark[:6].rstrip('-').upper()}, and not with {told} text")
        if not (told or mark) and b"\0" in start[:8]:
            rule = "must be text, and has zero bytes, as UTF-16 without a mark has"
            raise AnswerError(f"{self.label}: {rule}: say its encoding, such as utf-16-le")
        return mark or told or "utf-8"


def without_text_errors(items: Iterator[Any], where: Callable[[], str]) -> Iterator[Any]:
    """Errors about text carry the text itself, or a piece: they end here, and are not chained to what is raised instead."""
    while True:
        try:
            yield next(items)  # into no variable: while the last one is sent, it would still be there
            continue
        except StopIteration:
            return
        except UnicodeDecodeError as error:
            rule = "must be UTF-8 text, and is not: say its encoding, such as cp1252"
            problem = rule if error.encoding == "utf-8" else "must be text in the encoding that was named, and is not"
        except csv.Error as error:
            problem = f"is not well-formed CSV: {error}"
        raise AnswerError(f"{where()}: {problem}")
