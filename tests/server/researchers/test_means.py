"""Means of scales and numbers on the results page and in its JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.pages.tables import tables

from deniable.device.entropy import os_words
from deniable.estimate import Results, analyse
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.access import api_keys
from deniable_server.pages import figures
from deniable_server.store import open_store
from deniable_server.store.protocol import Store

SCORED = Survey.from_text("""
deniable: 1
batch: 1
accept_small_batches: true
id: scored
title: Scores
about: Who asks, and why.
epsilon: 8
questions:
  - {id: smokes, text: Q, type: yes_no}
  - {id: cold, text: How cold?, type: number, low: -20, high: -10, levels: 2}
  - {id: mood, text: What mood?, type: scale, options: [bad, good], required: false}
""")


@pytest.fixture
def page(tmp_path: Path, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    """Of a researcher who is logged in, with the survey published."""
    store = open_store(tmp_path / "deniable.db")
    store.surveys.publish(SCORED)
    client = logged_in(create_app(Config(tmp_path / "deniable.db", "x" * 40), store))
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {api_keys.make(store, 'lab', ['submit'])}"
    return client


def send(page: FlaskClient, silent: float) -> Results:
    """800 people answer; that share of them does not say what their mood is."""
    made = simulate(SCORED, {"smokes": [0.5, 0.5], "cold": [0.5, 0.5], "mood": [0, 1 - silent, silent]}, 800)
    body = Submission(os_words(4).tobytes(), SCORED.digest, 800, made.reports).to_json()
    assert page.post("/api/v1/surveys/scored/submissions", data=body, content_type="application/json").status_code == 200
    return analyse(SCORED, made.reports).results


def test_the_page_and_the_json_have_the_means_of_questions_with_scores(page: FlaskClient) -> None:
    results = send(page, silent=0.2)
    page_text = page.get("/manage/surveys/scored").text
    shown = {name: table["Mean"] for name, table in tables(page_text).items() if name.startswith("Mean")}
    expected = [figures.text(figures.of_mean(row)) for row in results.means]
    assert [(one["Estimate"].split(",")[0], one["95% interval"]) for one in shown.values()] == [
        (text.value, text.interval) for text in expected
    ]
    assert list(shown) == ["Mean: How cold?", "Mean: What mood?"]
    assert page_text.count("Among those who answered.") == 1
    assert page.get("/manage/surveys/scored/results.json").get_json()["means"] == results.to_dict()["means"]


def test_the_page_says_when_too_few_answered_for_a_mean(page: FlaskClient) -> None:
    results = send(page, silent=1.0)
    expected = results.means[1].mean is None  # but for chance, at the confidence of the page
    assert ("oo few answered this question" in page.get("/manage/surveys/scored").text) == expected


def test_there_is_no_mean_without_reports(page: FlaskClient, store: Store) -> None:
    store.surveys.set_open("scored", False)  # an open one shows a preview
    assert tables(page.get("/manage/surveys/scored").text) == {}
