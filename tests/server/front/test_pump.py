"""The pump: a growing file is read to its end like a file, one that is not completed ends in an error, and readers may leave."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.kit.patience import PATIENCE, wait_for

from deniable_server.front import pump
from deniable_server.front.pump import Pump

CONTENT = bytes(range(256)) * 4096  # 1 MiB, more than a pipe holds


class Growing:
    """As a `GrowingFile`, whose state a test sets."""

    def __init__(self, folder: Path) -> None:
        self.path, self.state, self.size = folder / "file", "growing", 100
        self.closed = threading.Event()

    def progress(self) -> tuple[str, int]:
        return self.state, self.size

    def read(self, first: int, most: int) -> bytes:
        return CONTENT[first : min(first + most, self.size)]

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
def file(tmp_path: Path) -> Any:
    return Growing(tmp_path)


def read(path: str, most: int = len(CONTENT)) -> bytes:
    """Reads a pipe as granian does, up to its end."""
    whole, descriptor = b"", os.open(path, os.O_RDONLY)
    try:
        while len(whole) < most and (part := os.read(descriptor, 1 << 16)):
            whole += part
        return whole
    finally:
        os.close(descriptor)


def reading(path: str) -> Future[bytes]:
    return ThreadPoolExecutor(1).submit(read, path, len(CONTENT) + 1)


def test_a_file_that_grows_is_sent_to_its_end(file: Any, tmp_path: Path) -> None:
    found = reading(Pump().follow(file))
    wait_for(lambda: list(tmp_path.iterdir()) == [], "the opened pipe, which has no name any more")
    file.size = len(CONTENT)
    file.state = "complete"
    assert found.result(PATIENCE) == CONTENT
    assert file.closed.wait(PATIENCE)


@pytest.mark.parametrize("size", [100, len(CONTENT)])
def test_a_file_that_is_not_completed_is_an_error_for_its_reader_and_not_an_end(file: Any, size: int) -> None:
    found = reading(Pump().follow(file))
    file.size, file.state = size, "failed"
    with pytest.raises(BlockingIOError):
        found.result(PATIENCE)
    assert file.closed.wait(PATIENCE)


def test_a_reader_that_leaves_closes_the_file_although_it_does_not_grow(file: Any) -> None:
    assert read(Pump().follow(file), 99) == CONTENT[:99]
    assert file.closed.wait(PATIENCE)


def test_a_pipe_that_nobody_opens_is_removed(file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump, "OPENED_SECONDS", 0.0)
    Pump().follow(file)
    assert file.closed.wait(PATIENCE)
    assert list(tmp_path.iterdir()) == []


def test_many_readers_have_one_thread_and_the_slow_ones_hold_up_nobody(tmp_path: Path) -> None:
    every = Pump()
    files: list[Any] = [Growing(tmp_path) for _ in range(4)]
    for file in files:
        file.size, file.state = len(CONTENT), "complete"
    slow = os.open(every.follow(files[0]), os.O_RDONLY)  # and does not read
    paths = [every.follow(file) for file in files[1:]]
    assert [found.result(PATIENCE) for found in map(reading, paths)] == [CONTENT] * 3
    assert sum(thread.name == "deniable-pump" for thread in threading.enumerate()) >= 1
    assert not files[0].closed.is_set()
    os.close(slow)
    assert files[0].closed.wait(PATIENCE)


def test_a_pump_without_files_ends_its_thread_and_starts_another_one(file: Any, tmp_path: Path) -> None:
    every = Pump()
    file.size, file.state = len(CONTENT), "complete"
    for _ in range(2):
        file.closed.clear()
        assert read(every.follow(file), len(CONTENT) + 1) == CONTENT
        assert file.closed.wait(PATIENCE)
        wait_for(lambda: not every._runs, "the end of the thread")
