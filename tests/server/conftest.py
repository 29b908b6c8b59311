"""A store, an application and perturbed submissions, for the tests of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable.entropy import os_words
from deniable.randomize import randomize
from deniable.submission import Submission, pack
from deniable.survey import Survey
from deniable_server import Config, create_app
from deniable_server.accounts import set_password
from deniable_server.store.sqlite import SqliteStore

SURVEY = """
deniable: 1
id: study
title: A study
about: Who asks, and why.
epsilon: ln 27
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: party, text: Which party?, type: choice, options: [Red, Green, Blue, Black, White, Grey, Pink]}
"""


@pytest.fixture
def survey() -> Survey:
    return Survey.from_text(SURVEY)


@pytest.fixture
def submissions(survey: Survey) -> Callable[..., Submission]:
    """Makes a submission of `count` perturbed records, each with answers of category 0, under a new random id."""

    def make(count: int = 1, id_: bytes | None = None) -> Submission:
        bits = [randomize(q.channel, np.zeros(count, dtype=np.int64), os_words) for q in survey.questions]
        return Submission(id_ or os_words(4).tobytes(), survey.digest, count, pack(survey, bits))

    return make


@pytest.fixture
def store(tmp_path: Path, survey: Survey) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "deniable.db")
    store.publish(survey)
    yield store
    store.close()


@pytest.fixture
def app(tmp_path: Path, store: SqliteStore) -> Flask:
    set_password(store, "ada", "correct horse battery")
    app = create_app(Config(tmp_path / "deniable.db", "x" * 40), store)
    app.config["TESTING"] = False
    return app


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()
