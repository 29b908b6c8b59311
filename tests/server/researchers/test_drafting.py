"""A survey is written, checked and published on a page: mistakes are told with their lines, nothing is lost, nothing is kept before."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable.plan import plan
from deniable.survey import Survey
from deniable_server.researchers.drafting import EXAMPLE
from deniable_server.store.protocol import Store

NEW = "/manage/new"


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    return logged_in(app)


def send(ada: FlaskClient, source: str = EXAMPLE, do: str = "check", n: str = "800", file: bytes | None = None) -> TestResponse:
    fields: dict[str, object] = {"source": source, "n": n, do: "1"}
    if file is not None:
        fields["file"] = (io.BytesIO(file), "survey.yaml")
    return ada.post(NEW, data=fields, content_type="multipart/form-data")


def written(page: TestResponse) -> str:
    """What stands in the editor."""
    found = re.search(r"<textarea[^>]*>\r?\n(.*?)</textarea>", page.text, re.S)
    assert found
    return found[1].replace("&#34;", '"').replace("&#39;", "'").replace("&gt;", ">")


def test_the_page_begins_with_a_survey_that_is_right(ada: FlaskClient) -> None:
    assert Survey.from_text(written(ada.get(NEW))) == Survey.from_text(EXAMPLE)


def test_a_check_shows_what_the_planner_says_and_publishes_nothing(ada: FlaskClient, store: Store) -> None:
    page = send(ada)
    assert page.status_code == 200
    for table in plan(Survey.from_text(EXAMPLE), n=800).tables()[1:4]:
        assert f">{table.title}</h2>" in page.text
        cells = [cell for row in table.rows for cell in row]
        assert [f">{cell}</" in page.text for cell in cells] == [True] * len(cells)
    assert [one.survey.id for one in store.surveys.all()] == ["study"]


def test_publish_publishes_what_the_page_holds_and_leads_to_its_links(ada: FlaskClient, store: Store) -> None:
    reply = send(ada, EXAMPLE.replace("\n", "\r\n"), "publish")
    assert (reply.status_code, reply.headers["Location"]) == (302, "/manage/surveys/affairs/invite")
    assert store.surveys.published("affairs").survey.digest == Survey.from_text(EXAMPLE).digest
    assert "/s/affairs#digest=" in ada.get(reply.headers["Location"]).text


@pytest.mark.parametrize("do", ["check", "publish"])
def test_all_that_is_wrong_is_told_with_its_line_and_nothing_is_lost(ada: FlaskClient, store: Store, do: str) -> None:
    wrong = EXAMPLE.replace("ln 9", "99").replace("yes_no", "yess")
    page = send(ada, wrong, do)
    assert page.status_code == 422
    assert "2 things to mend" in page.text
    assert "Line 5, <code>epsilon</code>: must be above 0 and at most 10" in page.text
    assert "did you mean yes_no?" in page.text
    assert written(page) == wrong
    assert 'name="publish"' not in page.text
    assert len(store.surveys.all()) == 1


def test_a_file_counts_before_what_is_written(ada: FlaskClient) -> None:
    page = send(
        ada, "nothing", file="\ufeffdeniable: 1\n".encode() + EXAMPLE.partition("\n")[2].replace("marriage", "Ehe, größer").encode()
    )
    assert page.status_code == 200
    assert "About Ehe, größer" in written(page)


@pytest.mark.parametrize(
    ("n", "file", "told"), [("0", None, "Enter a whole number"), ("many", None, "Not a valid"), ("9", b"\xff\xfe\x00", "UTF-8")]
)
def test_what_is_no_number_and_no_text_is_told(ada: FlaskClient, n: str, file: bytes | None, told: str) -> None:
    page = send(ada, n=n, file=file)
    assert page.status_code == 422
    assert told in page.text
    assert written(page) == EXAMPLE


def test_another_survey_under_a_published_id_is_refused_and_the_same_one_is_not(ada: FlaskClient, store: Store) -> None:
    send(ada, do="publish")
    assert send(ada, do="publish").status_code == 302
    page = send(ada, EXAMPLE.replace("marriage", "work"), "publish")
    assert (page.status_code, "must be a new one" in page.text) == (422, True)
    assert store.surveys.published("affairs").survey.title == "About marriage"


def test_markup_in_a_survey_is_text_on_its_pages(ada: FlaskClient) -> None:
    source = EXAMPLE.replace("About marriage", "<script>x</script>").replace("none,", "<b>none</b>,").replace("Have you", "<i>Have</i> you")
    source += "  - {id: more, text: How?, type: yes_no, show_if: {question: children, is: ['<b>none</b>']}}\n"
    pages = [send(ada, source).text, send(ada, source + " ", "publish").text]
    pages += [ada.get(f"/manage/surveys/affairs/{tab}").text for tab in ("questions", "plan", "invite", "settings")]
    assert "&lt;b&gt;none&lt;/b&gt;</q>" in pages[2]
    assert not [page for page in pages if re.search("<script>x|<b>none|<i>Have", page)]


def test_more_than_any_survey_needs_is_refused_before_it_is_read(ada: FlaskClient) -> None:
    assert send(ada, "x" * (450 << 10)).status_code == 413


def test_nothing_of_a_draft_is_on_the_disk(ada: FlaskClient, store: Store, tmp_path: Path) -> None:
    send(ada, EXAMPLE.replace("marriage", "Qwertzuiop"))
    store.rewrite()
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"Qwertzuiop" in file.read_bytes()]
    send(ada, EXAMPLE.replace("marriage", "Qwertzuiop"), "publish")  # the control: a published one is
    store.rewrite()
    assert [file for file in tmp_path.rglob("*") if file.is_file() and b"Qwertzuiop" in file.read_bytes()]
