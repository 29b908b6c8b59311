"""Whoever presses Ctrl-C, at whatever moment, and calls again: each row is randomized once and counted once, and nothing stays taken."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.kit.patience import wait_for

from deniable.delivery.outbox import Outbox
from deniable.errors import DeliveryError
from deniable.privacy.private_files import PrivateDatabase
from deniable.sdk.client import SurveyClient

WATCHED = tuple(os.path.join("deniable", *name) for name in (("client.py",), ("delivery", "jobs.py"), ("delivery", "outbox.py")))
"""Where an interrupt comes: the files that take a job up, keep its rows and let go of it."""
STEP = int(os.environ.get("DENIABLE_INTERRUPTS", "41"))
"""Of so many lines one is interrupted; `make long NAME=frames` takes every one."""
KEY = "dk_" + "k" * 43
HOLDER = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


class Interrupt:
    """Raises KeyboardInterrupt at the `at`-th line of the files above; `passed` is how many there were."""

    def __init__(self, at: int) -> None:
        self.at, self.passed = at, 0

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        if not frame.f_code.co_filename.endswith(WATCHED):
            return None
        if event == "line":
            self.passed += 1
            if self.passed == self.at:
                raise KeyboardInterrupt
        return self


def interrupted(client: SurveyClient, rows: Path, at: int) -> int:
    """A run that is interrupted at that line; how many lines it has come to."""
    tracer, before = Interrupt(at), sys.gettrace()
    sys.settrace(tracer)
    try:
        client.submit_many("study", rows, batch=2)
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return tracer.passed


def after_interrupts(server: Any, folder: Path, lines: range) -> list[tuple[int, int, int]]:
    """For each line: what the same call with the same client reports then, how many rows are counted, and what waits."""
    found = []
    rows = folder / "rows.csv"
    rows.write_text("smokes,party\n" + "yes,Red\n" * 6)
    for at in lines:
        server.accepted.clear()
        path = folder / f"outbox{at}"
        with SurveyClient(server.url, outbox=path, key=KEY, retries=0) as client:
            interrupted(client, rows, at)
            accepted = client.submit_many("study", rows, batch=2).accepted
            for thread in threading.enumerate():
                if thread.name == "deniable-sender":
                    thread.join()
            found.append((accepted, server.counted, client.outbox.waiting(server.url)))
    return found


@pytest.fixture
def lines(server, tmp_path) -> int:
    """How many lines a run takes that nobody interrupts."""
    rows = tmp_path / "counted.csv"
    rows.write_text("smokes,party\n" + "yes,Red\n" * 6)
    with SurveyClient(server.url, outbox=tmp_path / "counted", key=KEY, retries=0) as client:
        return interrupted(client, rows, 0)


@pytest.mark.slow
def test_after_an_interrupt_at_any_line_the_same_call_goes_on(server, tmp_path, lines):
    assert lines > 200
    at = range(1, lines, STEP)
    assert after_interrupts(server, tmp_path, at) == [(6, 6, 0)] * len(at)


def test_the_control_a_job_that_nobody_lets_go_of_is_found(server, tmp_path, lines, monkeypatch):
    monkeypatch.setattr(Outbox, "end", lambda box, job: None)
    monkeypatch.setattr("deniable.delivery.outbox.WeakValueDictionary", dict)
    with pytest.raises(DeliveryError, match="another process is working on it"):
        after_interrupts(server, tmp_path, range(lines - 9, lines))


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """The signal interrupts, as at a terminal: a shell has what it starts in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def ctrl_c_while_waiting(path: Path) -> Outbox:
    """An outbox that was interrupted by a real signal while it waited for another process that was writing."""
    box = Outbox(path)
    with subprocess.Popen([sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        begun, waiting = threading.Event(), threading.get_ident()

        def traced(statement: str) -> None:
            if statement.startswith("BEGIN"):
                begun.set()

        def told() -> bool:
            """Whether SQLite is at work again: what is raised in a callback of its own, or in what that calls, is lost."""
            frame = sys._current_frames()[waiting]
            while frame.f_code is not traced.__code__ and frame.f_back is not None:
                frame = frame.f_back
            return frame.f_code is not traced.__code__

        def pressing() -> None:
            begun.wait()
            wait_for(told, "the wait for the other process")
            os.kill(os.getpid(), signal.SIGINT)
            assert holder.stdin is not None
            holder.stdin.close()

        box._file._db.set_trace_callback(traced)
        pressed = threading.Thread(target=pressing)
        pressed.start()
        with pytest.raises(KeyboardInterrupt):
            box.urls()
        pressed.join()
    return box


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no such signal")
@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_while_another_process_writes_leaves_the_file_to_everybody(tmp_path):
    with closing(ctrl_c_while_waiting(tmp_path / "outbox")) as box:
        assert box.urls() == []
        with closing(sqlite3.connect(tmp_path / "outbox", isolation_level=None, timeout=0)) as other:
            other.execute("BEGIN IMMEDIATE")


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no such signal")
@pytest.mark.usefixtures("ctrl_c")
def test_the_control_a_transaction_that_begins_unwatched_keeps_it(tmp_path, monkeypatch):
    @contextmanager
    def unwatched(file: PrivateDatabase) -> Iterator[sqlite3.Connection]:
        with file.locked():
            file._db.execute("BEGIN IMMEDIATE")
            yield file._db
            file._db.execute("COMMIT")

    monkeypatch.setattr(PrivateDatabase, "transaction", unwatched)
    box = ctrl_c_while_waiting(tmp_path / "outbox")
    with pytest.raises(DeliveryError, match="within a transaction"):
        box.urls()
    with pytest.raises(DeliveryError, match="within a transaction"):
        box.close()
    with closing(Outbox(tmp_path / "outbox")) as after:  # closed all the same
        assert after.urls() == []
