"""A store, an application and perturbed submissions, for the tests of the server."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.breaks import BROKEN_SERVER
from tests.kit.issuer import the_same_key_for_all
from tests.kit.servers.cheap import cheap_applications
from tests.kit.servers.process import PASSWORD, PROGRAM, ServerProcess
from tests.kit.servers.strict_templates import strict_templates
from tests.kit.surveys import STUDY, submission

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.access import api_keys
from deniable_server.context import services_of
from deniable_server.identity.passwords import set_password
from deniable_server.results import result_cache
from deniable_server.store import open_store
from deniable_server.store.byte_cache import ByteCache
from deniable_server.store.protocol import Store


@pytest.fixture(scope="session", autouse=True)
def cheap() -> Iterator[None]:
    with cheap_applications(), strict_templates(), the_same_key_for_all():
        yield


@pytest.fixture(autouse=True)
def empty_result_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives each test an empty cache of results, as a new process has. A control that breaks a computation must find no earlier results."""
    monkeypatch.setattr(result_cache, "_values", ByteCache(result_cache.CACHE_BYTES))


@pytest.fixture
def survey() -> Survey:
    return Survey.from_text(STUDY)


@pytest.fixture
def submissions(survey: Survey) -> Callable[..., Submission]:
    """Makes a submission to the survey above, or another: `submissions(count, id_, to, group=..., mode=..., invitation=...)`."""

    def make(count: int = 1, id_: bytes | None = None, to: Survey = survey, **fields: Any) -> Submission:
        return submission(to, count, id_, **fields)

    return make


@pytest.fixture
def store(tmp_path: Path, survey: Survey) -> Iterator[Store]:
    store = open_store(tmp_path / "deniable.db")
    store.surveys.publish(survey)
    yield store
    store.close()


@pytest.fixture
def app(tmp_path: Path, store: Store) -> Flask:
    """An application with ada's account: she is an operator, so every survey is hers that nobody owns."""
    set_password(store.accounts, "ada", PASSWORD)
    store.people.set_operator("ada", True)
    app = create_app(Config(tmp_path / "deniable.db", "x" * 40), store)
    app.config["TESTING"] = False
    return app


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def logged_in() -> Callable[..., FlaskClient]:
    """Makes a browser with a session of somebody: ada, an operator, or a researcher, who get an account if they have none."""

    def make(app: Flask, user: str = "ada") -> FlaskClient:
        client, store, now = app.test_client(), services_of(app).store, int(time.time())
        accounts, token = store.accounts, os.urandom(16).hex()
        if accounts.password_hash(user) is None:
            set_password(accounts, user, PASSWORD)
            store.people.set_operator(user, user == "ada")
        with client.session_transaction("/manage") as session:
            session["token"] = token
        assert accounts.open_session(user, hashlib.sha256(token.encode()).digest(), now, now + 3600)
        return client

    return make


@pytest.fixture
def key(store: Store) -> dict[str, str]:
    """The header that lets a program send many records in one submission."""
    return {"Authorization": f"Bearer {api_keys.make(store, 'lab', ['submit'])}"}


@pytest.fixture
def make_server(tmp_path: Path) -> Iterator[Callable[..., ServerProcess]]:
    """Makes servers, initialised and not yet started, each in a folder of its own; ends them after the test."""
    made: list[ServerProcess] = []

    def make(variant: str | None = None) -> ServerProcess:
        folder = tmp_path / f"server{len(made)}"
        folder.mkdir()
        made.append(ServerProcess(folder, [sys.executable, BROKEN_SERVER, variant] if variant else [PROGRAM]))
        return made[-1]

    yield make
    for server in made:
        server.close()


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all tests of a module, as it is shipped."""
    server = ServerProcess(tmp_path_factory.mktemp("shipped"))
    server.start()
    yield server
    server.stop()
    server.close()
    assert "Traceback" not in server.log.read_text()
