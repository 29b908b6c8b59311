"""Codes are made on a page, shown once and kept as hashes; QR codes say the links they stand beside."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
import segno
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.issuer import issued

from deniable.survey import Survey
from deniable.wire.access_codes import invitation_hash, read
from deniable.wire.link import Link
from deniable.wire.six_words import six_words
from deniable_server.access.invite_page import MOST_LETTERS, MOST_ON_A_SHEET
from deniable_server.store.protocol import Store

PAGE = "/manage/surveys/panel/invite"
QUESTION = {"id": "q", "text": "?", "type": "yes_no"}
PANEL = issued(
    Survey.from_dict(
        {
            "deniable": 1,
            "id": "panel",
            "title": "T",
            "about": "A.",
            "epsilon": 1,
            "access": "invited",
            "groups": ["North", "Süd & West"],
            "questions": [QUESTION],
        }
    )
)


@pytest.fixture
def ada(app: Flask, store: Store, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    store.surveys.publish(PANEL)
    return logged_in(app)


def is_valid(store: Store, code: str) -> bool:
    return store.invitations.has("panel", invitation_hash("panel", read(code)))


def test_a_file_has_each_code_with_its_link_and_every_code_can_be_used(ada: FlaskClient, store: Store) -> None:
    reply = ada.post(PAGE, data={"count": "5", "group": "Süd & West", "csv": "1"})
    assert reply.headers["Content-Disposition"] == 'attachment; filename="panel-codes.csv"'
    rows = list(csv.DictReader(io.StringIO(reply.text)))
    links = [Link.parse(row["link"]) for row in rows]
    assert [(link.survey, link.digest, link.group, link.code) for link in links] == [
        ("panel", PANEL.digest, "Süd & West", row["code"]) for row in rows
    ]
    assert len({row["code"] for row in rows}) == 5
    assert [is_valid(store, row["code"]) for row in rows] == [True] * 5
    assert store.invitations.count("panel") == (5, 0)


def test_a_sheet_shows_each_code_beside_the_qr_code_of_its_link(ada: FlaskClient, store: Store) -> None:
    page = ada.post(PAGE, data={"count": "3", "group": "", "sheet": "1"}).text
    found = re.findall(r'<path[^>]* d="([^"]+)"/></svg>.*?<code>([0-9A-Z-]{34})</code>', page, re.S)
    assert len(found) == 3
    for drawn, code in found:
        link = str(Link("http://localhost", "panel", PANEL.digest, code=code))
        out = io.BytesIO()
        segno.make(link, error="m", micro=False).save(out, kind="svg", border=4)
        assert drawn in out.getvalue().decode()
        assert is_valid(store, code)


def test_each_invitation_on_a_sheet_has_the_six_words_of_the_survey_and_so_has_the_page_of_the_link(ada: FlaskClient) -> None:
    words = six_words(PANEL.digest)
    assert ada.post(PAGE, data={"count": "3", "group": "", "sheet": "1"}).text.count(words) == 3
    assert ada.get(PAGE).text.count(words) == 1
    assert words in ada.get("/s/panel/definition").text


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"count": "0", "group": "", "csv": "1"}, "Enter a whole number from 1 to 100,000."),
        ({"count": "", "group": "", "csv": "1"}, "Enter a whole number"),
        ({"count": "5", "group": "Nowhere", "csv": "1"}, "Not a valid choice"),
        ({"count": str(MOST_ON_A_SHEET + 1), "group": "", "sheet": "1"}, "A sheet has at most 300 codes"),
        ({"count": str(MOST_LETTERS + 1), "group": "", "letters": "1"}, "at most 5,000 people at a time"),
    ],
)
def test_what_cannot_be_made_is_told_and_makes_nothing(ada: FlaskClient, store: Store, fields: dict[str, str], told: str) -> None:
    reply = ada.post(PAGE, data=fields)
    assert (reply.status_code, told in reply.text) == (422, True)
    assert store.invitations.count("panel") == (0, 0)


def test_a_survey_that_is_open_to_all_has_its_link_and_no_codes(ada: FlaskClient, store: Store, survey: Survey) -> None:
    page = ada.get("/manage/surveys/study/invite").text
    assert str(Link("http://localhost", "study", survey.digest)) in page
    assert "One-time codes" not in page
    assert ada.post("/manage/surveys/study/invite", data={"count": "5", "group": "", "csv": "1"}).status_code == 422
    assert store.invitations.count("study") == (0, 0)


def test_an_open_survey_without_a_link_at_the_end_offers_a_copy_that_can_have_one(ada: FlaskClient, store: Store, survey: Survey) -> None:
    store.surveys.publish(survey)
    page = ada.get(f"/manage/surveys/{survey.id}/invite").text
    copy = f"/manage/surveys/{survey.id}/copy"
    assert f'action="{copy}"' in page
    assert "no link at the end" in page
    address = ada.post(copy, data={"link": "1"}).headers["Location"]
    assert address.endswith("#return_link")
    draft = ada.get(address).text
    assert 'name="return_link"' in draft
    assert html.escape(survey.questions[0].text) in draft


def test_an_open_survey_with_a_link_at_the_end_names_its_host_and_offers_no_copy(ada: FlaskClient, store: Store) -> None:
    link = "https://panel.example/complete?cc=C1AB2C3D"
    definition = {"deniable": 1, "id": "paid", "title": "T", "about": "A.", "epsilon": 1, "return_link": link, "questions": [QUESTION]}
    store.surveys.publish(Survey.from_dict(definition))
    page = ada.get("/manage/surveys/paid/invite").text
    assert "<code>panel.example</code>" in page
    assert "to add a link" not in page


def test_every_group_has_its_link(ada: FlaskClient) -> None:
    page = ada.get(PAGE).text
    for group in PANEL.groups:
        for kiosk in (False, True):
            link = Link("http://localhost", "panel", PANEL.digest, group, kiosk=kiosk)
            assert f'value="{link}"'.replace("&", "&amp;") in page
    assert page.count("<svg") == 4
    assert "Share one device" in page


@pytest.mark.slow
def test_codes_are_nowhere_on_the_disk_and_in_no_browsers_store(ada: FlaskClient, store: Store, tmp_path: Path) -> None:
    reply = ada.post(PAGE, data={"count": "20", "group": "", "csv": "1"})
    assert reply.headers["Cache-Control"] == "no-store"
    codes = [row["code"] for row in csv.DictReader(io.StringIO(reply.text))]
    store.rewrite()
    content = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert invitation_hash("panel", read(codes[0])) in content  # the control: the search finds what is kept
    assert not [code for code in codes if code.encode() in content or code.replace("-", "").encode() in content or read(code) in content]
    assert not [code for code in codes if code in ada.get(PAGE).text]


class _Fields(HTMLParser):
    """The controls of the content of a page: what a form could send of it, and all their names."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str | None] = []
        self.forms = 0
        self.feed(page.split("<main", 1)[1])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.forms += tag == "form"
        self.names += [dict(attrs).get("name")] * (tag in ("input", "textarea", "select"))


