"""What a browser's profile on the disk says, file by file, and which of it follows the answer and not the run.

Nobody has to know what to look for: whatever all profiles of one answer have, and none of another answer, is a trace of it.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import shutil
import sqlite3
import struct
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cramjam
import numpy as np
from numpy.typing import NDArray

WIDTH = 8  # bytes that are compared at a time: fewer meet by chance too often, such as four digits of a random id
PAGE = 4096
ENGAGEMENT = re.compile(r"\.site_engagement\..*\.(rawScore|pointsAddedToday)=")
"""Chromium's scores of the seconds in which somebody used a site, up to 15 a day: how long a visit took, as every history has it.

A visit with more questions takes longer, and comes to the end of the scale in every run.
"""
ELSEWHERE = ("page", "network", "log")
"""What facts begin with that are not about the disk."""
MOZ_LZ4, SQLITE, LEVELDB = b"mozLz40\0", b"SQLite format 3\0", struct.pack("<Q", 0xDB4775248B80FB57)


@dataclass
class Profile:
    """What can be read, as facts, and the unpacked bytes of all else; by a file's name without what differs from run to run."""

    contents: dict[str, list[bytes]] = field(default_factory=dict)
    facts: set[str] = field(default_factory=set)


def read(folder: Path) -> Profile:
    """Everything in a profile; the browser must have ended."""
    profile = Profile()
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.is_symlink() or "startupCache" in file.parts:  # Firefox's own programs, compiled
            continue
        name = re.sub(r"[0-9a-fA-F]{8,}|\d+", "#", str(file.relative_to(folder)))
        for part in unpacked(file):
            document = _parsed(part)
            facts = leaves("", document) if document is not None else _cells(file) if part.startswith(SQLITE) else ()
            profile.facts.update(f"{name}: {fact}" for fact in facts if not ENGAGEMENT.search(fact))
            if document is None:
                profile.contents.setdefault(name, []).append(part)
    return profile


def traces_of_the_answer(some: Sequence[Profile], others: Sequence[Profile]) -> list[str]:
    """What all profiles of one answer have, and none of those of the other: sorted, as a person can read it."""
    return sorted({*_in_all_and_none(some, others), *_in_all_and_none(others, some)})


def says(found: dict[str, list[str]], text: str) -> bool:
    """Whether what was found on the disk has a part of this text, in any width of its characters."""
    raws = [text.encode(code) for code in ("utf-8", "utf-16-le")]
    parts = [repr(raw[i : i + WIDTH])[2:-1] for raw in raws for i in range(max(1, len(raw) - WIDTH + 1))]
    return any(part in trace for traces in found.values() for trace in traces for part in parts if not trace.startswith(ELSEWHERE))


def unpacked(file: Path) -> list[bytes]:
    """A file's bytes without their compression."""
    try:
        raw = file.read_bytes()
    except FileNotFoundError:  # a running browser replaces it
        return []
    if raw.startswith(MOZ_LZ4):
        return [bytes(cramjam.lz4.decompress_block(raw[12:], output_len=int.from_bytes(raw[8:12], "little")))]
    if raw.startswith(b"\x1f\x8b"):
        with contextlib.suppress(gzip.BadGzipFile, EOFError, zlib.error):  # half written, or no such file after all
            return [gzip.decompress(raw)]
    if raw.endswith(LEVELDB):
        return [raw, *_blocks(raw)]
    return [raw]


def _blocks(table: bytes) -> Iterator[bytes]:
    """The blocks of a LevelDB table."""
    footer = table[-48:]
    _, place = _handle(footer, 0)
    index, _ = _handle(footer, place)
    for value in _values(_block(table, *index)):
        yield _block(table, *_handle(value, 0)[0])


def _block(table: bytes, start: int, size: int) -> bytes:
    content, kind = table[start : start + size], table[start + size]
    return bytes(cramjam.snappy.decompress_raw(content)) if kind == 1 else content


def _values(block: bytes) -> Iterator[bytes]:
    place, end = 0, len(block) - 4 * (1 + int.from_bytes(block[-4:], "little"))
    while place < end:
        _, place = _varint(block, place)
        own, place = _varint(block, place)
        size, place = _varint(block, place)
        yield block[place + own : place + own + size]
        place += own + size


