"""A small real HTTP server that keeps the protocol, remembers all it saw, and fails on demand."""

from __future__ import annotations

import base64
import io
import json
import socket
import threading
import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner, Result
from tests.kit.issuer import base64url, issued, sign

from deniable.cli import main
from deniable.survey import Survey
from deniable.wire import blind_rsa
from deniable.wire.access_codes import submission_id
from deniable.wire.record import unpack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable.wire.tokens import modulus_of, token_message

STUDY = """
deniable: 1
id: study
title: A study
about: Who asks, and why.
epsilon: ln 9
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: party, text: Which party?, type: choice, options: [Red, Green, Blue, "1", "2"]}
"""


@dataclass(frozen=True)
class Fault:
    """What happens to one request: `status` instead of the work, or after it (`worked`); status 0 closes the connection without a word."""

    status: int = 0
    worked: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b"{}"


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    port: int = 0  # the client's: requests over one connection have the same


@dataclass
class Server:
    """`seen` has every request; `accepted` the body of every submission by id; `counted` how often each was counted. `results` is
    what is told of any survey, and `records` by group what there is of it."""

    url: str = ""
    key: str = "dk_" + "k" * 43
    definitions: dict[str, bytes] = field(default_factory=dict)
    faults: deque[Fault] = field(default_factory=deque)
    always: Fault | None = None
    seen: list[Seen] = field(default_factory=list)
    accepted: dict[str, bytes] = field(default_factory=dict)
    results: bytes = b"{}"
    records: dict[str | None, bytes] = field(default_factory=dict)
    extra_headers: tuple[tuple[str, str], ...] = ()
    lock: threading.Lock = field(default_factory=threading.Lock)
    exchanged: dict[str, str] = field(default_factory=dict)
    signs_with_another_key: bool = False

    def publish(self, survey: Survey) -> None:
        self.definitions[survey.id] = issued(survey).definition

    @property
    def posts(self) -> list[Seen]:
        return [seen for seen in self.seen if seen.method == "POST"]

    @property
    def counted(self) -> int:
        """Respondents, each submission counted once."""
        return sum(json.loads(body)["count"] for body in self.accepted.values())

    def answer(self, seen: Seen) -> tuple[int, bytes]:
        parts = seen.path.split("?")[0].split("/")
        definition = self.definitions.get(parts[4])
        if definition is None:
            return _error(404, "no such survey")
        if parts[-1] == "results":
            ok = seen.headers.get("authorization") in ("Basic YWRhOnNlY3JldA==", f"Bearer {self.key}")
            return (200, self.results) if ok else _error(401, "name or password is wrong")
        if parts[-1] in ("tally", "reports"):
            return self._collected(parts[-1], seen, _parsed(definition))
        if parts[-1] == "bundle":
            return 200, bundle_of(definition)
        if seen.method == "GET":
            return 200, definition
        if parts[-1] == "withdrawals":
            withdrawn = submission_id(base64.urlsafe_b64decode(json.loads(seen.body)["code"])).hex()
            with self.lock:
                self.accepted.pop(withdrawn, None)
            return 200, b'{"withdrawn": true}'
        if parts[-1] == "tokens":
            return self._exchange(json.loads(seen.body))
        submission = Submission.from_json(seen.body)
        if submission.count > 1 and seen.headers.get("authorization") != f"Bearer {self.key}":
            return _error(401, "count must be 1 without a key with the scope submit")
        survey = _parsed(definition)
        submission.check(survey)
        if submission.token:
            message = token_message(survey.digest, submission.token.nonce)
            assert blind_rsa.verify(modulus_of(survey.issuer), message, submission.token.signature)
        with self.lock:
            if self.accepted.setdefault(submission.id.hex(), seen.body) != seen.body:
                return _error(409, "the id was used with other bytes")
        return 200, json.dumps({"accepted": submission.count}).encode()

    def _exchange(self, asked: dict[str, str]) -> tuple[int, bytes]:
        with self.lock:
            if self.exchanged.setdefault(asked["code"], asked["blinded"]) != asked["blinded"]:
                return 403, b'{"rule": "invitation", "detail": "not known, or used"}'
        signed = sign(base64.urlsafe_b64decode(asked["blinded"] + "=="), by_another_key=self.signs_with_another_key)
        return 200, json.dumps({"signature": base64url(signed)}).encode()

    def _collected(self, what: str, seen: Seen, survey: Survey) -> tuple[int, bytes]:
        wanted = parse_qs(urlsplit(seen.path).query).get("group", [None])[0]
        raw = b"".join(records for group, records in self.records.items() if wanted in (None, group))
        if what == "reports":
            return 200, raw
        tally = Tally.from_bits(unpack(survey, raw, len(raw) // survey.record.bytes))
        described = {"group": wanted, "by_hand": False, "may_wait": 0, "n_by_hand": 0, "n_organisation": 0}
        pairs = base64.b64encode(tally.to_bytes()).decode()
        return 200, json.dumps({**described, "survey": survey.id, "digest": survey.digest, "n": tally.n, "pairs": pairs}).encode()


def bundle_of(
    definition: bytes, names: tuple[str, ...] = ("README.md", "SHA256SUMS", "rows.csv", "codebook.csv", "estimates.csv")
) -> bytes:
    """A zip with the files that every bundle has."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("survey.json", definition)
        for name in names:
            archive.writestr(name, "x")
    return file.getvalue()


@lru_cache
def _parsed(definition: bytes) -> Survey:
    return Survey.from_definition(definition)


def _error(status: int, message: str) -> tuple[int, bytes]:
    return status, json.dumps({"rule": "test", "detail": message}).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # which waits 40 ms with the body of each reply
    state: Server

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        seen = Seen(self.command, self.path, {key.lower(): value for key, value in self.headers.items()}, body, self.client_address[1])
        self.state.seen.append(seen)
        post = self.command == "POST"
        fault = self.state.always or (self.state.faults.popleft() if post and self.state.faults else None)
        if fault is None or fault.worked:
            status, reply = self.state.answer(seen)
            headers: tuple[tuple[str, str], ...] = ()
        if fault is not None:
            status, reply, headers = fault.status, fault.body, fault.headers
        if status == 0:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(status)
        for key, value in (*headers, *self.state.extra_headers, ("Content-Length", str(len(reply)))):
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that was killed; the tests judge by what was seen


@pytest.fixture
def study() -> Survey:
    return Survey.from_text(STUDY)


@contextmanager
def serving(*surveys: Survey) -> Iterator[Server]:
    """The server, listening on this machine only, with these surveys."""
    state = Server()
    for survey in surveys:
        state.publish(survey)
    handler = type("Handler", (_Handler,), {"state": state})
    with _Listener(("127.0.0.1", 0), handler) as listener:
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        state.url = f"http://127.0.0.1:{listener.server_address[1]}"
        try:
            yield state
        finally:
            listener.shutdown()
            thread.join()


@pytest.fixture
def server(study: Survey) -> Iterator[Server]:
    with serving(study) as state:
        yield state


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    return tmp_path / "outbox.sqlite"


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Retries at once; returns the list of the waits that were asked for."""
    waits: list[float] = []
    monkeypatch.setattr("deniable.delivery.transport.sleep", waits.append)
    return waits


@pytest.fixture
def fault() -> type[Fault]:
    return Fault


@pytest.fixture
def submit(server: Server, outbox: Path, no_waiting: list[float], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`deniable submit` for the study, with the server's key."""
    monkeypatch.setenv("DENIABLE_OUTBOX", str(outbox))
    monkeypatch.setenv("DENIABLE_KEY", server.key)

    def submit(*words: object, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, ["submit", f"{server.url}/s/study", *map(str, words)], input=stdin)

    return submit
