"""Figures for the respondents of surveys with numbers, and of such as ask a sample: on the pages, in downloads, on the command line."""

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
from deniable_server.store import open_store

QUESTIONS = """
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: hours, text: How many hours?, type: number, low: 0, high: 10, levels: 2}
"""
GROUPED = Survey.from_text(f"deniable: 1\nid: grouped\ntitle: T\nabout: A\nepsilon: 4\ngroups: [North, South]{QUESTIONS}")
SAMPLE = Survey.from_text(f"deniable: 1\nid: sample\ntitle: T\nabout: A\nepsilon: 4\nask: 1{QUESTIONS}")


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
def test_a_survey_that_asks_a_sample_has_figures_for_the_respondents(ada: FlaskClient, path: str) -> None:
    population, respondents = (ada.get(f"{path}?target={target}") for target in ("population", "respondents"))
    assert (population.status_code, respondents.status_code) == (200, 200)
    assert population.data != respondents.data


def test_the_command_line_has_them_and_their_interval_knows_of_the_draw(ada: FlaskClient, db: Path) -> None:
    rows = ada.get("/manage/surveys/sample/results.json?target=respondents").get_json()["rows"]
    coins = SAMPLE.items[0].channel
    alone = float(coins.theta * (1 - coins.theta)) ** 0.5 / float(coins.theta - coins.phi) / rows[0]["n"] ** 0.5
    assert 100 < rows[0]["n"] < 300
    assert rows[0]["std_error"] > 1.5 * alone, "200 of 400 were drawn: that is more than the coins"
    found = CliRunner().invoke(main, ["results", "sample", "--db", str(db), "--target", "respondents"])
    assert found.exit_code == 0
    assert "target: respondents" in found.output


def test_a_number_has_figures_for_the_respondents_and_its_levels_a_note(ada: FlaskClient) -> None:
    for target in ("population", "respondents"):
        page = html.unescape(ada.get(f"/manage/surveys/grouped?target={target}").text)
        assert len(re.findall(r"a bar is not the\s+share of people with that number", page)) == 1
        assert "not the share of the people at this number" not in page, "said once, not beside each level"
        rows = ada.get(f"/manage/surveys/grouped/results.json?target={target}").get_json()["rows"]
        assert all(row["estimate"] is not None for row in rows)


@pytest.mark.parametrize("target", ["population", "respondents"])
def test_groups_are_compared_by_all_questions(ada: FlaskClient, target: str) -> None:
    page = ada.get(f"/manage/surveys/grouped/groups?target={target}").text
    assert page.count('class="estimates differences"') == 3, "of the one question; of the other its mean, and its levels"
