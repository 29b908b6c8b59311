"""Buttons that are pressed twice, in two windows, or after the login has ended: what is asked for is done once, or said not to be done."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.forms import filled

from deniable.survey import Survey
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store
from deniable_server.web import limits

SETTINGS = "/manage/surveys/study/settings"


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient], survey: Survey) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    return logged_in(app)


def sent_by(page: str, words: str) -> tuple[str, dict[str, str]]:
    """Where the form of this button goes, and what its button says."""
    form = next(form for form in re.findall(r"<form.*?</form>", page, re.DOTALL) if f">{words}</button>" in form)
    (path,) = re.findall(r'action="([^"]+)"', form)
    return path, dict(re.findall(r'<button[^>]*name="([^"]+)" value="([^"]+)"', form))


def test_a_second_press_of_the_same_button_changes_nothing(ada: FlaskClient, store: Store) -> None:
    """Pressed on one page, before the next has come: a pause stays a pause, and what was put away stays there."""

    def twice(words: str) -> None:
        path, data = sent_by(ada.get(SETTINGS).text, words)
        assert [ada.post(path, data=data).status_code for _ in range(2)] == [302, 302]

    for words, paused in (("Pause", True), ("Resume", False)):
        twice(words)
        assert store.surveys.published("study").paused is paused
    twice("Close for good")
    for words, archived in (("Archive", True), ("Restore from archive", False)):
        twice(words)
        assert store.life.settings("study").archived is archived


def test_settings_that_another_window_has_saved_meanwhile_are_told_and_not_overwritten(ada: FlaskClient, store: Store) -> None:
    """Until who was told sends the same again. A page that is sent again by itself is no other window."""
    first = filled(ada.get(SETTINGS).text, "wanted-form")
    other = {**first, "close_on": "2999-12-24"}
    assert [ada.post(SETTINGS, data=other).status_code for _ in range(2)] == [302, 302]
    told = ada.post(SETTINGS, data={**first, "least": "9"})
    assert told.status_code == 409
    assert "Last day for answers (UTC): 2999-12-24" in told.text
    assert store.life.settings("study") == Settings(close_on="2999-12-24")
    again = filled(told.text, "wanted-form")
    assert (again["least"], again["close_on"]) == ("9", "")
    assert ada.post(SETTINGS, data=again).status_code == 302
    assert store.life.settings("study") == Settings(least=9)


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("/manage/surveys/study/pause", "/manage/surveys/study"),
        (SETTINGS, SETTINGS),
        ("/manage/people/links/end", "/manage/people"),
        ("/manage/new", "/manage/new"),
    ],
)
def test_what_is_pressed_after_the_login_has_ended_is_said_not_to_be_done(ada: FlaskClient, store: Store, path: str, page: str) -> None:
    """And the login leads to a page that is there, not to an address that only takes forms."""
    ada.delete_cookie("deniable")
    reply = ada.post(path, follow_redirects=True)
    assert (reply.status_code, reply.request.path) == (200, "/login")
    assert "You were logged out, so the form was not saved. Log in and send it again." in reply.text
    assert reply.request.args["next"] == page
    assert "was not read" not in ada.get("/manage/surveys/study", follow_redirects=True).text


def test_a_file_that_is_sent_after_the_login_has_ended_is_not_called_too_large(app: Flask, ada: FlaskClient) -> None:
    """And is not read, either: a stranger's bodies have no room."""
    sent = {"data": {"file": (io.BytesIO(b"x" * (100 << 10)), "survey.xlsx")}, "content_type": "multipart/form-data"}
    ada.delete_cookie("deniable")
    reply = ada.post("/manage/new", **sent)
    assert (reply.status_code, reply.headers["Location"]) == (302, "/login?next=/manage/new&unread=1")
    assert limits.SMALL < 100 << 10


def test_a_page_of_an_older_login_is_told_in_words(
    app: Flask, store: Store, logged_in: Callable[[Flask], FlaskClient], survey: Survey
) -> None:
    app.config["WTF_CSRF_ENABLED"] = True
    old = filled(logged_in(app).get(SETTINGS).text, "wanted-form")
    anew = logged_in(app)
    anew.get(SETTINGS)
    for sent in (old, {}):
        reply = anew.post(SETTINGS, data={**sent, "least": "9"})
        assert reply.status_code == 400
        assert "Nothing was changed. Open the page again, then try again." in reply.text
        assert "CSRF" not in reply.text
    assert store.life.settings("study") == Settings()
