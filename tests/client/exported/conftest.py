"""A survey with groups, records of its parts, and an export of them in many small pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from deniable.exported import Export, pieces, write, writing
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.part import Part

TOWNS = Survey.from_text("""
deniable: 1
id: towns
title: Towns
about: Who asks, and why.
epsilon: 6
groups: [North, "line\\nbreak, الجنوب"]
questions:
  - {id: smokes, text: Smokes?, type: yes_no}
  - {id: party, text: Party?, type: choice, options: [Red, Green, Blue, Black, White, Grey, Pink]}
  - {id: used, text: Used?, type: multi_choice, options: [tea, coffee]}
""")
NORTH, SOUTH = TOWNS.groups
SIZES = {Part(NORTH): 301, Part(NORTH, "organisation"): 40, Part(SOUTH): 96, Part(SOUTH, "by_hand"): 17}
SIZE = TOWNS.record.bytes


@pytest.fixture(scope="session")
def sent() -> Mapping[Part, bytes]:
    """The packed records of each part, in any order."""
    shares = {item.id: [1 / item.k] * item.k for item in TOWNS.items}
    return {part: simulate(TOWNS, shares, n).reports for part, n in SIZES.items()}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells of 16 records, pieces of two or three of them."""
    monkeypatch.setattr(pieces, "CELL", 16)
    monkeypatch.setattr(writing, "PIECE_BYTES", 16 * SIZE + 1)


Make = Callable[..., Export]


@pytest.fixture
def make(tmp_path: Path, sent: Mapping[Part, bytes], small: None) -> Make:
    """Makes an export; by default of all that was sent."""

    def export(name: str = "export", parts: Mapping[Part, bytes] = sent, is_open: bool = False) -> Export:
        return write(tmp_path / name, TOWNS, ((part, in_chunks(records)) for part, records in parts.items()), is_open)

    return export


def in_chunks(records: bytes) -> list[bytes]:
    """Cut anywhere between two records."""
    return [records[:SIZE], b"", records[SIZE : 50 * SIZE], records[50 * SIZE :]]
