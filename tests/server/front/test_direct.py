"""Single submissions are taken in front of Flask, and nobody can tell: every reply is the one that Flask gives."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from tests.kit.servers.raw import SUBMIT
from tests.kit.servers.tallies import count_of, recount_of

from deniable.survey import Survey
from deniable.wire.access_codes import submission_id
from deniable.wire.submission import Submission
from deniable_server.api.submissions import DirectSubmissions
from deniable_server.context import services_of
from deniable_server.front import Front, application, direct
from deniable_server.store.protocol import Store
from deniable_server.web.rate_limiter import Rate, Rates

Make = Callable[..., Submission]
Head = dict[str, str]
Reply = tuple[int, list[tuple[str, str]], bytes]
JSON = {"content-type": "application/json"}


class Scope:
    """The head of a request, as granian gives it."""

    http_version = "1.1"

    def __init__(self, path: str, headers: list[tuple[str, str]], method: str = "POST") -> None:
        self.method, (self.path, _, self.query_string) = method, path.partition("?")
        self.headers: Any = type("Headers", (), {"items": lambda _: headers})()


class Proto:
    """Where its body comes from, and its reply goes to."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.reply: Reply | None = None

    async def __call__(self) -> bytes:
        return self.body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.body

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        assert self.reply is None
        self.reply = status, sorted(headers), body


@pytest.fixture
def front(app: Flask) -> Front:
    return Front(app, services_of(app).get(DirectSubmissions), "localhost", 8000)


async def sent(front: Front, body: bytes, path: str = SUBMIT, head: Head = JSON) -> Reply:
    proto: Any = Proto(body)
    scope: Any = Scope(path, [*head.items(), ("content-length", str(len(body)))])
    await front.__rsgi__(scope, proto)
    reply: Reply = proto.reply
    return reply


def send(front: Front, body: bytes, path: str = SUBMIT, head: Head = JSON) -> Reply:
    return asyncio.run(sent(front, body, path, head))


def is_direct(path: str, head: Head, method: str = "POST", length: str = "300") -> bool:
    headers = [*head.items(), ("content-length", length)]
    scope: Any = Scope(path, headers, method)
    return direct.plain(scope, headers) is not None


@contextmanager
def without_flask(app: Flask) -> Iterator[None]:
    """Whatever reaches the application fails."""
    right, app.wsgi_app = app.wsgi_app, lambda *_: 1 / 0  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        app.wsgi_app = right  # type: ignore[method-assign]


def test_a_submission_is_kept_without_flask_and_answered_as_flask_answers(
    app: Flask, front: Front, store: Store, submissions: Make
) -> None:
    with without_flask(app):
        reply = send(front, submissions().to_json())
    assert (reply[0], json.loads(reply[2])) == (200, {"accepted": 1})
    assert reply == send(front, submissions().to_json(), f"{SUBMIT}?")
    with pytest.raises(ZeroDivisionError), without_flask(app):
        send(front, submissions().to_json(), f"{SUBMIT}?x")
    store.surveys.set_open("study", False)
    assert recount_of(store, "study").n == 2


def bodies(submissions: Make) -> dict[str, bytes]:
    """What is refused, each for a reason of its own."""
    one = submissions()
    other = {"id": bytes(16), "digest": one.digest, "count": 1, "reports": one.reports}
    return {
        "no json": b"{",
        "no object": b"[]",
        "another digest": Submission(**{**other, "digest": "0" * 64}).to_json(),
        "two records": submissions(2).to_json(),
        "records of another length": Submission(**{**other, "reports": one.reports * 2}).to_json(),
        "padding": Submission(**{**other, "reports": one.reports[:-1] + b"\xff"}).to_json(),
        "a group": Submission(**other, group="a").to_json(),
        "an invitation": Submission(**other, invitation=bytes(15)).to_json(),
        "a long body": one.to_json() + b" " * 2000,
    }


