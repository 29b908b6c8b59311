"""Bodies on their way in have limits and deadlines: no client holds a thread, and none fills the memory."""

from __future__ import annotations

import asyncio
import html
import os
import re
import socket
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import url_for
from flask.testing import FlaskClient
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import PASSWORD, USER, ServerProcess
from tests.kit.servers.raw import FORM, JSON, POST, SUBMIT, Raw, comparable
from werkzeug.exceptions import RequestTimeout

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.front import bodies
from deniable_server.front.bodies import DROPPED, HUGE, Bodies
from deniable_server.store.protocol import Store
from deniable_server.web import limits

Make = Callable[..., Submission]
WIDE = Survey.from_dict(
    {"deniable": 1, "id": "wide", "title": "Wide", "about": "A test.", "epsilon": 8,
     "questions": [{"id": f"q{n}", "text": "Which?", "type": "choice", "options": [f"{i}" for i in range(513)]} for n in range(4)]}
)  # fmt: skip


@pytest.fixture
def study(shipped: ServerProcess, survey: Survey) -> ServerProcess:
    shipped.publish(survey, WIDE)
    return shipped


@pytest.mark.parametrize(("size", "most"), [(HUGE, 1), (HUGE - 1, 3)])
def test_of_huge_bodies_one_is_read_at_a_time(size: int, most: int) -> None:
    bodies, now, seen = Bodies(), [0], [0]

    async def handle() -> None:
        async with bodies.turn(size):
            now[0] += 1
            seen[0] = max(seen[0], now[0])
            await asyncio.sleep(0)
            now[0] -= 1

    async def all_at_once() -> None:
        await asyncio.gather(*(handle() for _ in range(3)))

    asyncio.run(all_at_once())
    assert seen == [most]


def keyed(server: ServerProcess) -> bytes:
    """POST of somebody who may send many records."""
    return POST + f"Authorization: Bearer {server.key}\r\n".encode()


@pytest.mark.slow
def test_every_client_that_does_not_finish_is_told_so_and_cut_off(study: ServerProcess, client: FlaskClient) -> None:
    stuck = {
        "a silent body": POST + b"Content-Length: 4000\r\n\r\n",
        "a silent body after 100 Continue": POST + b"Expect: 100-continue\r\nContent-Length: 4000\r\n\r\n",
        "half a body": POST + b"Content-Length: 4000\r\n\r\n{",
        "no chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n",
        "half a chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
        "a form": FORM + b"Content-Length: 3000\r\n\r\nuser=ada",
        "a large body": keyed(study).replace(b"surveys/study", b"surveys/wide") + b"Content-Length: 200000\r\n\r\n{",
    }
    trickling = {f"{name}, byte by byte": sent for name, sent in stuck.items()}
    with ThreadPoolExecutor(2 * len(stuck)) as pool:
        silent = pool.map(lambda sent: Raw(study, sent).reply(), stuck.values())
        slow = pool.map(lambda sent: Raw(study, sent).reply(trickle=b"1\r\n \r\n" if b"chunked" in sent else b" "), trickling.values())
        replies = dict(zip([*stuck, *trickling], [*silent, *slow], strict=True))
    for name, (status, headers, body) in replies.items():
        assert status == 408, name
        assert headers["connection"] == "close", name
        assert b"must arrive within 10 seconds" in body, name
        path = "/login" if name.startswith("a form") else SUBMIT
        own = client.post(path, environ_overrides={limits.REFUSED: RequestTimeout()})
        assert comparable(headers.items()) == comparable(own.headers), name


