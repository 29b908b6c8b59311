"""Pages of wide surveys: each question is on one page and reachable, and all of them are on one page for printing."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable_server.pages import paging
from deniable_server.pages.paging import Paging
from deniable_server.store.protocol import Store

HEAD = {"deniable": 1, "about": "A.", "epsilon": 8, "batch": 1, "accept_small_batches": True, "results": "public"}
QUESTIONS = [{"id": f"q{number}", "text": f"Question {number}?", "type": "yes_no"} for number in range(1, 13)]
EVERY = [f"q{number}" for number in range(1, 13)]


@pytest.fixture
def ada(app: Flask, store: Store, logged_in: Callable[[Flask], FlaskClient], monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    """The browser of the owner of three waves of twelve questions, five of them on a page."""
    monkeypatch.setattr(paging, "QUESTIONS", 5)
    for number in (1, 2, 3):
        survey = Survey.from_dict({**HEAD, "id": f"w{number}", "title": f"Wave {number}", "questions": QUESTIONS})
        store.surveys.publish(survey, "ada")
        store.submissions.add(survey.id, submission(survey, 30))
        if number > 1:
            store.studies.join(survey.id, "w1")
    return logged_in(app)


def cards(page: str, prefix: str = "q") -> list[str]:
    return re.findall(rf'<h[23] id="{prefix}-(\w+)"', page)


@pytest.mark.parametrize(
    ("value", "total", "first", "last", "pages"),
    [
        (None, 12, 1, 5, 3),
        ("1", 12, 1, 5, 3),
        ("3", 12, 11, 12, 3),
        ("all", 12, 1, 12, 3),
        ("all", 5, 1, 5, 1),
        (None, 0, 1, 0, 1),
        ("2", 10, 6, 10, 2),
    ],
)
def test_a_page_has_its_questions(
    monkeypatch: pytest.MonkeyPatch, value: str | None, total: int, first: int, last: int, pages: int
) -> None:
    monkeypatch.setattr(paging, "QUESTIONS", 5)
    page = Paging.of(value, total)
    assert (page.first, page.last, page.pages) == (first, last, pages)
    assert list(page.part(range(total))) == list(range(first - 1, last))
    assert [page.shows(index) for index in range(total)] == [first <= index + 1 <= last for index in range(total)]


@pytest.mark.parametrize("value", ["0", "4", "-1", "", "x", "1.5", "٢", "1" * 9])
def test_a_page_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setattr(paging, "QUESTIONS", 5)
    with pytest.raises(ValueError, match="page must be a whole number from 1 to 3, or all, or left out"):
        Paging.of(value, 12)


@pytest.mark.parametrize(
    ("path", "prefix"), [("/manage/surveys/w1", "q"), ("/manage/surveys/w2/waves", "q"), ("/manage/surveys/w2/waves", "t")]
)
def test_all_questions_are_on_pages_that_lead_to_each_other(ada: FlaskClient, path: str, prefix: str) -> None:
    assert Paging(1, 12).option_of(0) is None
    address, seen = path, list[str]()
    for _ in range(3):
        page = ada.get(address).text
        seen += cards(page, prefix)
        following = re.search(r'<a href="([^"]+)" rel="next">', page)
        address = html.unescape(following[1]) if following else ""
    assert (seen, address) == (EVERY, "")
    every = re.search(r'<a href="([^"]+)">All on one page</a>', page)
    assert every
    whole = ada.get(html.unescape(every[1])).text
    assert cards(whole, prefix) == EVERY
    assert "In pages" in whole
    assert ada.get(f"{path}?page=4").status_code == 400


def test_the_table_of_contents_leads_to_the_page_of_each_question(ada: FlaskClient) -> None:
    for page in ("", "?page=2", "?page=all"):
        contents = ada.get(f"/manage/surveys/w1{page}").text.partition('<details class="summary">')[2].partition("</details>")[0]
        links = re.findall(r'<th scope="row" role="rowheader"><a href="([^"#]*)#q-(\w+)">', contents)
        assert [name for _, name in links] == EVERY
        for address, name in links:
            assert name in cards(ada.get(html.unescape(address) or f"/manage/surveys/w1{page}").text)
            assert bool(address) is (page != "?page=all" and name not in cards(ada.get(f"/manage/surveys/w1{page}").text))


def test_the_options_stay_on_the_next_page(ada: FlaskClient) -> None:
    page = ada.get("/manage/surveys/w1?confidence=0.8&method=wilson&page=2").text
    for name in ("next", "prev"):
        link = re.search(rf'<a href="([^"]+)" rel="{name}">', page)
        assert link
        assert {"confidence=0.8", "method=wilson"} <= set(html.unescape(link[1]).partition("?")[2].split("&"))


def test_public_results_have_pages_too(ada: FlaskClient, app: Flask) -> None:
    client = app.test_client()
    seen, page = list[str](), ""
    for number in (1, 2, 3):
        page = client.get(f"/s/w1/results?page={number}&lang=de").text
        seen += re.findall(r'data-question="(\w+)"', page)
        links: list[Any] = re.findall(r'<a href="(/s/w1/results\?[^"]+)"( aria-current="page")?>', page)
        assert [bool(current) for _, current in links] == 2 * [place == number for place in (1, 2, 3)]
        assert all("lang=de" in address for address, _ in links)
    assert seen == EVERY
    assert client.get("/s/w1/results").status_code == 200
    assert client.get("/s/w1/results?page=4").status_code == 404


def test_a_survey_of_one_page_shows_no_pages(ada: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "QUESTIONS", 12)
    for path in ("/manage/surveys/w1", "/manage/surveys/w2/waves"):
        assert "All on one page" not in ada.get(path).text
    assert "results?page" not in app.test_client().get("/s/w1/results").text