@pytest.mark.slow
def test_whatever_is_refused_is_told_as_flask_tells_it(front: Front, store: Store, submissions: Make) -> None:
    kept, secret = submissions(), bytes(range(15))
    store.submissions.add("study", kept)
    store.submissions.withdraw("study", submission_id(secret))
    cases = [(SUBMIT, body) for body in bodies(submissions).values()]
    cases.append((SUBMIT, submissions(id_=kept.id).to_json()))
    cases.append((SUBMIT, submissions(id_=submission_id(secret)).to_json()))
    cases.append((SUBMIT.replace("study", "nothing"), submissions().to_json()))
    statuses = [same_both_ways(front, path, body) for path, body in cases]
    store.surveys.pause("study", True)
    statuses.append(same_both_ways(front, SUBMIT, submissions().to_json()))
    store.surveys.set_open("study", False)
    statuses.append(same_both_ways(front, SUBMIT, submissions().to_json()))
    assert statuses == [400, 400, 409, 401, 400, 400, 400, 400, 401, 409, 409, 404, 503, 403]


def test_when_too_many_come_in_a_second_the_next_are_told_when_to_come_back(
    app: Flask, store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate = services_of(app).get(Rates).submissions = Rate(0.001, 1, clock=lambda: 0.0)
    services_of(app).add(DirectSubmissions(lambda _: store, rate))
    monkeypatch.setattr(application, "HOLD_SECONDS", 0)
    front = Front(app, services_of(app).get(DirectSubmissions), "localhost", 8000)
    assert send(front, submissions().to_json())[0] == 200
    assert same_both_ways(front, SUBMIT, submissions().to_json()) == 429
    assert dict(send(front, submissions().to_json())[1])["Retry-After"] == "1000"


def same_both_ways(front: Front, path: str, body: bytes) -> int:
    """The status of a submission's refusal, which is the same to the last header when Flask is asked."""
    assert is_direct(path, JSON)
    reply = send(front, body, path)
    assert reply == send(front, body, f"{path}?x"), body
    return reply[0]


@pytest.mark.parametrize(
    ("head", "taken"),
    [
        ({}, True),
        ({"sec-fetch-site": "same-origin", "origin": "https://here.example", "accept": "*/*"}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "same-site"}, False),
        ({"origin": "https://elsewhere.example"}, False),
        ({"authorization": "Bearer x"}, False),
        ({"content-encoding": "gzip"}, False),
        ({"transfer-encoding": "chunked"}, False),
        ({"content-type": "text/plain"}, False),
        ({"content-type": "application/json; charset=utf-8"}, False),
    ],
    ids=str,
)
def test_only_plain_requests_are_taken(head: Head, taken: bool) -> None:
    assert is_direct(SUBMIT, {**JSON, **head}) is taken


def test_only_posts_of_a_small_known_length_to_that_address_are_taken() -> None:
    assert is_direct(SUBMIT, JSON)
    assert not is_direct(SUBMIT, {})
    assert not is_direct(SUBMIT, JSON, method="PUT")
    for path in (f"{SUBMIT}/", f"{SUBMIT}?x=1", SUBMIT.replace("study", "a/b"), f"/{SUBMIT}", SUBMIT.replace("study", "st%20")):
        assert not is_direct(path, JSON), path
    for length in ("0", "-1", "+5", "1e3", "", "8193", "99999999", "٣"):
        assert not is_direct(SUBMIT, JSON, length=length), length
    twice = [("content-type", "application/json"), ("content-length", "5"), ("content-length", "5")]
    scope: Any = Scope(SUBMIT, twice)
    assert direct.plain(scope, twice) is None


@contextmanager
def stuck_writer(store: Store) -> Iterator[None]:
    """The database's writer does something else."""
    begun, go_on = threading.Event(), threading.Event()
    holder = threading.Thread(target=store.database.writer.run, args=[lambda _: begun.set() or go_on.wait(60)])  # type: ignore[attr-defined]
    holder.start()
    assert begun.wait(60)
    try:
        yield
    finally:
        go_on.set()
        holder.join()


def test_nothing_is_acknowledged_before_it_is_written(front: Front, store: Store, submissions: Make) -> None:
    async def begin_and_look() -> tuple[bool, Reply]:
        with stuck_writer(store):
            task = asyncio.create_task(sent(front, submissions().to_json()))
            while not store.database.writer._jobs.qsize():  # type: ignore[attr-defined]
                await asyncio.sleep(0)
            early = task.done()
        return early, await task

    early, reply = asyncio.run(begin_and_look())
    assert (early, reply[0]) == (False, 200)


