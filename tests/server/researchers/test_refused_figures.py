"""Figures that would not hold are refused on the pages, in the downloads, by the API and on the command line, each time with the reason."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient

from deniable.device.entropy import os_words
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.operate.cli import main
from deniable_server.researchers.passwords import set_password
from deniable_server.store import open_store

QUESTIONS = """
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: hours, text: How many hours?, type: number, low: 0, high: 10, levels: 2}
"""
GROUPED = Survey.from_text(f"deniable: 1\nid: grouped\ntitle: T\nabout: A\nepsilon: 4\ngroups: [North, South]{QUESTIONS}")
SAMPLE = Survey.from_text(f"deniable: 1\nid: sample\ntitle: T\nabout: A\nepsilon: 4\nask: 1{QUESTIONS}")
AUTH = ("ada", "correct horse battery")
OF_A_SAMPLE = "must be population, got respondents: survey sample asks everybody a sample of its questions"
OF_A_NUMBER = "target must be population for hours, a number whose answers are rounded at random to a grid"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "deniable.db"


@pytest.fixture
def ada(db: Path, logged_in: Callable[[Flask], FlaskClient]) -> Iterator[FlaskClient]:
    """A researcher who is logged in, at a server where 400 people answered each survey."""
    store = open_store(db)
    for survey, groups in ((GROUPED, GROUPED.groups), (SAMPLE, (None,))):
        store.surveys.publish(survey)
        for group in groups:
            made = simulate(survey, {"smokes": [0.5, 0.5], "hours": [0.5, 0.5]}, 400 // len(groups))
            store.submissions.add(survey.id, Submission(os_words(4).tobytes(), survey.digest, made.n, made.reports, group))
    yield logged_in(create_app(Config(db, "x" * 40), store))
    store.close()


@pytest.mark.parametrize("path", ["/manage/surveys/sample", "/manage/surveys/sample/results.csv", "/manage/surveys/sample/results.json"])
def test_a_page_for_the_respondents_of_a_sample_is_refused_with_the_reason(ada: FlaskClient, path: str) -> None:
    reply = ada.get(f"{path}?target=respondents")
    assert reply.status_code == 400
    assert OF_A_SAMPLE in html.unescape(reply.text)
    assert ada.get(path).status_code == 200, "the population's figures stay"


def test_the_api_refuses_it_with_the_reason(ada: FlaskClient, db: Path) -> None:
    store = open_store(db)
    set_password(store.accounts, *AUTH)
    store.close()
    reply = ada.get("/api/v1/surveys/sample/results?target=respondents", auth=AUTH)
    assert (reply.status_code, reply.get_json()["error"]["rule"]) == (400, "estimate")
    assert OF_A_SAMPLE in reply.get_json()["error"]["message"]


def test_the_page_does_not_offer_what_it_would_refuse(ada: FlaskClient) -> None:
    assert 'name="target"' not in ada.get("/manage/surveys/sample").text
    assert 'name="target"' in ada.get("/manage/surveys/grouped").text


def test_the_command_line_refuses_it_with_the_reason(ada: FlaskClient, db: Path) -> None:
    found = CliRunner().invoke(main, ["results", "sample", "--db", str(db), "--target", "respondents"])
    assert found.exit_code == 1
    assert OF_A_SAMPLE in found.output


def test_a_number_has_no_figures_for_the_respondents_and_the_other_questions_have(ada: FlaskClient) -> None:
    page = html.unescape(ada.get("/manage/surveys/grouped?target=respondents").text)
    card = page.split('id="q-hours"')[1]
    assert len(re.findall(f"(Share|Mean): {re.escape(OF_A_NUMBER)}", card)) == 2, "for its levels, and for its mean"
    assert "<table" not in card
    assert "<svg" not in card
    rows = ada.get("/manage/surveys/grouped/results.json?target=respondents").get_json()["rows"]
    assert [(row["question"], row["estimate"] is None) for row in rows] == [("smokes", False)] * 2 + [("hours", True)] * 2
    population = html.unescape(ada.get("/manage/surveys/grouped").text)
    assert OF_A_NUMBER not in population
    assert len(re.findall(r"a bar is not the\s+share of the people at its number", population)) == 1
    assert "not the share of the people at this number" not in population, "said once, not beside each level"


def test_groups_are_compared_by_all_questions_but_the_numbers(ada: FlaskClient) -> None:
    page = html.unescape(ada.get("/manage/surveys/grouped/groups?target=respondents").text)
    assert page.count('class="estimates differences"') == 1
    assert page.count(OF_A_NUMBER) == 1
    population = ada.get("/manage/surveys/grouped/groups").text
    assert population.count('class="estimates differences"') == 3, "of the one question; of the other its mean, and its levels"
