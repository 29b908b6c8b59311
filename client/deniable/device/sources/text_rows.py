"""Base class of text files: encodings, and errors that do not quote the text."""

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
    """Rows of a text file."""

    def lines(self) -> Iterator[str]:
        """Yields the lines of a text. An open file stays open: its owner closes it."""
        if isinstance(self._file, str | Path):
            with open(self._file, "rb") as raw:
                encoding = self.encoding(raw.peek(8))
            with open(self._file, encoding=encoding, newline="") as text:
                yield from text
        elif isinstance(self._file.read(0), str):
            yield from map(str, self._file)  # map keeps the file open if the reader stops early
        else:
            buffer = self._file if isinstance(self._file, io.BufferedReader) else io.BufferedReader(self._file)  # type: ignore[type-var]
            layers: list[Any] = (
                [] if buffer is self._file else [buffer]
            )  # a layer that is not detached closes the file when it is garbage-collected
            try:
                layers.append(io.TextIOWrapper(buffer, self.encoding(buffer.peek(8)), newline=""))
                yield from map(str, layers[-1])
            finally:
                with suppress(ValueError):  # it is closed already
                    while layers:
                        layers.pop().detach()

    def encoding(self, start: bytes) -> str:
        """Returns the encoding of a text, from its first bytes or as named.

        Raises:
            AnswerError: It is not text, or the two contradict each other.
        """
        self.refuse_another_kind(start, "text")
        named = self._format.encoding
        mark = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
        if named and mark and not self._format.codec.startswith(mark[:6].rstrip("-")):
            raise AnswerError(f"{self.label}: must be {named} text, but begins with the mark of {mark[:6].rstrip('-').upper()}")
        if not (named or mark) and b"\0" in start[:8]:
            rule = "must be text, but has zero bytes, as UTF-16 without a mark has"
            raise AnswerError(f"{self.label}: {rule}: name its encoding, such as utf-16-le")
        return mark or named or "utf-8"


def without_text_errors(items: Iterator[Any], where: Callable[[], str]) -> Iterator[Any]:
    """Yields elements, and replaces errors about text, which quote it; they are not chained to the new error."""
    while True:
        try:
            yield next(items)  # not assigned to a variable, which would keep the last element alive while it is sent
            continue
        except StopIteration:
            return
        except UnicodeDecodeError as error:
            rule = "must be UTF-8 text, but is not: name its encoding, such as cp1252"
            problem = rule if error.encoding == "utf-8" else "must be text in the named encoding, but is not"
        except csv.Error as error:
            problem = f"is not well-formed CSV: {error}"
        raise AnswerError(f"{where()}: {problem}")
