"""A survey's own pages: its questions and their odds, its plan, and closing it, which these pages cannot undo."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.tallies import tally_of

from deniable.plan import plan
from deniable.privacy.claims import protection_of
from deniable.privacy.posterior import odds_in_words
from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.store.protocol import Store

TABS = ("questions", "plan", "invite", "watch", "", "settings")


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    return logged_in(app)


def test_every_page_of_a_survey_leads_to_all_others_and_says_which_it_is(ada: FlaskClient) -> None:
    addresses = [f"/manage/surveys/study/{tab}".rstrip("/") for tab in TABS]
    for address in addresses:
        page = ada.get(address).text
        trail = page.split('<nav class="trail"')[1].split("</nav>")[0]
        assert [f'href="{other}' in trail for other in addresses] == [True] * len(addresses)
        assert trail.count('aria-current="page"') == 1
        assert f'href="{address}' in trail.split('aria-current="page"')[0].rpartition("<a")[2]


def test_the_questions_page_has_the_odds_of_each_question_and_of_the_whole_record(ada: FlaskClient, survey: Survey) -> None:
    page = ada.get("/manage/surveys/study/questions").text
    for question in survey.questions:
        assert odds_in_words(question) in page
    odds = "Of 100 people who give an answer, 75 have it in their record; of 100 who give another answer, 25 have the first one there too"
    assert odds in page
    box = protection_of(survey)
    assert [text for text in (box.promise, *(f"{people}</" for _, people in box.rows)) if text not in page] == []


def test_the_levels_of_a_number_are_counted_and_not_listed(ada: FlaskClient, store: Store) -> None:
    income = {"id": "income", "text": "?", "type": "number", "low": -20000, "high": 1000000}
    questions = [{**income, "levels": 40}, {**income, "id": "mean"}, {**income, "id": "binned", "bins": [{"name": "few", "from": -20000}]}]
    questions[2]["bins"].append({"name": "many", "from": 1000})
    store.surveys.publish(Survey.from_dict({"deniable": 1, "id": "pay", "title": "T", "about": "A.", "epsilon": 3, "questions": questions}))
    page = html.unescape(ada.get("/manage/surveys/pay/questions").text)
    assert "A number from −20,000 to 1,000,000, rounded at random to one of 40 levels." in page
    assert "A number from −20,000 to 1,000,000, only the mean is estimated." in page
    assert re.findall(r"<li><bdi>(.*?)</bdi></li>", page) == ["few", "many"]


@pytest.mark.parametrize("n", [50, 5000])
def test_the_plan_is_the_librarys(ada: FlaskClient, survey: Survey, n: int) -> None:
    page = html.unescape(ada.get(f"/manage/surveys/study/plan?n={n}").text)
    for table in plan(survey, n=n).tables()[1:5]:
        assert [cell for row in table.rows for cell in row if f">{cell}</" not in page] == []


@pytest.mark.parametrize("n", ["0", "-5", "x", "1.5", "", "9" * 40, "٣"])
def test_a_number_that_is_none_of_people_is_told(ada: FlaskClient, n: str) -> None:
    reply = ada.get("/manage/surveys/study/plan", query_string={"n": n})
    assert (reply.status_code, "whole number of people" in reply.text) == (400, True)


def test_closing_counts_what_waits_and_cannot_be_undone_here(
    app: Flask, ada: FlaskClient, store: Store, submissions: Callable[..., Submission]
) -> None:
    small = Survey.from_dict(
        {"deniable": 1, "id": "small", "title": "T", "about": "A.", "epsilon": 1, "questions": [{"id": "q", "text": "?", "type": "yes_no"}]}
    )
    store.surveys.publish(small)
    store.submissions.add("small", submissions(3, to=small))
    assert tally_of(store, "small").n == 0
    assert ada.post("/manage/surveys/small/close").headers["Location"] == "/manage/surveys/small/settings"
    assert tally_of(store, "small").n == 3
    assert not store.surveys.published("small").is_open
    actions = re.findall(r'action="([^"]+)"', ada.get("/manage/surveys/small/settings").text.split("</header>")[1])
    assert [action.rpartition("/")[2] for action in actions] == ["settings", "archive", "delete", "wave", "copy"]
    assert [rule.rule for rule in app.url_map.iter_rules() if re.search(r"\b(re)?open\b", rule.rule)] == []


def test_closed_surveys_stand_apart(ada: FlaskClient, store: Store) -> None:
    assert "/manage/surveys/study" not in ada.get("/manage?state=closed").text
    store.surveys.set_open("study", False)
    assert "/manage/surveys/study" in ada.get("/manage?state=closed").text
