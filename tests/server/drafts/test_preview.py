"""A draft that is tried: the respondents' own page in a frame of ours, fed with a survey that nobody can ever send anything to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask, url_for
from flask.testing import FlaskClient

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.store.protocol import Store
from deniable_server.web import headers

HABITS = (Path(__file__).parents[3] / "examples" / "habits.yaml").read_text()
NOBODY = "frame-ancestors 'none'"
Make = Callable[..., Submission]


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    return logged_in(app)


def tried(ada: FlaskClient, store: Store, text: str = HABITS) -> tuple[str, Survey]:
    path = f"/manage/drafts/{store.drafts.begin('ada', text).id}/preview"
    return path, Survey.from_definition(ada.get(f"{path}/definition").data)


def test_what_is_tried_differs_from_the_survey_in_its_id_alone_and_so_in_its_digest(ada: FlaskClient, store: Store) -> None:
    _, survey = tried(ada, store)
    own = Survey.from_text(HABITS)
    assert survey.id == "preview-habits"
    assert {**survey.to_dict(), "id": "habits"} == own.to_dict()
    assert survey.digest != own.digest
    _, long = tried(ada, store, HABITS.replace("id: habits", f"id: {'h' * 64}"))
    assert long.id == f"preview-{'h' * 56}"


def test_no_record_of_what_is_tried_is_taken_by_the_survey_or_by_anything_else(ada: FlaskClient, store: Store, submissions: Make) -> None:
    _, survey = tried(ada, store)
    store.surveys.publish(Survey.from_text(HABITS))
    sent = submissions(1, to=survey).to_json()
    replies = {
        name: ada.post(f"/api/v1/surveys/{name}/submissions", data=sent, content_type="application/json") for name in ("habits", survey.id)
    }
    assert {name: (reply.status_code, json.loads(reply.data)["rule"]) for name, reply in replies.items()} == {
        "habits": (409, "digest"),
        survey.id: (404, "survey"),
    }
    for page in (f"/s/{survey.id}", f"/api/v1/surveys/{survey.id}", f"/s/{survey.id}/by-hand"):
        assert ada.get(page).status_code == 404
    draft = store.drafts.begin("ada", HABITS.replace("id: habits", "id: preview-habits"))
    reply = ada.post(f"/manage/drafts/{draft.id}/source", data={"source": draft.text, "revision": draft.revision, "publish": "1"})
    assert reply.status_code == 422


def test_the_page_is_that_of_respondents_but_for_the_script_that_starts_it(ada: FlaskClient, store: Store) -> None:
    path, _ = tried(ada, store)
    store.surveys.publish(Survey.from_text(HABITS))
    page, own = ada.get(f"{path}/page").text, ada.get("/s/habits").text

    def body(text: str) -> str:
        return text[text.index("<body") :].replace("preview-habits", "habits")

    (script,) = re.findall(r'<script [^>]*src="/browser/respond.mjs" integrity="sha384-[^>]*></script>', own)
    assert body(page) == body(own).replace(f"\n{script}", "")
    assert page.count("respond.mjs") == 1
    assert f'<template id="script">{script}</template>' in page  # what stands in a template does not run by itself


def test_a_draft_with_mistakes_is_not_shown(ada: FlaskClient, store: Store) -> None:
    draft = store.drafts.begin("ada", HABITS.replace("epsilon: ln 9", "epsilon: 99"))
    assert ada.get(f"/manage/drafts/{draft.id}/preview").headers["Location"] == f"/manage/drafts/{draft.id}"
    for name in ("page", "definition"):
        assert ada.get(f"/manage/drafts/{draft.id}/preview/{name}").status_code == 409


def policies(app: Flask) -> dict[str, tuple[str, str]]:
    """What the reply to each address says of frames."""
    found = {}
    for rule in app.url_map.iter_rules():
        values = dict.fromkeys(rule.arguments, "x") | {"kind": "csv", "survey_id": "study", "name": "base.css"}
        with app.test_request_context():
            path = url_for(
                rule.endpoint,
                **{key: value for key, value in values.items() if key in rule.arguments}
                | ({"kind": "yaml"} if rule.endpoint == "drafting.download" else {}),
            )
        method = "GET" if "GET" in (rule.methods or set()) else "POST"
        reply = app.test_client().open(path, method=method)
        policy = reply.headers["Content-Security-Policy"]
        told = f"{re.search('frame-ancestors [^;]*', policy)[0]}{'; frames' if 'frame-src' in policy else ''}"  # type: ignore[index]
        found[rule.endpoint] = (told, reply.headers["X-Frame-Options"])
    return found


def test_no_page_but_the_preview_may_stand_in_a_frame_and_only_pages_of_a_draft_hold_one(app: Flask) -> None:
    found = policies(app)
    assert found.pop("preview.page") == ("frame-ancestors 'self'", "SAMEORIGIN")
    for holder in ("preview", "edit", "change"):
        assert found.pop(f"drafting.{holder}") == (f"{NOBODY}; frames", "DENY")
    assert set(found.values()) == {(NOBODY, "DENY")}
    assert found["respondents.survey"] == (NOBODY, "DENY")


def test_a_page_of_respondents_in_a_frame_would_be_noticed(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "_FRAMED", {*headers._FRAMED, app.view_functions["respondents.survey"]})
    assert policies(app)["respondents.survey"] != (NOBODY, "DENY")
