"""Files of downloads: shared while they are made, kept for a while afterwards, and deleted with the last who wants them."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kit.patience import PATIENCE, wait_for

from deniable_server.store.errors import UnavailableError
from deniable_server.web import downloads
from deniable_server.web.downloads import Build, Downloads
from deniable_server.web.offload import Gone, GoneError, ProcessReply, Task, TooMuchError

TASK = Task("module:function", (), {}, 1, {}, {}, {})


class Writers:
    """In place of computing processes: each has a file of three bytes and writes the fourth when it may, or fails."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.may_end, self.fails, self.runs = folder, threading.Event(), False, 0

    def run(self, task: Task, gone: Gone, begun: Callable[[ProcessReply], None] = lambda reply: None) -> ProcessReply:
        self.runs += 1
        path, link = (self.folder / secrets.token_hex(4) for _ in range(2))
        path.write_bytes(b"abc")
        begun(ProcessReply(200, [], b"", str(path)))
        wait_for(lambda: gone.happened or self.may_end.is_set(), "the end")
        if gone.happened:
            raise GoneError
        if self.fails:
            raise TooMuchError("too much")
        path.write_bytes(b"abcd")
        link.hardlink_to(path)
        return ProcessReply(200, [], b"", str(link))

    @property
    def files(self) -> list[bytes]:
        return [file.read_bytes() for file in self.folder.iterdir()]


@pytest.fixture
def writers(tmp_path: Path) -> Iterator[Writers]:
    made = Writers(tmp_path)
    yield made
    made.may_end.set()


def complete(kept: Downloads, name: str, version: str = "1") -> Build:
    """A build that has its file, with one client."""
    build = kept.join((name,), version, TASK)
    kept.wait(build, Gone(), whole=True)
    return build


def test_the_newest_files_are_kept_without_a_client(writers: Writers) -> None:
    kept = Downloads(writers)
    writers.may_end.set()
    for number in range(downloads.KEPT_FILES + 3):
        kept.leave(complete(kept, str(number)))
    assert len(writers.files) == downloads.KEPT_FILES
    runs = writers.runs
    kept.leave(complete(kept, str(downloads.KEPT_FILES + 2)))
    assert writers.runs == runs, "it is there"
    kept.leave(complete(kept, "0"))
    assert writers.runs == runs + 1, "it was the oldest"


def test_a_file_is_deleted_some_time_after_its_last_use(writers: Writers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "KEPT_SECONDS", 0.0)
    kept = Downloads(writers)
    writers.may_end.set()
    kept.leave(complete(kept, "a"))
    wait_for(lambda: not any(writers.folder.iterdir()), "the deletion")


def test_a_file_that_is_used_again_is_not_deleted_at_the_time_of_its_earlier_use(writers: Writers, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(downloads, "monotonic", lambda: now[0])
    kept = Downloads(writers)
    writers.may_end.set()
    build, kept_for = complete(kept, "a"), downloads.KEPT_SECONDS
    kept.leave(build)
    now[0] = kept_for - 1
    assert complete(kept, "a") is build
    now[0] = kept_for + 1
    kept._sweep()
    assert writers.files == [b"abcd"], "it is in use"
    kept.leave(build)
    now[0] = 2 * kept_for
    kept._sweep()
    assert writers.files == [b"abcd"], "it was in use"
    now[0] = 2 * kept_for + 1
    kept._sweep()
    assert writers.files == []


def test_only_so_many_clients_follow_growing_files(writers: Writers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "MOST_FOLLOWERS", 1)
    kept = Downloads(writers)
    build = kept.join(("a",), "1", TASK)
    kept.wait(build, Gone(), whole=False)
    body: Any = kept.growing(build).response
    assert (body.progress(), body.read(1, 9), kept.has_room) == (("growing", 3), b"bc", False)
    for _ in range(2):  # to close it again does nothing
        body.close()
    assert (kept.has_room, build.clients, build.gone.happened) == (True, 0, True)


def test_only_so_many_files_are_written_at_a_time(writers: Writers) -> None:
    kept = Downloads(writers)
    builds = [kept.join((str(number),), "1", TASK) for number in range(downloads.MOST_BUILDS)]
    with pytest.raises(UnavailableError, match="others are downloading data"):
        kept.join(("more",), "1", TASK)
    assert kept.join(("0",), "1", TASK) is builds[0], "which is written anyway"
    writers.may_end.set()
    for build in builds:
        kept.wait(build, Gone(), whole=True)
    assert kept.join(("more",), "1", TASK) not in builds


def test_a_file_of_records_that_have_changed_is_deleted_when_its_last_client_leaves(writers: Writers) -> None:
    kept = Downloads(writers)
    writers.may_end.set()
    old, new = complete(kept, "a", "1"), complete(kept, "a", "2")
    assert len(writers.files) == 2
    kept.leave(old)
    assert len(writers.files) == 1
    kept.leave(new)
    kept.leave(complete(kept, "a", "3"))
    assert len(writers.files) == 1, "the second had no client any more"


def test_a_build_goes_on_until_its_last_client_leaves_and_then_ends(writers: Writers) -> None:
    kept = Downloads(writers)
    first, second = (kept.join(("a",), "1", TASK) for _ in range(2))
    kept.wait(first, Gone(), whole=False)
    assert first is second
    kept.leave(first)
    assert (writers.files, first.gone.happened) == ([b"abc"], False)
    kept.leave(second)
    assert (writers.files, first.gone.happened) == ([], True)
    assert kept.join(("a",), "1", TASK) is not first


def test_everybody_who_waits_for_a_build_that_fails_gets_the_error_and_the_next_client_another_build(writers: Writers) -> None:
    kept, writers.fails = Downloads(writers), True
    build, _ = (kept.join(("a",), "1", TASK) for _ in range(2))
    writers.may_end.set()
    for _ in range(2):
        with pytest.raises(TooMuchError, match="too much"):
            kept.wait(build, Gone(), whole=True)
        kept.leave(build)
    assert writers.files == []
    writers.fails = False
    assert complete(kept, "a").is_complete


def test_a_client_that_goes_away_while_it_waits_waits_no_more(writers: Writers) -> None:
    kept, gone, outcome = Downloads(writers), Gone(), list[str]()
    build = kept.join(("a",), "1", TASK)

    def wait() -> None:
        try:
            kept.wait(build, gone, whole=True)
        except GoneError:
            outcome.append("gone")

    thread = threading.Thread(target=wait)
    thread.start()
    gone.set()
    thread.join(PATIENCE)
    assert outcome == ["gone"]
