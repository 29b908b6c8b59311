"""What a respondent's browser loads is small, compressed where that gives nothing away, and leaves no mark to be known by."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.store.protocol import Store
from deniable_server.web.compression import gzipped

GZIP = {"Accept-Encoding": "gzip, deflate, br"}
TWENTY = [
    {"id": f"q{n}", "text": f"In the past year, how often did you do thing number {n}, if ever?", "type": "choice", "options": options}
    for n, options in enumerate([["never", "once", "a few times", "often", "every day"]] * 20)
]


@pytest.fixture
def long_survey(store: Store) -> Survey:
    keys = {"deniable": 1, "id": "long", "title": "A long study", "about": "Who asks, and why. " * 20, "epsilon": 4, "questions": TWENTY}
    survey = Survey.from_dict(keys)
    store.surveys.publish(survey)
    return survey


def loaded(client: FlaskClient, survey: Survey) -> list[str]:
    """The addresses of all that the respondent's page of a survey loads, its own among them."""
    page = client.get(f"/s/{survey.id}").text
    named = set(re.findall(r'(?:src|href)="(/(?:browser|static)/[^"]+)"', page))
    assert len(named) == 4  # two scripts, two style sheets
    return [f"/s/{survey.id}", f"/api/v1/surveys/{survey.id}", *sorted(named)]


def test_a_visit_to_a_survey_of_20_questions_transfers_less_than_58_kb_in_six_replies(client: FlaskClient, long_survey: Survey) -> None:
    sizes = {path: len(client.get(path, headers=GZIP).data) for path in loaded(client, long_survey)}
    assert sum(sizes.values()) < 58_000, sizes
    assert len(sizes) == 6


def test_the_control_a_visit_without_compression_is_more_than_twice_as_long(client: FlaskClient, long_survey: Survey) -> None:
    paths = loaded(client, long_survey)
    compressed, plain = (sum(len(client.get(path, headers=headers).data) for path in paths) for headers in (GZIP, {}))
    assert plain > 2 * compressed


def test_what_is_unpacked_is_what_others_get_plain(client: FlaskClient, long_survey: Survey) -> None:
    for path in loaded(client, long_survey):
        packed, plain = client.get(path, headers=GZIP), client.get(path)
        assert packed.headers["Content-Encoding"] == "gzip"
        assert "Content-Encoding" not in plain.headers
        assert gzip.decompress(packed.data) == plain.data, path
        assert "Accept-Encoding" in packed.headers["Vary"]
        assert "Accept-Encoding" in plain.headers["Vary"]
        assert int(packed.headers["Content-Length"]) == len(packed.data)


@pytest.mark.parametrize("accepts", ["", "br", "identity", "gzip;q=0", "*;q=0"])
def test_who_does_not_accept_gzip_gets_none(client: FlaskClient, survey: Survey, accepts: str) -> None:
    for path in loaded(client, survey):
        assert "Content-Encoding" not in client.get(path, headers={"Accept-Encoding": accepts}).headers


def test_the_integrity_in_the_page_is_that_of_the_unpacked_bytes(client: FlaskClient, survey: Survey) -> None:
    page = client.get(f"/s/{survey.id}").text
    named = dict(re.findall(r'(?:src|href)="(/[^"]+)" integrity="sha384-([^"]+)"', page))
    assert len(named) == 4
    for path, integrity in named.items():
        body = gzip.decompress(client.get(path, headers=GZIP).data)
        assert b64encode(hashlib.sha384(body).digest()).decode() == integrity


def test_no_reply_can_be_told_from_another_visit_or_used_to_know_a_browser_again(client: FlaskClient, survey: Survey) -> None:
    for path in loaded(client, survey):
        for headers in ({}, GZIP):
            reply, again = client.get(path, headers=headers), client.get(path, headers={**headers, "If-None-Match": "*"})
            assert {"Set-Cookie", "ETag", "Last-Modified", "Expires"} & set(reply.headers.keys()) == set()
            assert reply.headers["Cache-Control"] == "no-store"
            assert (reply.data, reply.headers.to_wsgi_list()) == (again.data, again.headers.to_wsgi_list())


def test_the_same_bytes_are_compressed_to_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    first = gzipped(b"body { margin: 0 }" * 9)
    monkeypatch.setattr("time.time", lambda: 1e9)
    assert gzipped(b"body { margin: 0 }" * 9) == first
    assert first[4:8] == bytes(4)  # no time


def test_where_a_secret_may_stand_nothing_is_compressed(app: Flask, survey: Survey, submissions: Callable[..., Submission]) -> None:
    client = app.test_client()
    replies = [
        client.post("/api/v1/surveys/study/submissions", json=json.loads(submissions().to_json()), headers=GZIP),
        client.post("/api/v1/surveys/study/submissions", json={}, headers=GZIP),
        client.get("/login", headers=GZIP),
        client.get("/manage", headers=GZIP),
        client.get("/api/v1/surveys/study/results", headers=GZIP),
    ]
    assert [reply.status_code for reply in replies] == [200, 400, 200, 302, 401]
    assert all("Content-Encoding" not in reply.headers for reply in replies)
