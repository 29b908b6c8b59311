"""Rows as an SPSS system file (.sav), written as they come.

Source of the format: GNU PSPP developers' guide, "System File Format". All variables are numbers. If all codes are small, each takes one
byte (bytecode compression), otherwise eight. The file has no date, so that it depends on the records only.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator, Mapping
from typing import IO

import numpy as np

from deniable.bundle.counted_records import Codes, CountedRecords
from deniable.bundle.labels import truncate, truncate_distinctly
from deniable.bundle.variables import MISSING, Variable

_VARIABLE_LABEL, _VALUE_LABEL = 252, 120  # bytes at most
_BIAS, _BYTES = 100, 251  # a code is written as the byte code + _BIAS, which is at most _BYTES
_SYSTEM_MISSING = 255
_NOMINAL, _WIDTH, _RIGHT = 1, 8, 1
_FORMAT = 5 << 16 | 5 << 8  # F5.0
_NO_DATE, _NO_TIME = b"01 Jan 70", b"00:00:00"
_MOST = (1 << 31) - 1


def write(counted: CountedRecords, columns: tuple[Variable, ...], file: IO[bytes]) -> None:
    """Writes a case for each record, with system-missing values. Labels that are too long for the format are truncated."""
    small = width(max(code for column in columns for code in column.values)) == 1
    file.write(_header(counted, len(columns), small))
    for number, column in enumerate(columns, start=1):
        file.write(_variable(number, column))
    for labels, numbers in _label_sets(columns):
        file.write(_value_labels(labels, numbers))
    file.write(_extensions(columns, counted.n))
    file.write(struct.pack("<2i", 999, 0))
    length = 0
    for rows in counted.rows():
        cells = _bytes(rows) if small else _doubles(rows)
        length += len(cells)
        file.write(cells)
    file.write(bytes(-length % 8))


def width(largest: int) -> int:
    """Returns the bytes of each code if this is the largest one."""
    return 1 if largest + _BIAS <= _BYTES else 8


def _header(counted: CountedRecords, variables: int, small: bool) -> bytes:
    title = truncate(" ".join(counted.survey.title.split()), 64).encode()
    return struct.pack(
        "<4s60s2i3id9s8s64s3x",
        b"$FL2",
        b"@(#) SPSS DATA FILE deniable".ljust(60),
        *(2, variables),
        *(int(small), 0, counted.n if counted.n <= _MOST else -1),
        float(_BIAS),
        _NO_DATE,
        _NO_TIME,
        title.ljust(64),
    )


def _variable(number: int, column: Variable) -> bytes:
    label = truncate(column.label, _VARIABLE_LABEL).encode()
    head = struct.pack("<6i8s", 2, 0, 1, 0, _FORMAT, _FORMAT, _short_name(number).ljust(8))
    return head + struct.pack("<i", len(label)) + label + bytes(-len(label) % 4)


def _short_name(number: int) -> bytes:
    """Returns the second name of a variable, of at most eight characters."""
    return f"V{number:06d}".encode()


def _label_sets(columns: tuple[Variable, ...]) -> Iterator[tuple[Mapping[int, str], list[int]]]:
    """Yields each different set of value labels, with the numbers of the variables that have it."""
    sets: dict[tuple[tuple[int, str], ...], list[int]] = {}
    for number, column in enumerate(columns, start=1):
        sets.setdefault(tuple(column.values.items()), []).append(number)
    for labels, numbers in sets.items():
        yield dict(labels), numbers


def _value_labels(labels: Mapping[int, str], numbers: list[int]) -> bytes:
    parts = [struct.pack("<2i", 3, len(labels))]
    for code, label in truncate_distinctly(labels, _VALUE_LABEL).items():
        text = label.encode()
        parts.append(struct.pack("<dB", code, len(text)) + text + b" " * (-(len(text) + 1) % 8))
    return b"".join(parts) + struct.pack(f"<{2 + len(numbers)}i", 4, len(numbers), *numbers)


def _extensions(columns: tuple[Variable, ...], n: int) -> bytes:
    """Returns the records of type 7: byte order and UTF-8, extreme numbers, display of variables, long names, number of cases."""
    least = np.nextafter(-sys.float_info.max, 0)
    names = "\t".join(f"{_short_name(number).decode()}={column.name}" for number, column in enumerate(columns, start=1)).encode()
    display = struct.pack("<3i", _NOMINAL, _WIDTH, _RIGHT) * len(columns)
    return b"".join(
        [
            _record(3, 4, struct.pack("<8i", 1, 0, 0, -1, 1, 1, 2, 65001)),
            _record(4, 8, struct.pack("<3d", -sys.float_info.max, sys.float_info.max, least)),
            _record(11, 4, display),
            _record(13, 1, names),
            _record(16, 8, struct.pack("<2q", 1, n)),
            _record(20, 1, b"UTF-8"),
        ]
    )


def _record(kind: int, size: int, content: bytes) -> bytes:
    return struct.pack("<4i", 7, kind, size, len(content) // size) + content


def _bytes(rows: Codes) -> bytes:
    return np.where(rows == MISSING, _SYSTEM_MISSING, rows + _BIAS).astype(np.uint8).tobytes()


def _doubles(rows: Codes) -> bytes:
    return np.where(rows == MISSING, -sys.float_info.max, rows).astype("<f8").tobytes()
