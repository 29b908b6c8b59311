"""A store, an application and perturbed submissions, for the tests of the server."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.cheap import cheap_applications

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.api import keys
from deniable_server.researchers.passwords import set_password
from deniable_server.store import open_store
from deniable_server.store.protocol import Store

SURVEY = """
deniable: 1
id: study
title: A study
about: Who asks, and why.
batch: 1
epsilon: ln 9
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: party, text: Which party?, type: choice, options: [Red, Green, Blue, Black, White, Grey, Pink]}
"""

PROGRAM = str(Path(sys.executable).with_name("deniable-server"))


@pytest.fixture(scope="session", autouse=True)
def cheap() -> Iterator[None]:
    with cheap_applications():
        yield


@pytest.fixture
def survey() -> Survey:
    return Survey.from_text(SURVEY)


@pytest.fixture
def submissions(survey: Survey) -> Callable[..., Submission]:
    """Makes a submission of `count` perturbed records, each with answers of category 0, under a new random id.

    It is one of the survey above unless another is given; group, mode and invitation are the submission's.
    """

    def make(count: int = 1, id_: bytes | None = None, to: Survey = survey, **fields: Any) -> Submission:
        bits = [randomize(q.channel, np.zeros(count, dtype=np.int64), os_words) for q in to.questions]
        return Submission(id_ or os_words(4).tobytes(), to.digest, count, pack(to, bits), **fields)

    return make


@pytest.fixture
def store(tmp_path: Path, survey: Survey) -> Iterator[Store]:
    store = open_store(tmp_path / "deniable.db")
    store.surveys.publish(survey)
    yield store
    store.close()


@pytest.fixture
def app(tmp_path: Path, store: Store) -> Flask:
    set_password(store.accounts, "ada", "correct horse battery")
    app = create_app(Config(tmp_path / "deniable.db", "x" * 40), store)
    app.config["TESTING"] = False
    return app


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def logged_in() -> Callable[[Flask], FlaskClient]:
    """Makes a browser with a session of ada's, who gets an account if she has none."""

    def make(app: Flask) -> FlaskClient:
        client, accounts, now = app.test_client(), app.extensions["deniable"].accounts, int(time.time())
        token = os.urandom(16).hex()
        if accounts.password_hash("ada") is None:
            set_password(accounts, "ada", "correct horse battery")
        with client.session_transaction("/manage") as session:
            session["token"] = token
        assert accounts.open_session("ada", hashlib.sha256(token.encode()).digest(), now, now + 3600)
        return client

    return make


@pytest.fixture
def key(store: Store) -> dict[str, str]:
    """The header that lets a program send many records in one submission."""
    return {"Authorization": f"Bearer {keys.make(store, 'lab', ['submit'])}"}


class ServerProcess:
    """A real `deniable-server serve` in a process group of its own, with its log in a file."""

    def __init__(self, folder: Path, command: list[str] | None = None) -> None:
        self.folder, self.db, self.log = folder, folder / "data" / "deniable.db", folder / "server.log"
        self.command = command or [PROGRAM]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        self.run("init", "--user", "ada", "--password-env", "PASSWORD")

    def run(self, name: str, *arguments: str) -> str:
        """One command on the server's database; returns what it prints."""
        environment = {**os.environ, "PASSWORD": "correct horse battery"}
        words = [*self.command, name, "--db", str(self.db), *arguments]
        return subprocess.run(words, check=True, env=environment, capture_output=True, text=True).stdout

    def publish(self, *surveys: Survey) -> None:
        """Publishes without the command line, which takes its time to start."""
        store = open_store(self.db)
        for survey in surveys:
            store.surveys.publish(survey)
        store.close()

    @cached_property
    def key(self) -> str:
        """A key for submissions of many records."""
        store = open_store(self.db)
        key = keys.make(store, "lab", ["submit"])
        store.close()
        return key

    def start(self, *options: str) -> None:
        words = [*self.command, "serve", "--db", str(self.db), "--port", str(self.port), *options]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + 300  # a busy machine may take its time; a server that has ended is not waited for
        while self.process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"{self.url}/healthz", timeout=2)
                return
            time.sleep(0.02)
        raise AssertionError(f"the server did not start:\n{self.log.read_text()}")

    def kill(self) -> None:
        """kill -9 of every process of the server."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=30)
            self.process = None


@pytest.fixture
def make_server(tmp_path: Path) -> Iterator[Callable[..., ServerProcess]]:
    """Makes servers, initialised and not yet started, each in a folder of its own; ends them after the test."""
    made: list[ServerProcess] = []

    def make(variant: str | None = None) -> ServerProcess:
        folder = tmp_path / f"server{len(made)}"
        folder.mkdir()
        launch = [sys.executable, str(Path(__file__).with_name("launch.py")), variant] if variant else None
        made.append(ServerProcess(folder, launch))
        return made[-1]

    yield make
    for server in made:
        if server.process is not None:
            server.kill()


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all tests of a module, as it is shipped."""
    server = ServerProcess(tmp_path_factory.mktemp("shipped"))
    server.start()
    yield server
    server.stop()
    assert "Traceback" not in server.log.read_text()
