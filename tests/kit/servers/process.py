"""A real `deniable-server serve` in a process of its own: started when it answers, on a port that nobody else gets."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

from click.testing import CliRunner
from tests.kit.patience import PATIENCE

from deniable.survey import Survey
from deniable_server.access import api_keys
from deniable_server.identity import passwords
from deniable_server.operate.cli import main
from deniable_server.store import open_store
from deniable_server.store.protocol import Store

PROGRAM = str(Path(sys.executable).with_name("deniable-server"))
USER, PASSWORD = "ada", "correct horse battery"
_hashed_once = cache(passwords.hash_password)
"""A tenth of a second of two processors, as it should be; but once for all servers whose researcher has this password."""


def reserved() -> socket.socket:
    """A port of this machine that nobody is given while this is open; a server that says which port it wants gets it nevertheless."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as asked:
        asked.request("GET", "/healthz")
        asked.getresponse().read()
        return True
    return False


def start(
    words: Sequence[str | Path], port: int, log: Path, answers: Callable[[], bool] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Starts a server, and waits until it answers, or `answers` is true; `options` are those of Popen.

    Raises AssertionError, with its log, where it ends before it answers or takes longer than PATIENCE.
    """
    with log.open("ab") as file:
        process = subprocess.Popen(list(map(str, words)), stdout=file, stderr=file, **options)
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        if answers() if answers else _answers(port):
            return process
        time.sleep(0.05)
    process.kill()
    process.wait()
    raise AssertionError(f"the server did not start:\n{log.read_text(encoding='utf-8')}")


class ServerProcess:
    """One database with ada's account, and the server of it once it is started, in a process group of its own."""

    def __init__(self, folder: Path, command: Sequence[str] = (PROGRAM,)) -> None:
        self.folder, self.db, self.log = folder, folder / "data" / "deniable.db", folder / "server.log"
        self.command = command
        self._holder = reserved()
        self.port = self._holder.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        words = ["init", "--db", str(self.db), "--user", USER, "--password-env", "PASSWORD"]
        with patch.object(passwords, "hash_password", _hashed_once):
            made = CliRunner().invoke(main, words, env={"PASSWORD": PASSWORD})  # in this process: another takes its time to start
        assert made.exit_code == 0

    def run(self, name: str, *arguments: str) -> str:
        """One command on the server's database, in a process of its own; returns what it prints."""
        environment = {**os.environ, "PASSWORD": PASSWORD}
        words = [*self.command, name, "--db", str(self.db), *arguments]
        return subprocess.run(words, check=True, env=environment, capture_output=True, text=True).stdout

    @contextlib.contextmanager
    def store(self) -> Iterator[Store]:
        """The server's database, for a moment."""
        store = open_store(self.db)
        try:
            yield store
        finally:
            store.close()

    def publish(self, *surveys: Survey) -> Survey:
        """Publishes surveys; gives the last one as published."""
        with self.store() as store:
            for survey in surveys:
                store.surveys.publish(survey)
            return store.surveys.published(surveys[-1].id).survey

    @cached_property
    def key(self) -> str:
        """A key for submissions of many records."""
        with self.store() as store:
            return api_keys.make(store, "lab", ["submit"])

    def start(self, *options: str, answers: Callable[[], bool] | None = None) -> None:
        words = [*self.command, "serve", "--db", str(self.db), "--port", str(self.port), *options]
        self.process = start(words, self.port, self.log, answers, start_new_session=True)

    def kill(self) -> None:
        """kill -9 of every process of the server."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def stop(self) -> None:
        """Ends it in order, if it runs."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=PATIENCE)
            self.process = None

    def close(self) -> None:
        """Ends it, whatever it does, and lets go of its port."""
        if self.process is not None:
            self.kill()
        self._holder.close()
