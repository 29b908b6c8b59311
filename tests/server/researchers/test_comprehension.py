"""The comprehension check in results: each statement's share of right answers with its interval, beside what it means."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.cheap import cheap_applications
from tests.kit.servers.site import Site

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.survey.comprehension import with_check
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.store import open_store

PEOPLE = 4000
YES = {"check_1": 0.9, "check_2": 0.25, "check_3": 0.8, "smokes": 0.3}
DOCUMENT = {
    "deniable": "1",
    "id": "checked",
    "title": "A study",
    "about": "Who asks, and why.",
    "epsilon": "8",
    "accept_high_epsilon": "true",
    "questions": [{"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}],
}
CHECKED = Survey.from_dict(with_check(DOCUMENT))


def answers(survey: Survey) -> Submission:
    """People of whom three of four know that a Yes in a record proves nothing."""
    bits = []
    for item in survey.items:
        truth = np.repeat([0, 1], np.round(PEOPLE * np.array([YES[item.id], 1 - YES[item.id]])).astype(int))
        bits.append(randomize(item.channel, truth, os_words))
    return Submission(os_words(4).tobytes(), survey.digest, PEOPLE, pack(survey, bits))


@pytest.fixture
def ada(tmp_path: Path, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    store = open_store(tmp_path / "deniable.db")
    store.surveys.publish(CHECKED)
    store.submissions.add("checked", answers(CHECKED))
    return logged_in(create_app(Config(tmp_path / "deniable.db", "x" * 40), store))


def test_each_statement_has_the_share_of_right_answers_and_other_questions_have_none(ada: FlaskClient) -> None:
    page = ada.get("/manage/surveys/checked").text
    found = re.findall(r'class="understood"><strong>Between (\d+) and (\d+) of 100 people are right: the answer is <em>(\w+)</em>', page)
    assert [answer for _, _, answer in found] == ["Yes", "No", "Yes"]
    for (low, high, _), right in zip(found, (90, 75, 80), strict=True):
        assert int(low) - 6 < right < int(high) + 6
    assert "explain the protection in other words" in page


def test_a_real_server_estimates_statements_as_it_does_all_questions(tmp_path: Path) -> None:
    with cheap_applications():
        site = Site(tmp_path)
    try:
        survey = site.publish(**with_check(DOCUMENT))
        site.send(answers(survey), survey)
        site.close_survey(survey)
        rows = {(row["question"], row["option"]): row for row in site.results(survey)["rows"]}
        assert rows["check_2", "no"]["estimate"] == pytest.approx(0.75, abs=0.12)
        assert rows["check_2", "no"]["low"] < rows["check_2", "no"]["estimate"] < rows["check_2", "no"]["high"]
        assert rows["check_2", "no"]["n"] == rows["smokes", "yes"]["n"] == PEOPLE
    finally:
        site.close()