@pytest.mark.parametrize("head", [b"Content-Length: 60000000\r\n\r\n", b"Expect: 100-continue\r\nContent-Length: 60000000\r\n\r\n"])
@pytest.mark.parametrize("path", [SUBMIT, "/api/v1/surveys/wide/submissions", "/login", "/s/study/withdraw", "/s/study/by-hand"])
def test_a_body_that_is_too_long_is_refused_before_any_of_it_came(study: ServerProcess, path: str, head: bytes) -> None:
    raw = Raw(study, keyed(study).replace(SUBMIT.encode(), path.encode()) + head)
    whole = raw.all()
    assert whole.startswith(b"HTTP/1.1 413 ") or (path.endswith("by-hand") and whole.startswith(b"HTTP/1.1 404 "))
    assert b"100 Continue" not in whole


LONG = b"x" * 400_000
CHUNKED = b"Transfer-Encoding: chunked\r\n"
IN_CHUNKS = b"1000\r\n%b\r\n" % LONG[:4096] * 100 + b"0\r\n\r\n"


def reply_to_all(server: ServerProcess, head: bytes, body: bytes) -> tuple[int, dict[str, str], bytes]:
    """What a client gets that sends all before it reads, as browsers do. Were the body left unread, its connection would break before."""
    raw = Raw(server, head + b"\r\n")
    raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # else the system would keep it for the server
    raw.send(body)
    return raw.reply()


@pytest.mark.parametrize(("length", "body"), [(b"Content-Length: %d\r\n" % len(LONG), LONG), (CHUNKED, IN_CHUNKS)])
def test_who_sends_a_whole_form_before_reading_gets_the_reply_that_refuses_it(study: ServerProcess, length: bytes, body: bytes) -> None:
    """A form of a login that has ended."""
    status, headers, _ = reply_to_all(study, FORM.replace(b"/login", b"/manage/new") + b"Connection: close\r\n" + length, body)
    assert (status, headers["location"]) == (302, "/login?next=/manage/new&unread=1")


@pytest.mark.parametrize(("length", "taken"), [(DROPPED, [b"half"]), (None, [b"half"]), (DROPPED + 1, []), (0, [])])
def test_of_a_refused_body_only_so_much_is_read_and_only_for_so_long(
    length: int | None, taken: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "SECONDS", 0.01)
    came: list[bytes] = []

    async def stalled() -> AsyncIterator[bytes]:
        came.append(b"half")
        yield came[0]
        await asyncio.Event().wait()

    asyncio.run(asyncio.wait_for(Bodies().drop(stalled(), length), PATIENCE))
    assert came == taken


def test_a_body_in_chunks_is_cut_off_where_it_becomes_too_long(study: ServerProcess) -> None:
    raw = Raw(study, POST.replace(SUBMIT.encode(), b"/api/v1/surveys/study/withdrawals") + b"Transfer-Encoding: chunked\r\n\r\n")
    sent = 0
    with closing(raw), suppress(OSError):  # the server ends the connection before we do
        while (sent := sent + 4096) < 1 << 30:
            raw.send(b"1000\r\n" + b" " * 4096 + b"\r\n")
    assert sent < 1 << 30


def test_the_limit_follows_from_the_survey_and_the_key(app: Any, store: Store, key: dict[str, str]) -> None:
    store.surveys.publish(WIDE)
    asked: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "SERVER_NAME": "x",
        "SERVER_PORT": "1",
        "wsgi.url_scheme": "http",
        "wsgi.input": None,
    }
    paths = (SUBMIT, SUBMIT.replace("study", "wide"), "/login")
    assert {limits.most_bytes_of(app, {**asked, "PATH_INFO": path}) for path in paths} == {limits.SMALL}  # one record each
    asked["HTTP_AUTHORIZATION"] = "Bearer of no key"
    assert limits.most_bytes_of(app, {**asked, "PATH_INFO": SUBMIT}) == 0  # unread, and told by the view
    asked["HTTP_AUTHORIZATION"] = key["Authorization"]
    sizes = {path: limits.most_bytes_of(app, {**asked, "PATH_INFO": path}) for path in paths}
    assert sizes["/login"] == limits.SMALL
    assert 133_334 < sizes[SUBMIT] < 140_000
    assert 100_000 * 256 * 4 / 3 < sizes[SUBMIT.replace("study", "wide")] < 35_000_000
    assert limits.most_bytes_of(app, {**asked, "PATH_INFO": SUBMIT.replace("study", "none")}) == 0