def _handle(raw: bytes, place: int) -> tuple[tuple[int, int], int]:
    start, place = _varint(raw, place)
    size, place = _varint(raw, place)
    return (start, size), place


def _varint(raw: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place


def _parsed(content: bytes | str) -> Any:
    """A JSON document; None where it is something else."""
    try:
        return json.loads(content) if content[:1] in (b"{", b"[", "{", "[") else None
    except ValueError:
        return None


def _cells(file: Path) -> Iterator[str]:
    """A database's cells, one by one."""
    with tempfile.TemporaryDirectory() as folder:
        for part in (file, *(file.with_name(file.name + suffix) for suffix in ("-wal", "-journal"))):
            with contextlib.suppress(FileNotFoundError):  # a process of the browser's that outlives it may still tidy up
                shutil.copy(part, folder)
        with closing(sqlite3.connect(Path(folder) / file.name)) as db:
            db.text_factory = bytes
            for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                name = table.decode()
                try:
                    rows = db.execute(f'SELECT * FROM "{name}"')
                    found = rows.fetchall()
                except sqlite3.DatabaseError:  # a virtual table of the browser's own, or a page half written
                    continue
                columns = [column[0] for column in rows.description]
                yield f"{name}: {len(found)} rows"
                yield from (f"{name}.{column}={value!r}" for row in found for column, value in zip(columns, row, strict=True))


def leaves(way: str, value: Any) -> Iterator[str]:
    """A document's values, each with the way to it, also in documents that are texts in it."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(f"{way}.{key}", part)
    elif isinstance(value, list):
        yield f"{way}: {len(value)} entries"
        for part in value:
            yield from leaves(f"{way}[]", part)
    elif isinstance(value, str) and (inner := _parsed(value)) is not None:
        yield from leaves(f"{way}:", inner)
    else:
        yield f"{way}={value!r}"


def _in_all_and_none(some: Sequence[Profile], others: Sequence[Profile]) -> Iterator[str]:
    everything = (*some, *others)
    yield from set.intersection(*(p.facts for p in some)) - set.union(*(p.facts for p in others))
    for name in set.intersection(*(set(p.contents) for p in some)):
        if not any(name in p.contents for p in others):
            yield f"{name}: is there"
            continue
        same = set.intersection(*(_pages(p.contents.get(name, [])) for p in everything))
        found = _windows(some[0].contents[name], same)
        for p in some[1:]:
            found = np.intersect1d(found, _windows(p.contents[name], same), assume_unique=True)
        for contents in (p.contents.get(name, []) for p in others):
            found = found[np.isin(found, _windows(contents, same), invert=True, assume_unique=True)]
        for content in (content for p in others for content in p.contents.get(name, []) if found.size):
            found = found[np.isin(found, _rows(content), invert=True, assume_unique=True)]
        yield from (f"{name}: has {window.to_bytes(WIDTH, 'little')!r}" for window in found.tolist())


def _pages(contents: Sequence[bytes]) -> set[bytes]:
    return {content[start : start + PAGE] for content in contents for start in range(0, len(content), PAGE)}


def _windows(contents: Sequence[bytes], same: set[bytes]) -> NDArray[np.uint64]:
    """All that stands in `WIDTH` bytes in a row, as numbers, but for pages that are the same in all profiles."""
    starts = ((content, start) for content in contents for start in range(0, len(content), PAGE))
    fresh = [content[max(0, at - WIDTH) : at + PAGE + WIDTH] for content, at in starts if content[at : at + PAGE] not in same]
    rows = np.concatenate([np.empty(0, np.uint64), *map(_rows, fresh)])
    rows.sort()
    return rows[np.diff(rows, prepend=rows[:1] + np.uint64(1)) != 0]  # many times as fast as np.unique here


def _rows(content: bytes) -> NDArray[np.uint64]:
    raw = np.frombuffer(content, np.uint8).astype(np.uint64)
    count = max(0, len(raw) - WIDTH + 1)
    rows = np.zeros(count, np.uint64)
    for place in range(WIDTH):
        rows |= raw[place : place + count] << np.uint64(8 * place)
    return rows
