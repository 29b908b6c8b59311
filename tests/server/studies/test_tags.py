"""Tags: whoever has a role sees them, the list is filtered by them, and it reads only the surveys that it shows."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable.survey import Survey
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role
from deniable_server.store.sql import compiled
from deniable_server.store.sql.connection import Connection


@pytest.fixture
def client_of(app: Flask, logged_in: Callable[..., FlaskClient]) -> Callable[[str], FlaskClient]:
    app.config["WTF_CSRF_ENABLED"] = False
    return lambda user: logged_in(app, user)


@pytest.fixture
def ada(client_of: Callable[[str], FlaskClient], store: Store) -> FlaskClient:
    client = client_of("ada")
    for name in ("sleep", "work"):
        store.surveys.publish(survey_of(name), "ada")
    return client


def survey_of(name: str) -> Survey:
    questions = [{"id": "q", "text": "?", "type": "yes_no"}]
    return Survey.from_dict({"deniable": 1, "id": name, "title": name.title(), "about": "A.", "epsilon": 2, "questions": questions})


def listed(client: FlaskClient, arguments: str = "") -> list[str]:
    page = client.get(f"/manage{arguments}")
    assert page.status_code == 200
    titles = re.findall(r'role="rowheader"[^>]*><a href="[^"]+"><bdi>([^<]+)</bdi>', page.text)
    return sorted(html.unescape(title) for title in titles if title != "A study")


def test_surveys_and_drafts_are_listed_by_a_tag(ada: FlaskClient, store: Store) -> None:
    draft = store.drafts.begin("ada", "deniable: 1\ntitle: A draft")
    assert 'name="tag"' not in ada.get("/manage").text, "there is nothing to choose"
    assert ada.post("/manage/surveys/sleep/tags", data={"tags": "Ward 7,health, <b>"}).status_code == 302
    assert ada.post(f"/manage/drafts/{draft.id}/tags", data={"tags": "health"}).status_code == 302
    assert 'value="&lt;b&gt;, Ward 7, health"' in ada.get("/manage/surveys/sleep/tags").text
    assert listed(ada) == ["A draft", "Sleep", "Work"]
    assert listed(ada, "?tag=health") == ["A draft", "Sleep"]
    assert listed(ada, "?tag=Ward+7") == ["Sleep"]
    assert listed(ada, "?tag=%3Cb%3E&state=open") == ["Sleep"]
    assert listed(ada, "?tag=none") == []
    page = ada.get("/manage?tag=health").text
    options = re.findall(r'<option value="([^"]*)"[^>]*>', page.partition('<select name="tag">')[2].partition("</select>")[0])
    assert sorted(options) == ["", "&lt;b&gt;", "Ward 7", "health"]
    assert "2 of 4 surveys with the tag health," in " ".join(html.unescape(re.sub("<[^>]+>", "", page)).split()).replace(
        "surveys with", "surveys with"
    )
    assert '<a href="/manage?tag=Ward+7"' in ada.get("/manage").text or '<a href="/manage?tag=Ward%207"' in ada.get("/manage").text


def test_a_tag_is_renamed_and_removed_on_the_surveys_that_one_may_edit(
    ada: FlaskClient, store: Store, client_of: Callable[[str], FlaskClient]
) -> None:
    eve = client_of("eve")
    store.roles.grant("sleep", "eve", Role.EDITOR)
    store.roles.grant("work", "eve", Role.VIEWER)
    draft = store.drafts.begin("eve", "deniable: 1")
    for name in ("sleep", "work"):
        store.tags.set_survey(name, ["old"])
    store.tags.set_draft(draft.id, ["old"])
    assert eve.post("/manage/tags", data={"do": "rename", "tag": "old", "new": "a, b"}).status_code == 422
    assert eve.post("/manage/tags", data={"do": "rename", "tag": "old", "new": "new"}).status_code == 302
    assert store.tags.of_surveys(["sleep", "work"]) == {"sleep": ("new",), "work": ("old",)}
    assert store.tags.of_drafts([draft.id]) == {draft.id: ("new",)}
    page = html.unescape(eve.get("/manage/tags").text)
    assert re.findall(r'<bdi>(\w+)</bdi></a> <span class="quiet">(\d+)<', page) == [("new", "2"), ("old", "1")]
    assert "Remove the tag new?" in eve.post("/manage/tags", data={"do": "remove", "tag": "new"}).text
    assert eve.post("/manage/tags", data={"do": "remove", "tag": "new", "sure": "1"}).status_code == 302
    assert store.tags.of_surveys(["sleep", "work"]) == {"work": ("old",)}


def test_people_see_the_tags_of_their_surveys_only_and_viewers_change_none(
    ada: FlaskClient, store: Store, client_of: Callable[[str], FlaskClient]
) -> None:
    store.tags.set_survey("sleep", ["secret-tag"])
    store.tags.set_survey("work", ["work-tag"])
    eve = client_of("eve")
    store.roles.grant("work", "eve", Role.VIEWER)
    for address in ("/manage", "/manage/tags", "/manage?tag=secret-tag"):
        page = eve.get(address).text
        assert "Sleep" not in page
        assert ("secret-tag" in page) == ("secret-tag" in address), "only what she typed herself"
    page = eve.get("/manage/surveys/work/tags").text
    assert ("work-tag" in page, "<button>Save tags" in page) == (True, False)
    assert eve.post("/manage/surveys/work/tags", data={"tags": ""}).status_code == 403
    assert eve.get("/manage/surveys/sleep/tags").status_code == 404


@pytest.mark.parametrize("tags", ["x" * 41, ",".join(map(str, range(21))), "a\u200bb", "x" * 5000])
def test_tags_that_cannot_be_saved_stay_in_the_field(ada: FlaskClient, store: Store, tags: str) -> None:
    draft = store.drafts.begin("ada", "deniable: 1")
    for path in ("/manage/surveys/sleep/tags", f"/manage/drafts/{draft.id}/tags"):
        reply = ada.post(path, data={"tags": tags})
        assert (reply.status_code, "<title>Error: " in reply.text, tags in reply.text) == (422, True, True)
    assert store.tags.of_surveys(["sleep"]) == {}


def test_the_list_reads_only_the_surveys_of_its_tag(ada: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.tags.set_survey("sleep", ["health"])
    read: list[str] = []
    heading_of = compiled.heading_of

    def counting(connection: Connection, survey_id: str, text: str | None) -> object:
        read.append(survey_id)
        return heading_of(connection, survey_id, text)

    monkeypatch.setattr(compiled, "heading_of", counting)
    assert listed(ada, "?tag=health") == ["Sleep"]
    assert read == ["sleep"]
    listed(ada)
    assert read == ["sleep", "sleep", "study", "work"], "control: without a tag, all of hers"


def test_the_list_shows_the_waves_of_a_study_together(ada: FlaskClient, store: Store) -> None:
    for name in ("sleep-2", "aside"):
        store.surveys.publish(survey_of(name), "ada")
    store.studies.join("sleep-2", "sleep")
    draft = store.drafts.begin("ada", "deniable: 1\ntitle: Zzz")
    store.studies.begin_wave(draft.id, "sleep")
    page = ada.get("/manage?sort=title").text
    rows = re.findall(r'role="rowheader"[^>]*><a href="[^"]+"><bdi>([^<]+)</bdi></a>\s*<p class="facts">(?:<span>([^<]*)</span>)?', page)
    assert rows == [("A study", ""), ("Aside", ""), ("Zzz", "new wave"), ("Sleep-2", "wave 2"), ("Sleep", "wave 1"), ("Work", "")]
    assert page.count('<tr role="row" class="study">') == 1
    other = store.drafts.begin("ada", "deniable: 1\ntitle: Work again")
    store.studies.begin_wave(other.id, "work")
    assert ada.get("/manage").text.count('<tr role="row" class="study">') == 2, "a second wave that is still a draft"
