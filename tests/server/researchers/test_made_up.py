"""The results page and its downloads say when reports look made up, and else what would not show."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable.device.entropy import os_words
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.store import open_store
from deniable_server.store.protocol import Store

QUESTIONS = [{"id": f"q{i}", "text": "Yes?", "type": "yes_no"} for i in range(20)]
SURVEY = Survey.from_dict({"deniable": 1, "id": "twenty", "title": "T", "about": "A", "epsilon": 1, "questions": QUESTIONS})
PAGE = "/manage/surveys/twenty"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = open_store(tmp_path / "deniable.db")
    made.surveys.publish(SURVEY)
    yield made
    made.close()


@pytest.fixture
def ada(store: Store, tmp_path: Path, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    """Of a researcher who is logged in."""
    return logged_in(create_app(Config(tmp_path / "deniable.db", "x" * 40), store))


def send(store: Store, n: int, reports: bytes) -> None:
    store.submissions.add("twenty", Submission(os_words(4).tobytes(), SURVEY.digest, n, reports))


def test_five_of_a_hundred_that_say_yes_to_everything_are_shown_on_top_of_the_page(store: Store, ada: FlaskClient) -> None:
    assert "ade-up" not in ada.get(PAGE).text, "there are no reports yet"
    send(store, 9_500, simulate(SURVEY, {item.id: [0.2, 0.8] for item in SURVEY.items}, 9_500).reports)
    honest = html.unescape(ada.get(PAGE).text)
    assert "No sign of made-up reports that repeat the same answers; from 1.3% of all reports on, they would show." in honest
    assert 'class="warning made-up"' not in honest
    send(store, 500, pack(SURVEY, [np.tile([True, False], (500, 1)) for _ in SURVEY.items]))
    page = ada.get(PAGE).text
    assert page.index("Some reports are made up, or a client is faulty") < page.index("<table")
    assert ada.get(f"{PAGE}/results.json").get_json()["made_up"]["alarm"] is True
    assert ada.get(f"{PAGE}/results.csv").text.count("Some reports are made up") == 40
