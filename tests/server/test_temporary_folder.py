"""Temporary folders: those of killed servers are deleted at the next start, and those of living ones are not, whatever their timing."""

from __future__ import annotations

import fcntl
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.kit.servers.process import ServerProcess

from deniable_server import temporary_folder
from deniable_server.front import processes
from deniable_server.temporary_folder import delete_abandoned, make_folder
from deniable_server.trials import runs

PREFIX = "deniable-computing-"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def abandoned(parent: Path, prefix: str = PREFIX, name: str = "killed") -> Path:
    """A folder as a killed server leaves it."""
    folder = parent / f"{prefix}{name}"
    folder.mkdir()
    (folder / "lock").touch()
    (folder / "a1b2").write_text("records")
    return folder


def test_a_killed_servers_folder_is_deleted_and_a_living_ones_is_not(temporary: Path) -> None:
    killed, other = abandoned(temporary), abandoned(temporary, "deniable-trials-")
    living = make_folder(PREFIX)
    assert (killed.exists(), other.exists(), living.stat().st_mode & 0o777) == (False, True, 0o700)
    delete_abandoned(temporary, PREFIX)
    make_folder(PREFIX)
    assert living.exists()


def test_what_is_no_folder_of_this_user_stays(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "lock").touch()
    (temporary / f"{PREFIX}link").symlink_to(elsewhere)
    new = temporary / f"{PREFIX}new"  # another server has not locked it yet
    new.mkdir()
    linked = abandoned(temporary, name="linked")
    (linked / "lock").unlink()
    (linked / "lock").symlink_to(elsewhere / "lock")
    delete_abandoned(temporary, PREFIX)
    assert ((elsewhere / "lock").exists(), new.exists(), linked.exists()) == (True, True, True)
    killed = abandoned(temporary)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    delete_abandoned(temporary, PREFIX)
    assert killed.exists()


@pytest.mark.parametrize("is_locked_first", [False, True])
def test_a_folder_that_another_server_takes_for_abandoned_while_it_is_made_is_made_anew(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, is_locked_first: bool
) -> None:
    """The other server looks between the making of the lock and the locking, or holds it at that moment."""
    flock, others = fcntl.flock, list[int]()

    def interrupted(descriptor: int, operation: int) -> None:
        if operation != fcntl.LOCK_EX or others:
            flock(descriptor, operation)
            return
        (folder,) = temporary.iterdir()
        others.append(os.open(folder / "lock", os.O_RDWR))
        if not is_locked_first:
            delete_abandoned(temporary, PREFIX)
            flock(descriptor, operation)
            return
        flock(others[0], fcntl.LOCK_EX)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(flock, descriptor, operation)
            (folder / "lock").unlink()
            folder.rmdir()
            os.close(others[0])
            waiting.result()

    monkeypatch.setattr(temporary_folder.fcntl, "flock", interrupted)  # type: ignore[attr-defined]
    made = make_folder(PREFIX)
    assert (made.exists(), list(temporary.iterdir())) == (True, [made])


@pytest.mark.slow
def test_a_server_deletes_the_folders_of_one_that_was_killed_with_its_processes(make_server: Any, tmp_path: Path) -> None:
    def folders() -> set[Path]:
        return {path for prefix in (processes.PREFIX, runs.PREFIX) for path in tmp_path.glob(f"{prefix}*")}

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path))
        first: ServerProcess = make_server()
        second: ServerProcess = make_server()
        first.start()
        of_first = folders()
        second.start()
        of_both = folders()
        assert (len(of_first), len(of_both), of_first < of_both) == (2, 4, True)
        first.kill()
        assert folders() == of_both
        first.start()
        assert (of_first & folders(), of_both - of_first <= folders()) == (set(), True), "and not those of the other one"
        second.stop()
        first.stop()
        assert folders() == set()
