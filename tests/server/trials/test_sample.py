"""The first hour: a sample study and first steps, made on the first look, and removed for good by one press."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.context import services_of
from deniable_server.store.protocol import Store
from deniable_server.trials.runs import SAMPLE, TrialRuns
from deniable_server.trials.sample import PEOPLE

Make = Callable[..., Submission]
ONE = """{deniable: 1, id: one, title: One question, about: A., epsilon: ln 3, questions: [{id: q, text: Do you?, type: yes_no}]}"""


@pytest.fixture
def runs(app: Flask) -> Iterator[TrialRuns]:
    app.config["WTF_CSRF_ENABLED"] = False
    runs = services_of(app).get(TrialRuns)
    yield runs
    runs.close()


@pytest.fixture
def eve(app: Flask, runs: TrialRuns, logged_in: Callable[..., FlaskClient]) -> FlaskClient:
    return logged_in(app, "eve")


def test_a_new_account_finds_a_finished_study_that_is_marked_and_cannot_be_changed(eve: FlaskClient, runs: TrialRuns) -> None:
    assert "First steps" in eve.get("/manage").text
    assert runs.run_of(SAMPLE) is None  # nothing is computed before somebody looks
    address = eve.get("/manage/sample").headers["Location"]
    text = eve.get(address).text
    assert f"{PEOPLE:,}" in text
    assert "SIMULATED: About your studies" in text
    assert "Simulated data" in text
    assert eve.get(f"{address}/crosstab?rows=late&columns=hours").status_code == 200
    assert eve.get(f"{address}/groups").status_code == 200
    for act in ("close", "pause", "settings", "delete"):
        assert eve.post(f"{address}/{act}", data={"sure": "1"}).status_code in (403, 405), act
    assert eve.get("/manage/sample").headers["Location"] == address  # the same for everybody, made once


def test_it_is_removed_for_good_for_one_account_alone(
    eve: FlaskClient, app: Flask, store: Store, logged_in: Callable[..., FlaskClient]
) -> None:
    address = eve.get("/manage/sample").headers["Location"]
    assert eve.post("/manage/sample/remove").status_code == 302
    assert "First steps" not in eve.get("/manage").text
    assert (eve.get("/manage/sample").status_code, eve.get(address).status_code) == (404, 404)
    assert store.accounts.dismissed("eve") == {"sample"}
    assert "First steps" in logged_in(app, "zed").get("/manage").text
    assert eve.post("/manage/sample/remove").status_code == 302  # again: nothing more
    store.accounts.remove_user("eve")
    assert store.accounts.dismissed("eve") == frozenset()


def test_the_steps_follow_what_is_done_and_go_away(eve: FlaskClient, store: Store, submissions: Make) -> None:
    def left() -> list[str]:
        steps = eve.get("/manage").text.partition("<ol>")[2].partition("</ol>")[0]
        return [re.sub("<[^>]+>", "", step).split()[0] for step in steps.split("<li>")[1:] if "done</span>" not in step]

    assert left() == ["Write", "Test", "Publish", "Look"]
    draft = store.drafts.begin("eve", ONE)
    assert left() == ["Test", "Publish", "Look"]
    assert eve.post(f"/manage/drafts/{draft.id}/test").status_code == 302
    assert left() == ["Publish", "Look"]
    survey = Survey.from_text(ONE.replace("ln 3", "ln 3, batch: 1, accept_small_batches: true"))
    store.surveys.publish(survey, "eve")
    assert left() == ["Look"]
    store.submissions.add("one", submissions(10, to=survey, mode="organisation"))
    assert left() == []
    assert "First steps" not in eve.get("/manage").text


def test_it_is_in_no_list_of_surveys(eve: FlaskClient, app: Flask, store: Store) -> None:
    eve.get("/manage/sample")
    assert [published.survey.id for published in store.surveys.all()] == ["study"]
    assert "simulated-" not in eve.get("/manage").text
    assert "simulated-" not in app.test_client().get("/api/v1/surveys", auth=("eve", "correct horse battery")).text


def test_strangers_do_not_see_it(app: Flask, runs: TrialRuns) -> None:
    assert app.test_client().get("/manage/sample").status_code == 302
    assert runs.run_of(SAMPLE) is None
