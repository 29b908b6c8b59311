"""Requests that carry an answer where none belongs: no reply repeats it, no log line and no file of the server's holds it.

The whole map of URLs is asked, with a canary in every place that a request has. What a person has typed into a field of a form, and
the address that login leads back to, are shown again to whoever typed them: those, and no others, stand in ECHOES.
"""

from __future__ import annotations

import base64
import json
import logging
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import Flask, request
from tests.kit.issuer import issued
from tests.kit.pages.traces import spellings
from tests.kit.servers.process import ServerProcess
from tests.kit.servers.raw import Raw
from tests.kit.servers.tallies import recount_of

from deniable.survey import Survey
from deniable_server.store import open_store
from deniable_server.store.protocol import Store
from deniable_server.web import errors

CANARY = "kanarytruth"
QUESTION = {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}
KEYS: dict[str, Any] = {
    "deniable": 1,
    "title": "A study",
    "about": "Who asks, and why.",
    "batch": 1,
    "accept_small_batches": True,
    "epsilon": "ln 3",
}
OPEN = Survey.from_dict({**KEYS, "id": "open", "questions": [QUESTION], "groups": ["North", "South"]})
INVITED = issued(Survey.from_dict({**KEYS, "id": "invited", "questions": [QUESTION], "access": "invited"}))
ID, MARKS = "A" * 22, {"mark-1": "yes", "group": "North"}
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


def envelope(**fields: Any) -> str:
    """A submission of one record but for these fields; a field that is None is left out."""
    whole = {"id": ID, "digest": OPEN.digest, "count": 1, "reports": "gA", "group": "North", **fields}
    return json.dumps({name: value for name, value in whole.items() if value is not None})


BODIES: list[tuple[str, str]] = [
    *((JSON, body) for body in (
        CANARY, f'"{CANARY}"', f"[{CANARY}]", f'{{"smokes":"{CANARY}"}}', f'{{"{CANARY}":1}}', f'{{"{CANARY}":1,"{CANARY}":2}}',
        f'{{"code":"{CANARY}"}}', json.dumps({"code": CANARY, "smokes": CANARY}), f'{{"smokes":"{CANARY}', " " * 9000 + CANARY,
        *(envelope(**{name: CANARY}) for name in ("id", "digest", "count", "reports", "group", "by_hand", "invitation", "token", "smokes")),
        *(envelope(**{name: [CANARY]}) for name in ("id", "digest", "count", "reports", "group", "by_hand", "invitation", "token")),
        envelope(reports=base64.urlsafe_b64encode(CANARY.encode()).decode()), envelope(group={CANARY: CANARY}),
    )),
    *((FORM, body) for body in (
        f"smokes={CANARY}", f"{CANARY}=1", CANARY, f"mark-1={CANARY}&group=North", f"mark-1=yes&group={CANARY}", f"csrf_token={CANARY}",
        f"password={CANARY}&user=ada", f"mark-1=yes&group=North&secret={CANARY}",
        f"user={CANARY}&password=x", f"mark-1=yes&group=North&invitation={CANARY}", f"code={CANARY}",
    )),
    ("text/plain", CANARY), ("text/csv", f"smokes\n{CANARY}\n"), ("", CANARY),
    (f"multipart/form-data; boundary={CANARY}", f'--{CANARY}\r\nContent-Disposition: form-data; name="mark-1"\r\n\r\nyes\r\n--{CANARY}--'),
    ("multipart/form-data; boundary=b", f'--b\r\nContent-Disposition: form-data; name="f"; filename="{CANARY}"\r\n\r\n{CANARY}\r\n--b--'),
]  # fmt: skip
HEADS: list[dict[str, str]] = [
    {"Authorization": f"Bearer {CANARY}"},
    {"Authorization": "Basic " + base64.b64encode(f"{CANARY}:{CANARY}".encode()).decode()},
    {"Authorization": f"Basic {CANARY}"},
    {"Authorization": f'Digest username="{CANARY}"'},
    {"Authorization": CANARY},
    {"Cookie": f"session={CANARY}; device={CANARY}; {CANARY}=1"},
    *({name: CANARY} for name in ("Accept", "Accept-Language", "Content-Encoding", "Content-Type", "Host", "If-None-Match", "Range")),
    *({name: f"https://{CANARY}/?{CANARY}"} for name in ("Origin", "Referer")),
    *({name: CANARY} for name in ("Sec-Fetch-Site", "User-Agent", "X-Forwarded-For", "X-Forwarded-Host", f"X-{CANARY}", "Expect")),
    {"Content-Type": f"application/json; charset={CANARY}"},
    {"Host": f"{CANARY}.example:80", "Origin": f"http://{CANARY}.example:80"},
]
QUERIES = [f"smokes={CANARY}", CANARY, f"lang={CANARY}", f"group={CANARY}&part={CANARY}&compare={CANARY}", f"next=/manage/{CANARY}"]
RAW = [
    f"{CANARY} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    f"POST /login HTTP/{CANARY}\r\nHost: x\r\n\r\n{CANARY}",
    f"POST /login HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {CANARY}\r\n\r\n{CANARY}",
    f"POST /login HTTP/1.1\r\nHost: x\r\n{CANARY}\r\n\r\n",
    f"POST /login HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: {CANARY}\r\n\r\n{CANARY}",
    f"POST /login HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: {'x' * 200_000}{CANARY}\r\n\r\n",
    f"POST /api/v1/surveys/open/submissions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n{CANARY}\r\n",
]
"""What no HTTP client sends."""