def test_a_stranger_may_send_little_to_any_address(app: Any, store: Store, logged_in: Callable[[Any], FlaskClient]) -> None:
    """Otherwise strangers could take up the room that large bodies share, and who has a key would be told to come back later."""
    store.surveys.publish(WIDE)
    cookie = logged_in(app).get_cookie("deniable", path="/")
    assert cookie is not None
    most = {"stranger": {}, "researcher": {}}
    for rule in app.url_map.iter_rules():
        for method in (rule.methods or set()) - {"GET", "HEAD", "OPTIONS"}:
            with app.test_request_context():
                path = url_for(rule.endpoint, **dict.fromkeys(rule.arguments, "wide"))
            asked = {"REQUEST_METHOD": method, "SERVER_NAME": "x", "SERVER_PORT": "1", "wsgi.url_scheme": "http", "wsgi.input": None}
            for who, sent in (("stranger", ""), ("researcher", f"deniable={cookie.value}")):
                most[who][path] = limits.most_bytes_of(app, {**asked, "PATH_INFO": path, "HTTP_COOKIE": sent})
    one_record = limits.SMALL + 16 * len(WIDE.questions)  # one written by hand
    assert max(most["stranger"].values()) <= one_record
    assert {path for path, size in most["researcher"].items() if size > one_record} == {  # so the test sees larger ones
        "/manage/new",
        "/manage/drafts/wide",
        "/manage/drafts/wide/source",
        "/manage/drafts/wide/translations",
    }


@pytest.mark.slow
def test_strangers_who_send_slowly_to_a_page_of_researchers_keep_nobody_out(study: ServerProcess, submissions: Make) -> None:
    head = b"POST /manage/new HTTP/1.1\r\nHost: study\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 393216\r\n\r\n--x"
    with ExitStack() as crowd:
        for _ in range(300):  # 256 would take all the room
            crowd.enter_context(closing(Raw(study, head)))
        headers = {**JSON, "Authorization": f"Bearer {study.key}"}
        for _ in range(5):
            reply = httpx.post(study.url + SUBMIT, content=submissions(30_000).to_json(), headers=headers, timeout=PATIENCE)
            assert reply.status_code == 200, reply.text


def test_a_file_of_a_researcher_has_room_and_one_of_a_stranger_is_led_to_the_door(study: ServerProcess) -> None:
    file = {"file": ("survey.yaml", b"deniable: 1\n" + b"#" * 200_000)}
    with httpx.Client(base_url=study.url, timeout=PATIENCE) as browser:
        assert browser.post("/manage/new", files=file).headers["location"] == "/login?next=/manage/new&unread=1"
        asked = {"csrf_token": _token(browser.get("/login").text), "user": USER, "password": PASSWORD}
        assert browser.post("/login", data=asked).status_code == 302
        form = {"csrf_token": _token(browser.get("/manage/new").text), "n": "1000"}
        reply = browser.post("/manage/new", files=file, data=form, follow_redirects=True)
    assert reply.status_code == 200
    assert "is missing" in reply.text


def _token(page: str) -> str:
    return html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', page)[0])


def test_a_bomb_of_brackets_is_refused_in_no_time(study: ServerProcess) -> None:
    bomb = b"[" + b"[]," * 8_000_000 + b"[]]"
    label = b'{"id":"' + b"a" * 22 + b'","digest":"' + b"0" * 64 + b'","count":1,"reports":"","group":' + bomb + b"}"
    for body in (bomb, label, b"[" * 24_000_000, b'{"id":' * 4_000_000, b'{"":1,' + b'"":1,' * 4_000_000 + b'"":1}'):
        before = cpu(study)
        headers = {**JSON, "Authorization": f"Bearer {study.key}"}
        reply = httpx.post(f"{study.url}/api/v1/surveys/wide/submissions", content=body, timeout=PATIENCE, headers=headers)
        assert (reply.status_code, reply.json()["rule"]) == (400, "json")
        used = cpu(study) - before
        print(f"{len(body):,} bytes: {used:.2f} s of a processor, {peak_memory(study) >> 20} MiB at the most")
        assert used < 1.0
    assert peak_memory(study) < 500 << 20