@pytest.mark.slow
def test_who_waits_too_long_for_the_writer_is_told_so_and_nothing_is_kept(
    front: Front, store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DirectSubmissions, "patience", 0.01)
    one = submissions()
    with stuck_writer(store):
        reply = send(front, one.to_json())
    told = json.loads(reply[2])
    assert (reply[0], told["rule"], dict(reply[1])["Retry-After"]) == (503, "unavailable", "2")
    assert "the server's database is busy; nothing was stored" in told["detail"]
    store.surveys.set_open("study", False)
    assert count_of(store, "study") == 0


@pytest.mark.slow
def test_when_too_many_wait_the_next_are_told_to_come_back_at_once(
    front: Front, store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct, "MOST", 5)

    async def crowd() -> list[int]:
        with stuck_writer(store):
            tasks = [asyncio.create_task(sent(front, submissions().to_json())) for _ in range(9)]
            early, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            while len(early) < 4:
                early, _ = await asyncio.wait(tasks, timeout=0.01)
            refused = [task.result() for task in early]
        assert all("the server is overloaded" in reply[2].decode() and dict(reply[1])["Retry-After"] == "2" for reply in refused)
        return sorted([(await task)[0] for task in tasks])

    assert asyncio.run(crowd()) == [200] * 5 + [503] * 4
    assert send(front, submissions().to_json())[0] == 200
    store.surveys.set_open("study", False)
    assert recount_of(store, "study").n == 6


@pytest.mark.parametrize("bound", ["memory", "threads"])
def test_when_too_many_large_ones_wait_the_next_are_told_to_come_back_and_each_kept_one_is_counted_once(
    front: Front, store: Store, submissions: Make, key: Head, bound: str
) -> None:
    """Room for five, of nine: what is refused is refused while those five wait, and is taken when it comes again."""
    head = {**JSON, "authorization": key["Authorization"]}
    bodies = [submissions(10_000).to_json() for _ in range(9)]
    if bound == "memory":
        front._bodies._room = 5 * len(bodies[0])
    else:
        front._writing._most = 5

    async def crowd() -> list[Reply]:
        with stuck_writer(store):
            tasks = [asyncio.create_task(sent(front, body, head=head)) for body in bodies]
            refused: set[asyncio.Task[Reply]] = set()
            while len(refused) < 4:
                refused, _ = await asyncio.wait(tasks, timeout=0.01)
            while store.database.writer._jobs.qsize() < 5:  # type: ignore[attr-defined]
                await asyncio.sleep(0.001)
            assert sum(task.done() for task in tasks) == 4
        return [await task for task in tasks]

    replies = asyncio.run(crowd())
    again = [body for body, reply in zip(bodies, replies, strict=True) if reply[0] == 503]
    assert sorted(reply[0] for reply in replies) == [200] * 5 + [503] * 4
    assert all("nothing was stored" in reply[2].decode() and dict(reply[1])["Retry-After"] == "2" for reply in replies if reply[0] == 503)
    assert [send(front, body, head=head)[0] for body in again] == [200] * 4
    store.surveys.set_open("study", False)
    assert recount_of(store, "study").n == count_of(store, "study") == 90_000


def test_an_error_that_nobody_foresaw_is_a_reply_without_its_words(
    app: Flask, front: Front, submissions: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one = submissions()

    def careless(*given: object) -> None:
        raise RuntimeError(f"kanary {given}")

    monkeypatch.setattr(Submission, "check", careless)
    status, _, body = send(front, one.to_json())
    told = json.loads(body)
    assert (status, told["rule"]) == (500, "internal")
    assert b"kanary" not in body
    assert base64.urlsafe_b64encode(one.id).rstrip(b"=") not in body
    assert [record.getMessage() for record in caplog.records] == [f"error {told['detail'].split()[-1][:-1]} in api.submit"]


def test_a_survey_is_read_once_however_many_answer(front: Front, store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, asked = store.surveys.compiled, []

    def counting(survey_id: str) -> object:
        asked.append(survey_id)
        return compiled(survey_id)

    monkeypatch.setattr(store.surveys, "compiled", counting)
    assert [send(front, submissions().to_json())[0] for _ in range(5)] == [200] * 5
    assert asked == ["study"]


def test_a_survey_published_later_is_found(front: Front, store: Store, submissions: Make, survey: Survey) -> None:
    later = Survey.from_dict({**survey.to_dict(), "id": "later"})
    body, path = submissions(to=later).to_json(), SUBMIT.replace("study", "later")
    assert send(front, body, path)[0] == 404
    store.surveys.publish(later)
    assert send(front, body, path)[0] == 200