ECHOES = {("/login", "user"), ("/by-hand", "invitation"), ("/withdraw", "code")}


@dataclass(frozen=True)
class Hostile:
    """One request; `field` is the form's field that holds the canary, where one alone does."""

    method: str
    url: str
    headers: dict[str, str]
    body: str = ""
    field: str = ""

    @property
    def shown_again(self) -> bool:
        """Whether its reply may show what it sent."""
        path = self.url.partition("?")[0]
        led_back = (path.startswith("/manage/") and CANARY in path) or f"next=/manage/{CANARY}" in self.url
        return led_back or any(self.url.endswith(end) and self.field == field for end, field in ECHOES)


def hostile(app: Flask) -> Iterator[Hostile]:
    """The canary in every place of a request, for all routes and for addresses that are none; where no body is taken, in some bodies.

    Each header by every second of a route's addresses is sent with a POST, else with a GET.
    """
    known = dict(urls(app))
    for number, url in enumerate(sorted({*known, f"/{CANARY}", f"/api/v1/{CANARY}", f"/s/open/{CANARY}/{CANARY}"})):
        for kind, body in BODIES if known.get(url) else BODIES[::9]:
            field = body.split(f"={CANARY}")[0].split("&")[-1] if kind == FORM else ""
            yield Hostile("POST", url, {"Content-Type": kind}, body, field)
        for query in QUERIES:
            yield Hostile("POST", f"{url}?{query}", {"Content-Type": JSON}, envelope())
        for place, head in enumerate(HEADS):
            if (number + place) % 2:
                yield Hostile("POST", url, {"Content-Type": JSON, **head}, envelope(id=CANARY))
            else:
                yield Hostile("GET", url, head)
        yield Hostile("PUT", f"{url}?{CANARY}", {}, CANARY)


def urls(app: Flask) -> Iterator[tuple[str, bool]]:
    """Every URL of the map, with names that there are, and with the canary for a name; and whether it takes a body by any route."""
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            for survey in ("open", "invited", CANARY):
                values = {"survey_id": survey, "name": CANARY if survey == CANARY else "base.css", "kind": "json"}
                url = app.url_for(rule.endpoint, **{name: values.get(name, CANARY) for name in rule.arguments})
                yield url, any("POST" in (other.methods or ()) for other in app.url_map.iter_rules() if other.rule == rule.rule)


def has_it(content: bytes) -> bool:
    return any(spelling in content for spelling in spellings(CANARY))