def cpu(server: ServerProcess) -> float:
    """Seconds of a processor's time that the server has used."""
    assert server.process is not None
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def peak_memory(server: ServerProcess) -> int:
    assert server.process is not None
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{server.process.pid}/status").read_text())
    assert found
    return int(found[1]) << 10


@pytest.mark.slow
def test_two_of_the_longest_bodies_at_once_take_less_than_150_mb_and_leave_none_for_the_next_two(
    study: ServerProcess, submissions: Make
) -> None:
    record = submissions(to=WIDE).reports
    headers = {**JSON, "Authorization": f"Bearer {study.key}"}

    def send(body: bytes) -> int:
        return httpx.post(f"{study.url}/api/v1/surveys/wide/submissions", content=body, timeout=PATIENCE, headers=headers).status_code

    bodies = [Submission(os.urandom(16), WIDE.digest, 100_000, record * 100_000).to_json() for _ in range(4)]
    assert min(map(len, bodies)) > 34_000_000
    assert study.process is not None
    Path(f"/proc/{study.process.pid}/clear_refs").write_text("5")  # the most is counted from here on
    before = peak_memory(study)
    with ThreadPoolExecutor(2) as pool:
        assert [list(pool.map(send, pair)) for pair in (bodies[:2], bodies[2:])] == [[200, 200]] * 2
    print(f"from {before >> 20} to {peak_memory(study) >> 20} MiB")
    assert peak_memory(study) - before < 150 << 20


def test_large_bodies_have_a_share_of_the_memory_and_small_ones_always_have_room(study: ServerProcess, submissions: Make) -> None:
    head = keyed(study).replace(b"study", b"wide") + b"Content-Length: 34000000\r\n\r\n"
    waiting = [Raw(study, head) for _ in range(2)]
    for raw in waiting:
        raw.send(b" " * 20_000_000)  # more than the system buffers: who has sent it is being collected
    status, headers, body = Raw(study, head).reply()
    assert (status, headers["retry-after"]) == (503, "2")
    assert b"too many large bodies" in body
    assert reply_to_all(study, keyed(study).replace(b"study", b"wide") + CHUNKED, IN_CHUNKS)[0] == 503
    assert httpx.post(study.url + SUBMIT, content=submissions().to_json(), headers=JSON, timeout=PATIENCE).status_code == 200
    for raw in waiting:
        raw.close()
    deadline = time.monotonic() + PATIENCE
    while refused(study, head) and time.monotonic() < deadline:  # until the room of those that went away is free again
        pass
    assert time.monotonic() < deadline


def refused(server: ServerProcess, head: bytes) -> bool:
    """Whether the server says anything before the body has come."""
    with closing(Raw(server, head)) as raw:
        raw.socket.settimeout(1)
        try:
            return bool(raw.socket.recv(1))
        except TimeoutError:
            return False


@pytest.mark.slow
def test_the_application_without_a_front_has_the_same_limits(tmp_path: Path, store: Store, key: dict[str, str]) -> None:
    client = create_app(Config(tmp_path / "deniable.db", "x" * 40), store).test_client()
    assert client.post(SUBMIT, data=b"x" * 200_000, content_type="application/json", headers=key).status_code == 413
    assert client.post(SUBMIT, data=b"x" * 200_000, content_type="application/json").status_code == 401  # it says how to get a key
    assert client.post("/login", data={"user": "x" * 10_000}).status_code == 413
