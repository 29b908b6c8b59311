"""An export has every record of every part once, is whole or not there, and is refused when anything in it was changed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.client.exported.conftest import NORTH, SIZE, SIZES, SOUTH, TOWNS, Make, in_chunks

from deniable.errors import ExportError, SubmissionError
from deniable.exported import Export, pieces, write, writing
from deniable.wire.part import Part
from deniable.wire.tally import Tally

Broken = Callable[[Path], None]


def counted(records: bytes) -> Tally:
    return Tally.from_records(records, TOWNS.record.bits)


def same(a: Tally, b: Tally) -> bool:
    return (a.n, a.to_bytes()) == (b.n, b.to_bytes())


def stored(export: Export) -> dict[Part, bytes]:
    """All records of each part, as any reader of Parquet finds them."""
    found: dict[Part, bytes] = defaultdict(bytes)
    for piece in export.pieces:
        for row in pq.read_table(export.folder / piece.name).to_pylist():
            assert len(row["records"]) == row["n"] * SIZE
            found[Part(row["group"], row["mode"])] += row["records"]
    return dict(found)


# What is written.


def test_every_record_of_every_part_is_there_once_in_the_order_given(make: Make, sent: Mapping[Part, bytes]) -> None:
    export = make()
    assert stored(export) == sent
    assert (export.sizes, sum(piece.n for piece in export.pieces)) == (SIZES, sum(SIZES.values()))
    assert len(export.pieces) > 10
    assert sorted(path.name for path in export.folder.iterdir()) == ["manifest.json", *(piece.name for piece in export.pieces)]


@pytest.mark.parametrize("is_open", [True, False])
def test_what_is_opened_is_what_was_written(make: Make, is_open: bool) -> None:
    export = make(is_open=is_open)
    assert Export.open(export.folder) == export


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 31, 32, 33, 96])
def test_any_number_of_records_is_cut_into_whole_cells_and_counted(make: Make, sent: Mapping[Part, bytes], n: int) -> None:
    records = sent[Part(NORTH)][: n * SIZE]
    export = make(parts={Part(NORTH): records})
    assert stored(export) == ({Part(NORTH): records} if n else {})
    assert [row for piece in export.pieces for row in pq.read_table(export.folder / piece.name)["n"].to_pylist()] == [
        *[16] * (n // 16),
        *([n % 16] if n % 16 else []),
    ]
    assert same(Export.open(export.folder).tally(), counted(records))


def test_the_same_records_give_the_same_bytes(make: Make) -> None:
    first, second = make(), make("again")
    assert [path.read_bytes() for path in sorted(first.folder.iterdir())] == [path.read_bytes() for path in sorted(second.folder.iterdir())]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_records(tmp_path: Path, small: None) -> None:
    def most(n: int, name: str) -> int:
        found, before = 0, pa.total_allocated_bytes()

        def chunks() -> Iterator[bytes]:
            nonlocal found
            for _ in range(n):
                found = max(found, pa.total_allocated_bytes() - before + tracemalloc.get_traced_memory()[0])
                yield bytes(640 * SIZE)

        tracemalloc.start()
        try:
            write(tmp_path / name, TOWNS, [(Part(NORTH), chunks())], False)
        finally:
            tracemalloc.stop()
        return found

    writing.PIECE_BYTES, pieces.CELL = 4096 * SIZE, 512  # the fixture puts them back
    most(320, "first")  # what is imported for it is imported now
    few, many = most(80, "few"), most(320, "many")
    print(few, many)
    assert many < few + 2**15 < 320 * 640 * SIZE


# The tally.


def test_the_tally_is_that_of_the_records_for_all_for_a_group_and_by_hand(make: Make, sent: Mapping[Part, bytes]) -> None:
    export = make()
    together = {
        (None, False): [Part(NORTH), Part(NORTH, "organisation"), Part(SOUTH)],
        (NORTH, False): [Part(NORTH), Part(NORTH, "organisation")],
        (SOUTH, False): [Part(SOUTH)],
        (None, True): [Part(SOUTH, "by_hand")],
        (NORTH, True): [],
    }
    for (group, by_hand), parts in together.items():
        assert same(export.tally(group, by_hand), counted(b"".join(sent[part] for part in parts)))


def test_another_group_is_refused(make: Make) -> None:
    with pytest.raises(ExportError, match=r"^group must be one of North, "):
        make().tally("West")


def test_a_piece_that_is_counted_twice_or_not_at_all_is_noticed(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    export = make()
    for wrong in ((*export.pieces, export.pieces[0]), export.pieces[1:]):
        with pytest.raises(ExportError, match=r"must have the 437 records of its manifest"):
            Export(export.folder, TOWNS, False, export.sizes, wrong).tally()


# What is refused.


def edited(change: Callable[[dict[str, Any]], object]) -> Broken:
    def edit(folder: Path) -> None:
        path = folder / "manifest.json"
        told = json.loads(path.read_text())
        change(told)
        path.write_text(json.dumps(told))

    return edit


def flip(folder: Path) -> None:
    path = sorted(folder.glob("*.parquet"))[3]
    raw = bytearray(path.read_bytes())
    raw[40] ^= 1
    path.write_bytes(raw)


def swap(folder: Path) -> None:
    first, second, *_ = sorted(folder.glob("*.parquet"))
    shutil.copy(second, first)


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (flip, r"records-00003.parquet: its SHA-256 must be "),
        (swap, r"records-00000.parquet: its SHA-256 must be "),
        (lambda folder: (folder / "manifest.json").unlink(), "must be the folder of a complete export, with a manifest.json"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "must be the manifest of an export, got something else"),
        (edited(lambda told: told.pop("parts")), "must be the manifest of an export, got something else"),
        (edited(lambda told: told.update(deniable_export=2)), "must be of format 1"),
        (edited(lambda told: told.update(n=1)), "must agree with itself"),
        (edited(lambda told: told.update(digest="0" * 64)), "must agree with itself"),
        (edited(lambda told: told["parts"].pop()), "must agree with itself"),
        (edited(lambda told: told["parts"].append(told["parts"][0])), "must be the manifest of an export, got something else"),
        (edited(lambda told: told["parts"][0].update(mode="device2")), "must be the manifest of an export, got something else"),
        (edited(lambda told: told["pieces"].pop()), "must agree with itself"),
        (edited(lambda told: told["pieces"].append(told["pieces"][0])), "must be the manifest of an export, got something else"),
        (edited(lambda told: told["pieces"][0].update(name="../x")), "must be the manifest of an export, got something else"),
        (edited(lambda told: told["survey"]["questions"][0].update(keep_threshold=1)), "keep_threshold must be"),
    ],
)
def test_what_is_not_as_it_was_written_is_refused_and_named(make: Make, broken: Broken, told: str) -> None:
    folder = make().folder
    broken(folder)
    with pytest.raises(ExportError, match=told):
        Export.open(folder).tally()


def test_a_piece_that_is_gone_is_named(make: Make) -> None:
    folder = make().folder
    (folder / "records-00002.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"records-00002\.parquet"):
        Export.open(folder).tally()


def test_records_that_no_coins_of_the_survey_produce_are_refused(make: Make) -> None:
    with pytest.raises(SubmissionError, match="record 0: the last 7 bits of a record are padding"):
        make(parts={Part(NORTH): b"\xff" * SIZE}).tally()


# Whole, or not there.


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_what_is_there_already_is_left_alone(make: Make, tmp_path: Path, kind: str) -> None:
    place = tmp_path / "export"
    {"folder": place.mkdir, "file": place.touch, "link": lambda: place.symlink_to("nowhere")}[kind]()
    with pytest.raises(FileExistsError, match="export must be a new folder: it exists already"):
        make()
    assert [path.name for path in tmp_path.iterdir()] == ["export"]


def test_a_source_that_fails_leaves_nothing(make: Make, tmp_path: Path, sent: Mapping[Part, bytes]) -> None:
    def failing() -> Iterator[bytes]:
        yield sent[Part(NORTH)]
        raise OSError("the database is gone")

    with pytest.raises(OSError, match="the database is gone"):
        write(tmp_path / "export", TOWNS, [(Part(NORTH), failing())], False)
    assert list(tmp_path.iterdir()) == []


class Ended(BaseException):
    """As a kill does, it lets nothing be put away."""


def ended_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process ends before its step-th call that changes what is on the disk for good."""
    left = iter([False] * step)

    def ending(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if next(left, True):
                raise Ended
            return function(*args, **kwargs)

        return call

    monkeypatch.setattr(os, "fsync", ending(os.fsync))
    monkeypatch.setattr(os, "rename", ending(os.rename))
    monkeypatch.setattr(pq.ParquetWriter, "write_table", ending(pq.ParquetWriter.write_table))
    monkeypatch.setattr(shutil, "rmtree", lambda *args, **kwargs: None)


def ends(tmp_path: Path, sent: Mapping[Part, bytes], rule: Callable[[Path, int], None]) -> int:
    """Ends a process at each of its steps in turn, and looks at what is left; gives the number of steps."""
    records = {Part(NORTH): sent[Part(NORTH)][: 60 * SIZE]}
    for step in range(100):
        folder = tmp_path / str(step)
        folder.mkdir()
        with pytest.MonkeyPatch.context() as monkeypatch:
            ended_at(step, monkeypatch)
            try:
                write(folder / "export", TOWNS, ((part, in_chunks(all_)) for part, all_ in records.items()), False)
            except Ended:
                rule(folder, 60)
            else:
                return step
    raise AssertionError("it never ended")


def nothing_that_reads_as_whole_and_is_not(folder: Path, n: int) -> None:
    for left in folder.iterdir():
        try:
            assert Export.open(left).tally().n == n
        except ExportError:
            assert left.name.startswith(".export-unfinished-")


def test_a_kill_at_any_step_leaves_no_half_export_that_reads_as_whole(tmp_path: Path, sent: Mapping[Part, bytes], small: None) -> None:
    assert ends(tmp_path, sent, nothing_that_reads_as_whole_and_is_not) > 8


def test_a_manifest_that_is_written_first_would_be_found(
    tmp_path: Path, sent: Mapping[Part, bytes], small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing.tempfile, "mkdtemp", lambda prefix, dir: os.mkdir(dir / "export") or dir / "export")
    monkeypatch.setattr(writing.os, "rename", lambda made, folder: None)
    with pytest.raises(AssertionError):
        ends(tmp_path, sent, nothing_that_reads_as_whole_and_is_not)


WRITER = """
import sys
from pathlib import Path
from deniable.exported import pieces, write, writing
from deniable.survey import Survey
from deniable.wire.part import Part
pieces.CELL, writing.PIECE_BYTES = 16, 100
survey = Survey.from_text(sys.argv[2])
def chunks():
    for _ in range(3):
        yield bytes(64 * survey.record.bytes)
    print("in the middle", flush=True)
    sys.stdin.read()
write(Path(sys.argv[1]), survey, [(Part(), chunks())], False)
"""
PLAIN = "{deniable: 1, id: s, title: T, about: A., epsilon: 1, questions: [{id: q, text: '?', type: yes_no}]}"


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_no_folder_of_that_name(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "export"), PLAIN]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"in the middle\n"
        (left,) = tmp_path.iterdir()
        assert any(left.glob("*.parquet"))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert left.name.startswith(".export-unfinished-")
    with pytest.raises(ExportError, match="must be the folder of a complete export"):
        Export.open(left)
