"""Webhooks by page and by API: for owners, with a secret that is shown once."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.process import PASSWORD
from werkzeug.test import TestResponse

from deniable_server.store.protocol import Store

PAGE, API = "/manage/surveys/study/webhooks", "/api/v1/surveys/study/webhooks"
URL = "https://example.org/in"
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")
ADA = ("ada", PASSWORD)


@pytest.fixture
def ada(app: Flask, logged_in: Callable[..., FlaskClient]) -> FlaskClient:
    return logged_in(app)


def send(client: FlaskClient, path: str, **fields: object) -> TestResponse:
    token = html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', client.get(PAGE).text)[0])
    return client.post(path, data={"csrf_token": token, **fields})


def test_a_webhook_is_made_shown_and_removed_on_its_page(ada: FlaskClient, store: Store) -> None:
    assert f'href="{PAGE}"' in ada.get("/manage/surveys/study/settings").text
    made = send(ada, PAGE, url=URL, events=["count.daily", "survey.closed"])
    assert (made.status_code, len(SECRET.findall(made.text))) == (200, 1)
    (webhook,) = store.webhooks.of_survey("study")
    assert (webhook.url, webhook.events) == (URL, ("survey.closed", "count.daily"))
    again = ada.get(PAGE).text
    assert URL in again
    assert not SECRET.search(again)
    assert send(ada, f"{PAGE}/remove", id=webhook.id, sure="1").status_code == 302
    assert store.webhooks.all() == []


def test_a_mistake_is_told_and_what_was_written_stays(ada: FlaskClient, store: Store) -> None:
    mistakes: list[tuple[dict[str, object], str]] = [
        ({}, "Enter the address."),
        ({"url": URL}, "Choose at least one event."),
        ({"url": "http://example.org", "events": ["survey.closed"]}, "The address must begin with https://"),
        ({"url": "<script>", "events": ["survey.closed"]}, "The address must be an address"),
    ]
    for fields, said in mistakes:
        reply = send(ada, PAGE, **fields)
        assert reply.status_code == 422
        assert said in html.unescape(reply.text)
        assert html.escape(str(fields.get("url", ""))) in reply.text
        assert "<script>" not in reply.text
    assert store.webhooks.all() == []


def test_the_api_does_the_same(client: FlaskClient, store: Store) -> None:
    made = client.post(API, json={"url": URL, "events": ["survey.closed"]}, auth=ADA)
    assert made.status_code == 201
    told = made.get_json()
    assert SECRET.fullmatch(told.pop("secret"))
    assert client.get(API, auth=ADA).get_json() == {"webhooks": [told]}
    assert (told["url"], told["events"], told["failing_since"]) == (URL, ["survey.closed"], None)
    assert client.delete(f"{API}/{told['id']}", auth=ADA).get_json() == {"removed": True}
    assert client.delete(f"{API}/{told['id']}", auth=ADA).status_code == 404
    for _ in range(10):
        assert client.post(API, json={"url": URL, "events": ["survey.closed"]}, auth=ADA).status_code == 201
    assert client.post(API, json={"url": URL, "events": ["survey.closed"]}, auth=ADA).status_code == 409


def test_what_is_no_webhook_is_refused(client: FlaskClient, store: Store) -> None:
    good = {"url": "https://example.org", "events": ["survey.closed"]}
    wrong = [{"url": 1}, {"url": "x"}, {"events": "survey.closed"}, {"events": []}, {"events": ["all"]}, {"events": [["survey.closed"]]}]
    bodies = [json.dumps({**good, **each}) for each in [*wrong, {"secret": "kanary"}]]
    for body in ("", "[]", "{}", "null", "[" * 4000, *bodies):
        reply = client.post(API, data=body, content_type="application/json", auth=ADA)
        assert (reply.status_code, reply.get_json()["rule"]) == (400, "webhook"), body
        assert "kanary" not in reply.text
    assert store.webhooks.all() == []
