"""The front answers as the application does, to the last header, and goes on answering when there is more to do than it can."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

import httpx
import pytest
from flask.testing import FlaskClient
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import ServerProcess
from tests.kit.servers.raw import FORM, JSON, POST, SUBMIT, Raw, comparable
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import recount_of

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.front import gateway
from deniable_server.store import open_store

Make = Callable[..., Submission]


@pytest.fixture
def study(shipped: ServerProcess, survey: Survey) -> ServerProcess:
    shipped.publish(survey)
    return shipped


# Whole requests.


def test_a_submission_arrives_whole_or_not_at_all(study: ServerProcess, submissions: Make) -> None:
    body = submissions().to_json()
    end = b"Connection: close\r\n"
    whole = {
        "at once": POST + end + b"Content-Length: %d\r\n\r\n%s" % (len(body), body),
        "in chunks": POST + end + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n",
        "after 100 Continue": POST + end + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body),
    }
    for name, sent in whole.items():
        status, _, answer = Raw(study, sent).reply()
        assert (status, json.loads(answer)) == (200, {"accepted": 1}), name
    store = open_store(study.db)
    release_people(store)
    kept = recount_of(store, "study").n
    assert kept >= 1  # the same submission each time
    for head, part in (
        (b"Content-Length: %d\r\n\r\n" % (len(body) + 1), body),
        (b"Transfer-Encoding: chunked\r\n\r\n", b"%x\r\n%s" % (len(body), body[:-1])),
    ):
        other = submissions().to_json()[: len(part)]
        raw = Raw(study, POST + head + part.replace(body, other))
        raw.close()
    assert httpx.get(f"{study.url}/readyz", timeout=PATIENCE).status_code == 200
    release_people(store)
    assert recount_of(store, "study").n == kept
    store.close()


REQUESTS: list[tuple[str, str, dict[str, str]]] = [
    (method, path, headers)
    for method in ("GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "FOO")
    for path in ("/", "/s/study", "/api/v1/surveys/study", SUBMIT, "/healthz", "/readyz", "/nothing", "/api/nothing")
    for headers in ({}, {"Accept-Language": "de", "Accept-Encoding": "gzip"})
] + [
    ("GET", "/s/st%C3%BCdy", {}),
    ("GET", "/s/%FF", {}),
    ("GET", "/s/a%2Fb", {}),
    ("GET", "//s/study", {}),
    ("GET", "/s/study?lang=ar&x=%FF", {}),
    ("GET", "/api/v1/surveys/study/results", {"Authorization": "Basic x"}),
    ("GET", "/browser/boot.mjs", {"Range": "bytes=0-1"}),
]


def test_replies_are_those_of_the_application_to_the_last_header(study: ServerProcess, client: FlaskClient) -> None:
    with httpx.Client(base_url=study.url, timeout=PATIENCE, headers={"Accept-Encoding": "identity"}) as http:
        for method, path, headers in REQUESTS:
            with http.stream(method, path, headers=headers) as real:
                body = b"".join(real.iter_raw())
            plain = client.open(path, method=method, headers={"Accept-Encoding": "identity", "User-Agent": "x", **headers})
            assert (real.status_code, body) == (plain.status_code, plain.data), (method, path)
            assert comparable(real.headers.multi_items()) == comparable(plain.headers), (method, path)


def test_what_the_front_refuses_has_every_header_of_the_application(study: ServerProcess, client: FlaskClient, key: dict[str, str]) -> None:
    own = f"Authorization: Bearer {study.key}\r\n".encode()
    for head, path in ((POST + own, SUBMIT), (FORM, "/login")):
        status, headers, body = Raw(study, head + b"Content-Length: 90000000\r\n\r\n").reply()
        plain = client.post(path, data=b" " * 200_000, content_type="application/json", headers=key)
        assert (status, body) == (plain.status_code, plain.data) == (413, plain.data)
        assert comparable(headers.items()) == comparable(plain.headers)


def test_nothing_that_the_application_gets_says_where_a_request_came_from() -> None:
    class Scope:
        method, path, query_string, http_version, client = "GET", "/", "", "1.1", "192.0.2.7:4711"
        headers = httpx.Headers([("X-A", "1"), ("X-A", "2"), ("Content_Length", "7"), ("Cookie", "a=1"), ("Cookie", "b=2")])

    scope: Any = Scope()
    scope.headers.items = scope.headers.multi_items
    environ = gateway.environ_of(scope, scope.headers.items(), gateway.base_environ("localhost", 8000))
    assert "192.0.2.7" not in repr(environ)
    assert not [name for name in environ if name.startswith("REMOTE_")]
    assert (environ["HTTP_X_A"], environ["HTTP_COOKIE"], "CONTENT_LENGTH" in environ) == ("1,2", "a=1;b=2", False)


def test_commands_on_the_pages_name_the_servers_address_whatever_a_visitor_calls_it(study: ServerProcess) -> None:
    page = httpx.get(f"{study.url}/s/study/definition", headers={"Host": "evil.example"}, timeout=PATIENCE).text
    assert "evil.example" not in page
    assert f"{study.url}/api/v1/surveys/study" in page


# More to do than it can.


def test_a_stuck_database_stops_neither_health_nor_pages_and_the_rest_is_told_to_come_back(study: ServerProcess, submissions: Make) -> None:
    bodies = [submissions().to_json() for _ in range(600)]
    sent = [POST + b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies]
    with closing(sqlite3.connect(study.db, isolation_level=None)) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        waiting = [Raw(study, one) for one in sent]
        deadline = time.monotonic() + PATIENCE
        with httpx.Client(base_url=study.url, timeout=PATIENCE) as http:
            while True:
                assert time.monotonic() < deadline
                with suppress(httpx.ReadTimeout):
                    reply = http.post(SUBMIT, content=bodies[0], timeout=1, headers=JSON)
                    break
            assert (reply.status_code, reply.headers["Retry-After"]) == (503, "2")
            assert "the server is overloaded" in reply.text
            assert http.get("/healthz").json() == {"status": "ok"}
            assert http.get("/readyz").status_code == 200
            assert http.get("/s/study").status_code == 200
        foreign.execute("ROLLBACK")
    accepted = sum(raw.reply()[0] == 200 for raw in waiting)
    store = open_store(study.db)
    print(f"{accepted} of {len(sent)} accepted after the lock was gone")
    assert accepted >= 16
    store.close()


def test_ready_says_no_and_healthy_yes_when_the_database_cannot_be_read(make_server: Callable[..., Any], survey: Survey) -> None:
    server = make_server()
    server.publish(survey)
    server.start()
    server.db.write_bytes(b"garbage" * 10_000)
    reply = httpx.get(f"{server.url}/readyz", timeout=PATIENCE)
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "2")
    assert (reply.headers["Content-Type"], reply.json()["status"]) == ("application/problem+json", 503)
    assert httpx.get(f"{server.url}/healthz", timeout=PATIENCE).json() == {"status": "ok"}
    server.kill()