def test_the_page_of_letters_has_the_table_of_codes_and_no_field_that_a_form_could_send(ada: FlaskClient, store: Store) -> None:
    reply = ada.post(PAGE, data={"count": "5", "group": "North", "letters": "1"})
    table = html.unescape(re.findall(r'<textarea id="codes"[^>]*>([^<]*)</textarea>', reply.text)[0])
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(is_valid(store, row["code"]), Link.parse(row["link"]).group, Link.parse(row["link"]).code) for row in rows] == [
        (True, "North", row["code"]) for row in rows
    ]
    assert (len(rows), store.invitations.count("panel")) == (5, (5, 0))
    assert reply.headers["Cache-Control"] == "no-store"
    fields = _Fields(reply.text)
    assert (fields.forms, fields.names) == (0, [None] * 6)
    invite = _Fields(ada.get(PAGE).text)  # the control: a page that does send fields
    assert (invite.forms, "count" in invite.names) == (1, True)


def test_a_reminder_has_no_codes_and_says_why_everybody_gets_it(ada: FlaskClient, store: Store) -> None:
    assert f'href="{PAGE}/reminder"' in ada.get(PAGE).text
    page = ada.get(f"{PAGE}/reminder").text
    assert "Remind everybody on your list" in page
    assert 'id="codes"' not in page
    assert "{link}" not in page
    assert (_Fields(page).forms, _Fields(page).names) == (0, [None] * 5)
    assert store.invitations.count("panel") == (0, 0)
    assert ada.get("/manage/surveys/study/invite/reminder").status_code == 302
