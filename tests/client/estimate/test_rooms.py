"""Inside of the estimates, too, a folder imports only those below it; and the doors have the names that they say."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from deniable import estimate
from deniable.estimate import checks, designs, indirect, regression, tables

HOME = Path(estimate.__file__).parent
ROOMS = {
    "limits": {"present"},
    "present": set(),
    "moments": set(),
    "checks": {"limits", "moments", "present"},
    "samples": {"limits", "moments"},
    "tables": {"limits", "moments", "samples", "checks", "present"},
    "regression": {"limits", "moments", "present"},
    "designs": {"limits", "moments", "present"},
    "indirect": {"designs", "limits", "present"},
}
"""Each folder, and the folders that it may import beside `arrays`. `limits` and `present` know of numbers and of tables alone."""


def rooms_in(source: str) -> set[str]:
    """The folders of estimates that a source text imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        names = (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in node.names]
            if isinstance(node, ast.Import)
            else []
        )
        if isinstance(node, ast.ImportFrom) and node.module == "deniable.estimate":
            names = [f"deniable.estimate.{alias.name}" for alias in node.names]
        found |= {name.split(".")[2] for name in names if name.startswith("deniable.estimate.")}
    return found


def beyond(room: str, source: str) -> set[str]:
    return rooms_in(source) - ROOMS[room] - {room, "arrays"}


def test_there_is_no_other_room() -> None:
    assert {path.name for path in HOME.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(ROOMS)
    assert {path.name for path in HOME.glob("*.py")} == {"__init__.py", "analysis.py", "arrays.py"}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_those_below_it(room: str) -> None:
    files = sorted((HOME / room).glob("*.py"))
    assert len(files) > 2
    assert {file.name: beyond(room, file.read_text(encoding="utf-8")) for file in files} == {file.name: set() for file in files}


def test_the_rooms_have_an_order() -> None:
    done: set[str] = set()
    while len(done) < len(ROOMS):
        ready = {room for room, below in ROOMS.items() if room not in done and below <= done}
        assert ready, "a circle"
        done |= ready


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("present", "from deniable.estimate.tables.results import Results"),
        ("limits", "def f():\n    from deniable.estimate.moments import counts"),
        ("moments", "import deniable.estimate.tables.means"),
        ("tables", "from deniable.estimate import analyse"),
    ],
)
def test_an_import_that_goes_up_is_noticed(room: str, line: str) -> None:
    assert beyond(room, line)


@pytest.mark.parametrize("room", ["limits", "present"])
def test_numbers_and_tables_know_no_survey(room: str) -> None:
    for file in (HOME / room).glob("*.py"):
        names = {node.module or "" for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)}
        ours = {name for name in names if name.startswith("deniable.")}
        assert not {name for name in ours if name.split(".")[1] not in ("errors", "extras", "estimate")}, file


@pytest.mark.parametrize("door", [estimate, tables, checks, regression, designs, indirect])
def test_every_name_of_a_door_is_there_and_about_twenty_are_public(door: object) -> None:
    names: list[str] = door.__all__  # type: ignore[attr-defined]
    assert names == sorted(names)
    assert len(names) <= 24
    assert all(hasattr(door, name) for name in names)
