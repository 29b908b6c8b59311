"""Rows as a Stata file (.dta, format 118 of Stata 14), written as they come.

Source of the format: `help dta_118` of Stata. Each variable has whole numbers of one byte, or of two if its codes need them. A variable's
label has at most 80 characters; the full text is a note (`notes`). The file has no date, so that it depends on the records only.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import IO

import numpy as np

from deniable.bundle.counted_records import CountedRecords
from deniable.bundle.labels import truncate_distinctly
from deniable.bundle.variables import MISSING, Variable

_BYTE, _INT = 65530, 65529
_LARGEST = {_BYTE: 100, _INT: 32740}  # the next number is the missing value
_DTYPES: dict[int, np.dtype[np.signedinteger]] = {_BYTE: np.dtype("i1"), _INT: np.dtype("<i2")}
_LABEL, _VALUE_LABEL = 80, 32_000  # characters, bytes
_SECTIONS = ("variable_types", "varnames", "sortlist", "formats", "value_label_names", "variable_labels", "characteristics")


def write(counted: CountedRecords, columns: tuple[Variable, ...], file: IO[bytes]) -> None:
    """Writes an observation for each record."""
    types = [_BYTE if width(max(column.values)) == 1 else _INT for column in columns]
    head, sections, tail = _head(counted, len(columns)), _sections(columns, types), _value_labels(columns)
    length = counted.n * sum(_DTYPES[kind].itemsize for kind in types)
    file.write(head + _map(len(head), sections, length, len(tail)) + b"".join(sections) + b"<data>")
    row = np.dtype([(str(i), _DTYPES[kind]) for i, kind in enumerate(types)])
    for codes in counted.rows():
        observations = np.empty(len(codes), dtype=row)
        for i, kind in enumerate(types):
            observations[str(i)] = np.where(codes[:, i] == MISSING, _LARGEST[kind] + 1, codes[:, i])
        file.write(observations.tobytes())
    file.write(b"</data><strls></strls>" + tail + b"</stata_dta>")


def width(largest: int) -> int:
    """Returns the bytes of each code of a variable if this is the largest one."""
    return 1 if largest <= _LARGEST[_BYTE] else 2


def _head(counted: CountedRecords, variables: int) -> bytes:
    title = " ".join(counted.survey.title.split())[:_LABEL].encode()
    return b"".join(
        [
            b"<stata_dta><header><release>118</release><byteorder>LSF</byteorder>",
            b"<K>" + struct.pack("<H", variables) + b"</K><N>" + struct.pack("<Q", counted.n) + b"</N>",
            b"<label>" + struct.pack("<H", len(title)) + title + b"</label>",
            b"<timestamp>\0</timestamp></header>",
        ]
    )


def _map(start: int, sections: list[bytes], data: int, tail: int) -> bytes:
    """Returns the map of offsets: of the header, of the map itself, of each section, and of the end."""
    lengths = [start, len("<map></map>") + 14 * 8, *map(len, sections), len("<data></data>") + data, len("<strls></strls>"), tail]
    offsets = np.cumsum([0, *lengths, len("</stata_dta>")])
    assert len(offsets) == 14
    return b"<map>" + offsets.astype("<u8").tobytes() + b"</map>"


def _sections(columns: tuple[Variable, ...], types: list[int]) -> list[bytes]:
    names = [column.name for column in columns]
    contents = (
        struct.pack(f"<{len(types)}H", *types),
        _padded(names, 129),
        bytes(2 * (len(names) + 1)),
        _padded(["%8.0g"] * len(names), 57),
        _padded([f"L{i}" for i in range(1, len(names) + 1)], 129),
        _padded([_short_label(column.label) for column in columns], 321),
        b"".join(_note(column) for column in columns if len(column.label) > _LABEL),
    )
    return [_tagged(tag, content) for tag, content in zip(_SECTIONS, contents, strict=True)]


def _short_label(label: str) -> str:
    return label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}…"


def _note(column: Variable) -> bytes:
    """Returns the full label as a note: the number of notes, and the first of them."""
    characteristics = [
        struct.pack("<129s129s", column.name.encode(), key) + text + b"\0"
        for key, text in ((b"note0", b"1"), (b"note1", column.label.encode()))
    ]
    return b"".join(b"<ch>" + struct.pack("<I", len(content)) + content + b"</ch>" for content in characteristics)


def _value_labels(columns: tuple[Variable, ...]) -> bytes:
    labels = [_value_label(f"L{i}", column.values) for i, column in enumerate(columns, start=1)]
    return _tagged("value_labels", b"".join(labels))


def _value_label(name: str, values: Mapping[int, str]) -> bytes:
    codes = sorted(values)
    texts = [text.encode() + b"\0" for _, text in sorted(truncate_distinctly(values, _VALUE_LABEL).items())]
    offsets = np.cumsum([0, *map(len, texts)])
    table = (
        struct.pack("<2I", len(texts), offsets[-1])
        + offsets[:-1].astype("<u4").tobytes()
        + np.array(codes, "<i4").tobytes()
        + b"".join(texts)
    )
    return b"<lbl>" + struct.pack("<I129s3x", len(table), name.encode()) + table + b"</lbl>"


def _padded(texts: list[str], size: int) -> bytes:
    return b"".join(text.encode().ljust(size, b"\0") for text in texts)


def _tagged(tag: str, content: bytes) -> bytes:
    return f"<{tag}>".encode() + content + f"</{tag}>".encode()
