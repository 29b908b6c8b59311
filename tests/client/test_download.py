"""A bundle from a server of any kind: bounded in bytes and in time, checked, and all or nothing."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from deniable.delivery import transport
from deniable.errors import DeliveryError, RejectedError
from deniable.sdk.client import SurveyClient
from deniable.survey import Survey

SURVEY = Survey.from_dict(
    {"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": 1, "questions": [{"id": "q", "text": "?", "type": "yes_no"}]}
)
OTHER = Survey.from_dict({**SURVEY.to_dict(), "title": "Another"})
MEMBERS = ("README.md", "SHA256SUMS", "rows.csv", "codebook.csv", "estimates.csv")


def bundle(definition: bytes = SURVEY.definition, names: tuple[str, ...] = MEMBERS) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("survey.json", definition)
        for name in names:
            archive.writestr(name, "x")
    return file.getvalue()


Write = Callable[[Callable[[bytes], Any]], None]


@contextmanager
def serving(write: Write) -> Iterator[str]:
    """A server that has the survey, and whose bundle is what `write` sends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):  # the client is gone
                self.wfile.write(SURVEY.definition) if "bundle" not in self.path else write(self.wfile.write)

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def fetch(tmp_path: Path, write: Write, **options: Any) -> Path:
    target = tmp_path / "b.zip"
    with serving(write) as url, SurveyClient(url, auth=("ada", "x"), retries=0, outbox=tmp_path / "outbox") as client:
        client.bundle("s", target, **options)
    return target


def test_the_bundle_of_the_survey_is_kept(tmp_path: Path) -> None:
    made = bundle()
    assert fetch(tmp_path, lambda send: send(made)).read_bytes() == made


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x" * 1000,
        bundle()[:-30],
        bundle(OTHER.definition),
        bundle(names=MEMBERS[1:]),
        bundle(names=(*MEMBERS, "../outside")),
        bundle(names=(*MEMBERS, "/etc/outside")),
        bundle(b"x" * (1 << 21)),
    ],
    ids=["nothing", "no zip", "cut off", "another survey", "a file is missing", "above", "absolute", "a large definition"],
)
def test_what_is_no_bundle_of_the_survey_is_refused_and_what_was_there_stays(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "b.zip").write_text("before")
    with pytest.raises(DeliveryError, match="answered with no bundle of survey s"):
        fetch(tmp_path, lambda send: send(content))
    assert (tmp_path / "b.zip").read_text() == "before"
    assert [file.name for file in tmp_path.iterdir() if "outbox" not in file.name] == ["b.zip"]


@pytest.mark.parametrize("options", [{}, {"only": "rows.csv"}])
def test_more_bytes_than_are_taken_end_the_download(tmp_path: Path, options: dict[str, str]) -> None:
    sent = []

    def endless(send: Callable[[bytes], Any]) -> None:
        while True:
            sent.append(send(b"x" * 65536))

    with pytest.raises(RejectedError, match="answered with more than 1,000,000 bytes"):
        fetch(tmp_path, endless, most_bytes=1_000_000, **options)
    assert [file for file in tmp_path.iterdir() if "outbox" not in file.name] == []


@pytest.mark.parametrize("kind", ["file", "reply"])
def test_a_server_that_sends_byte_by_byte_is_given_up(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    clock = iter(range(0, 10**6, 20))
    monkeypatch.setattr(transport, "monotonic", lambda: float(next(clock)))
    over = threading.Event()

    def slow(send: Callable[[bytes], Any]) -> None:
        while not over.wait(0.01):
            send(b"x")

    try:
        with serving(slow) as url:
            one = transport.Transport(url, 30.0, 0)
            ask = partial(one.save, "/bundle", {}, None, io.BytesIO()) if kind == "file" else partial(one.get, "/bundle/slow")
            with pytest.raises(DeliveryError, match="ReadTimeout"):
                ask()
            one.close()
            over.set()
    finally:
        over.set()
