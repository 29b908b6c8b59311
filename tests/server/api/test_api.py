"""The submit route keeps what is right and names the rule for what is wrong."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.kit.servers.tallies import tally_of
from werkzeug.test import TestResponse

from deniable.survey import Survey
from deniable.wire.part import Mode, Part
from deniable.wire.submission import Submission
from deniable_server.store.protocol import Store

Make = Callable[..., Submission]
Headers = dict[str, str]
URL = "/api/v1/surveys/study/submissions"


def send(client: FlaskClient, body: bytes, url: str = URL, **headers: str) -> TestResponse:
    return client.post(url, data=body, content_type="application/json", headers=headers)


def rule(reply: TestResponse) -> str:
    return str(reply.get_json()["rule"])


def changed(submission: Submission, **fields: Any) -> bytes:
    return json.dumps({**json.loads(submission.to_json()), **fields}).encode()


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def test_the_definition_is_served_as_the_bytes_that_are_hashed(client: FlaskClient, survey: Survey) -> None:
    reply = client.get("/api/v1/surveys/study")
    assert hashlib.sha256(reply.data).hexdigest() == survey.digest
    assert Survey.from_definition(reply.data) == survey


def test_an_accepted_submission_is_counted(client: FlaskClient, store: Store, submissions: Make, key: Headers) -> None:
    reply = send(client, submissions(12).to_json(), **key)
    assert (reply.status_code, reply.get_json()) == (200, {"accepted": 12})
    assert tally_of(store, "study").n == 12


def test_the_same_bytes_again_are_acknowledged_and_counted_once(client: FlaskClient, store: Store, submissions: Make, key: Headers) -> None:
    body = submissions(2).to_json()
    assert [send(client, body, **key).status_code for _ in range(5)] == [200] * 5
    assert tally_of(store, "study").n == 2


def test_the_same_id_with_other_bytes_is_refused(client: FlaskClient, store: Store, submissions: Make, key: Headers) -> None:
    first = submissions(100)
    send(client, first.to_json(), **key)
    reply = send(client, submissions(100, id_=first.id).to_json(), **key)
    assert (reply.status_code, rule(reply)) == (409, "conflict")
    assert tally_of(store, "study").n == 100


BAD: dict[str, tuple[Callable[[Submission], bytes], int, str]] = {
    "no JSON": (lambda s: b"{", 400, "json"),
    "no UTF-8": (lambda s: b'{"id": "\xff"}', 400, "json"),
    "a key twice": (lambda s: s.to_json().replace(b'"count":1', b'"count":1,"count":1'), 400, "json"),
    "NaN": (lambda s: s.to_json().replace(b'"count":1', b'"count":NaN'), 400, "json"),
    "deep nesting": (lambda s: b"[" * 100_000, 400, "json"),
    "a list": (lambda s: b"[]", 400, "keys"),
    "a key too many": (lambda s: changed(s, time="x"), 400, "keys"),
    "a key too few": (lambda s: b'{"id":"AAAAAAAAAAAAAAAAAAAAAA"}', 400, "keys"),
    "a count of zero": (lambda s: changed(s, count=0), 400, "count"),
    "a count that is true": (lambda s: changed(s, count=True), 400, "count"),
    "a count that is a fraction": (lambda s: changed(s, count=1.0), 400, "count"),
    "a count beyond the limit": (lambda s: changed(s, count=100_001), 400, "count"),
    "another count": (lambda s: changed(s, count=2), 400, "length"),
    "a short id": (lambda s: changed(s, id=encoded(b"x" * 15)), 400, "id"),
    "an id in standard base64": (lambda s: changed(s, id="+" * 22), 400, "id"),
    "a padded id": (lambda s: changed(s, id=encoded(s.id) + "=="), 400, "id"),
    "an id with spare bits": (lambda s: changed(s, id=encoded(b"\0" * 16)[:-1] + "B"), 400, "id"),
    "a number for an id": (lambda s: changed(s, id=7), 400, "id"),
    "no digest": (lambda s: changed(s, digest="abc"), 400, "digest"),
    "another digest": (lambda s: changed(s, digest="0" * 64), 409, "digest"),
    "no bytes": (lambda s: changed(s, reports=""), 400, "length"),
    "a byte too many": (lambda s: changed(s, reports=encoded(s.reports + b"\0")), 400, "length"),
    "padding that is set": (lambda s: changed(s, reports=encoded(bytes([s.reports[0] | 1]))), 400, "padding"),
    "all bits set": (lambda s: changed(s, reports=encoded(b"\xfe")), 400, "impossible"),
    "too few bits set": (lambda s: changed(s, reports=encoded(b"\x00")), 400, "impossible"),
    "text for reports": (lambda s: changed(s, reports="äöü"), 400, "reports"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD)
def test_a_wrong_submission_names_the_rule_and_is_not_kept(
    case: str, client: FlaskClient, store: Store, submissions: Make, key: Headers
) -> None:
    make, status, name = BAD[case]
    submission = submissions(1)
    reply = send(client, make(submission), **key)
    assert (reply.status_code, rule(reply)) == (status, name)
    assert len(reply.get_json()["detail"]) > 20
    assert tally_of(store, "study").n == 0


def test_an_unknown_survey_is_not_found(client: FlaskClient, submissions: Make) -> None:
    for reply in (
        client.get("/api/v1/surveys/nope"),
        send(client, submissions().to_json(), URL.replace("study", "nope")),
    ):
        assert (reply.status_code, rule(reply)) == (404, "survey")


def test_a_closed_survey_says_so(client: FlaskClient, store: Store, submissions: Make) -> None:
    store.surveys.set_open("study", False)
    reply = send(client, submissions().to_json())
    assert (reply.status_code, rule(reply)) == (403, "closed")
    assert tally_of(store, "study").n == 0


def test_a_compressed_body_is_refused_unread(client: FlaskClient, submissions: Make) -> None:
    for url in (URL, URL.replace("submissions", "withdrawals")):
        assert send(client, gzip.compress(submissions().to_json()), url, **{"Content-Encoding": "gzip"}).status_code == 415


def test_a_huge_body_is_refused(client: FlaskClient, key: Headers) -> None:
    assert send(client, b"x" * (41 << 20), **key).status_code == 413


def test_a_failure_tells_an_id_and_nothing_else(
    client: FlaskClient, store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(store.submissions, "add", fail)
    reply = send(client, submissions().to_json())
    assert (reply.status_code, rule(reply)) == (500, "internal")
    assert b"secret" not in reply.data
    assert b"Traceback" not in reply.data


def test_no_reply_of_the_protocol_sets_a_cookie_or_can_be_cached(client: FlaskClient, submissions: Make) -> None:
    for reply in (client.get("/api/v1/surveys/study"), send(client, submissions().to_json()), send(client, b"{")):
        assert "Set-Cookie" not in reply.headers
        assert "ETag" not in reply.headers
        assert "Last-Modified" not in reply.headers
        assert reply.headers["Cache-Control"] == "no-store"


@pytest.mark.slow
def test_results_need_a_researchers_password(client: FlaskClient, submissions: Make, key: Headers) -> None:
    url = "/api/v1/surveys/study/results"
    send(client, submissions(500).to_json(), **key)
    assert client.get(url).status_code == 401
    assert "Basic" in client.get(url).headers["WWW-Authenticate"]
    assert "a researcher's name and password are needed, or a key" in client.get(url).text
    for wrong in (("ada", "wrong password"), ("eve", "correct horse battery")):
        reply = client.get(url, auth=wrong)
        assert (reply.status_code, reply.get_json()["detail"]) == (401, "the name or the password is wrong")
    reply = client.get(url, auth=("ada", "correct horse battery"))
    assert reply.status_code == 200
    assert [row["question"] for row in reply.get_json()["rows"]].count("party") == 7


@pytest.mark.slow
@pytest.mark.parametrize("query", ["confidence=2", "confidence=x", "method=guess", "target=everyone"])
def test_a_wrong_option_of_the_results_is_named(client: FlaskClient, query: str) -> None:
    reply = client.get(f"/api/v1/surveys/study/results?{query}", auth=("ada", "correct horse battery"))
    assert reply.status_code == 400
    assert query.split("=")[0] in reply.get_json()["detail"]


def test_who_has_no_key_is_no_organisation(client: FlaskClient, store: Store, submissions: Make) -> None:
    reply = send(client, submissions(1, mode="organisation").to_json())
    assert reply.status_code == 401
    assert "mode must not be organisation without a key with the scope submit" in reply.text
    assert store.submissions.counts("study") == {}


@pytest.mark.parametrize("mode", ["device", "organisation"])
@pytest.mark.parametrize("count", [1, 3])
def test_what_comes_with_a_key_is_of_an_organisation_whatever_it_says(
    client: FlaskClient, store: Store, submissions: Make, key: Headers, mode: Mode, count: int
) -> None:
    sent = submissions(count, mode=mode).to_json()
    for _ in range(2):
        assert send(client, sent, **key).status_code == 200
    assert store.submissions.counts("study") == {Part(mode="organisation"): count}