def holding(folder: Path) -> list[str]:
    """The files of a folder that hold the canary in any spelling, by name."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and has_it(path.read_bytes()))


Send = Callable[[Hostile], tuple[int, str, bytes]]


def repeated(requests: Sequence[Hostile], send: Send, at_once: int = 1) -> list[str]:
    """The requests whose replies told what they had no need to tell, or were about a fault of the server's."""
    found = []
    with ThreadPoolExecutor(at_once) as pool:
        replies = list(pool.map(send, requests))
    for one, (status, head, body) in zip(requests, replies, strict=True):
        if status >= 500 or (not one.shown_again and has_it(head.encode() + b"\n" + body)):
            found.append(f"{status} {one.method} {one.url} {one.headers} {one.body[:60]!r}")
    return found


@pytest.fixture
def server(make_server: Callable[[], ServerProcess], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ServerProcess:
    """A running server, whose temporary files lie in its own folder too."""
    server = make_server()
    (server.folder / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(server.folder / "tmp"))
    server.publish(OPEN, INVITED)
    server.start()
    return server


@pytest.mark.slow
def test_no_reply_no_log_and_no_file_repeats_what_a_request_has_no_business_to_carry(server: ServerProcess, app: Flask) -> None:
    with httpx.Client(base_url=server.url, timeout=60, headers={"Accept-Encoding": "identity", "User-Agent": "x"}) as http:

        def send(one: Hostile) -> tuple[int, str, bytes]:
            def asked() -> httpx.Response:
                return http.request(one.method, one.url, headers=one.headers, content=one.body.encode())

            try:
                reply = asked()
            except httpx.RemoteProtocolError:  # the server had just ended a connection that nobody used; whatever ends it twice is a fault
                reply = asked()
            return reply.status_code, str(reply.headers.raw), reply.content

        requests, url = list(hostile(app)), "/api/v1/surveys/open/submissions"
        found = repeated(requests, send, at_once=8)
        found += [raw for raw in RAW if has_it(Raw(server, raw.encode()).all())]
        keyed = {"Authorization": f"Bearer {server.key}", "Content-Type": JSON}
        found += repeated([Hostile("POST", url, keyed, body) for _, body in BODIES], send)
    print(len(requests) + len(RAW) + len(BODIES), "requests")
    assert found == []
    assert holding(server.folder) == []
    store = open_store(server.db)
    store.surveys.set_open("open", False)  # counts all that waits
    kept = recount_of(store, "open").n
    store.close()
    server.stop()
    assert holding(server.folder) == []
    assert kept > 0, "some of the requests were whole and were kept, so that there was something to store"
    assert "Traceback" not in server.log.read_text()


# Controls.


@pytest.mark.slow
def test_an_error_page_that_quotes_is_noticed(app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.surveys.publish(OPEN)
    store.surveys.publish(INVITED)
    told = errors.reply
    monkeypatch.setattr(errors, "reply", lambda status, rule, message: told(status, rule, f"{message}: got {request.get_data()!r}"))
    client = app.test_client()

    def send(one: Hostile) -> tuple[int, str, bytes]:
        headers = {"Host": "localhost", **one.headers}
        reply = client.open(one.url, method=one.method, headers=headers, data=one.body)
        return reply.status_code, str(list(reply.headers)), reply.data

    requests = [one for one in hostile(app) if CANARY in one.body and len(one.body) < 8192][::10]  # a larger one is not read
    assert len(repeated(requests, send)) > len(requests) / 6  # others have words of their own


@pytest.mark.parametrize("where", ["log", "database", "temporary file"])
def test_a_server_that_writes_what_it_was_sent_is_noticed(app: Flask, store: Store, tmp_path: Path, where: str) -> None:
    log = logging.FileHandler(tmp_path / "server.log")

    @app.before_request
    def keep() -> None:
        sent = request.full_path
        if where == "log":
            log.emit(app.logger.makeRecord("server", logging.WARNING, __file__, 0, "a request for %s", (sent,), None))
        elif where == "database":
            store.database.writer.run(lambda c: c.execute("CREATE TABLE seen AS SELECT ? AS sent", [sent.encode("utf-16-le")]) and None)
        else:
            with tempfile.NamedTemporaryFile(dir=tmp_path, delete=False) as file:
                file.write(base64.b64encode(sent.encode()))

    app.test_client().get(f"/healthz?{CANARY}")
    log.close()
    assert len(holding(tmp_path)) >= 1
