"""What the server writes about itself has nothing of anybody: whatever fails, and whatever the error says."""

from __future__ import annotations

import io
import json
import logging
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import Flask, request
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import PROGRAM, ServerProcess

from deniable.survey import Survey
from deniable_server.operate import logs
from deniable_server.store.protocol import Store

KANARY = re.compile("kanary|192[.]0[.]2|/s/|/api/|smokes|study")
MINUTE, DAY = r"\d{4}-\d\d-\d\dT\d\d:\d\dZ", r"\d{4}-\d\d-\d\d"


def bare(text: str) -> str:
    """A text without the names of our own files."""
    return re.sub(r'File \\?"[^"]*"', "", text)


@pytest.fixture
def written() -> Iterator[Callable[[str], io.StringIO]]:
    """Begins to log in a form; gives what is written. All is as before when the test is over."""
    root, own = logging.getLogger(), logging.getLogger(logs.OWN)
    before = root.handlers[:], root.level, own.level, sys.excepthook, threading.excepthook, sys.unraisablehook

    def begin(form: str) -> io.StringIO:
        stream = io.StringIO()
        logs.begin(form, stream)
        return stream

    yield begin
    logging.captureWarnings(False)
    handlers, level, own_level, sys.excepthook, threading.excepthook, sys.unraisablehook = before
    root.handlers[:], root.level = handlers, level
    own.setLevel(own_level)


def fail(*_: object, **__: object) -> None:
    """As carelessly as anything can: the error quotes all that came, and so does the one that it came from."""
    came = f"{request.url} {request.headers} {request.get_data()!r} {request.environ}"
    try:
        raise KeyError(came)
    except KeyError as error:
        raise RuntimeError(f"kanary: {came}") from error


def attack(app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests of every kind that fail, with something of somebody in every place."""
    surveys, submissions = store.surveys, store.submissions
    for shelf, name in ((submissions, "add"), (submissions, "withdraw"), (surveys, "published"), (surveys, "compiled")):
        monkeypatch.setattr(shelf, name, fail)
    client = app.test_client()
    told = {"User-Agent": "kanary", "Referer": "https://kanary.test", "X-Forwarded-For": "192.0.2.7", "Authorization": "Bearer dk_kanary"}
    for path in ("/s/study?ref=kanary", "/s/kanary", "/s/study/definition", "/s/study/by-hand", "/api/v1/surveys/study"):
        assert client.get(path, headers=told, environ_overrides={"REMOTE_ADDR": "192.0.2.7"}).status_code == 500, path
    for path in ("submissions", "withdrawals", "invitations/check"):
        body = {"id": "kanary", "code": "kanary", "reports": "kanary"}
        reply = client.post(f"/api/v1/surveys/study/{path}", json=body, headers={"User-Agent": "kanary"})
        assert reply.status_code == 500 or path != "submissions", "a submission must get as far as the store"
    assert client.post("/s/study/by-hand", data={"mark-1": "kanary"}).status_code == 500


@pytest.mark.parametrize("form", logs.FORMS)
def test_no_line_of_a_request_that_fails_has_anything_of_it(
    form: str, app: Flask, store: Store, written: Callable[[str], io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = written(form)
    attack(app, store, monkeypatch)
    text = stream.getvalue()
    assert KANARY.findall(bare(text)) == []
    assert text.count("RuntimeError") >= 6
    assert text.count("KeyError") >= 6
    if form == "text":
        begun = [line for line in text.splitlines() if " ERROR " in line]
        assert all(re.fullmatch(rf"{DAY} ERROR error [0-9a-f]{{8}} in [a-z_.]+", line) for line in begun)
        assert text.count("Traceback (most recent call last):") == 2 * len(begun)
    else:
        for line in text.splitlines():
            told = json.loads(line)
            assert set(told) == {"time", "level", "event", "error"}
            assert re.fullmatch(DAY, told["time"])
            assert re.fullmatch(r"error [0-9a-f]{8} in [a-z_.]+", told["event"])


def test_a_log_with_the_messages_of_errors_is_noticed(
    app: Flask, store: Store, written: Callable[[str], io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "_traceback_lines", lambda record: [logging.Formatter().formatException(record.exc_info)])
    stream = written("json")
    attack(app, store, monkeypatch)
    assert KANARY.search(stream.getvalue())


@pytest.mark.parametrize("form", logs.FORMS)
def test_a_line_that_cannot_be_made_is_not_told_in_other_words(
    form: str,
    app: Flask,
    store: Store,
    written: Callable[[str], io.StringIO],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(logs, "_traceback_lines", lambda record: {}["kanary"])
    stream = written(form)
    attack(app, store, monkeypatch)
    assert "a line of the log could not be formatted" in stream.getvalue()
    assert KANARY.findall(bare(stream.getvalue())) == []
    assert capfd.readouterr().err == ""


def test_errors_that_lead_to_one_another_are_told_once(written: Callable[[str], io.StringIO]) -> None:
    first, second = RuntimeError("kanary"), KeyError("kanary")
    first.__context__, second.__context__ = second, first
    stream = written("text")
    logging.getLogger(logs.OWN).error("failed", exc_info=first)
    assert stream.getvalue().count("RuntimeError") == stream.getvalue().count("KeyError") == 1


@pytest.mark.parametrize("form", logs.FORMS)
def test_a_line_has_the_minute_and_what_others_say_is_not_repeated(form: str, written: Callable[[str], io.StringIO]) -> None:
    stream = written(form)
    logging.getLogger(logs.OWN).warning("%s is closed:\n its last day is over", "health")
    logging.getLogger("asyncio").error("Task of 192.0.2.7 failed: %s", "kanary")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn("kanary", stacklevel=1)
    thread = threading.Thread(target=lambda: {}["kanary"])  # type: ignore[index]
    thread.start()
    thread.join()
    text = stream.getvalue()
    assert KANARY.findall(bare(text)) == []
    if form == "json":
        lines = [json.loads(line) for line in text.splitlines()]
        assert [(line["level"], line["event"]) for line in lines] == [
            ("warning", "health is closed: its last day is over"),
            ("error", "a message of asyncio"),
            ("warning", "a message of py.warnings"),
            ("error", "a thread failed"),
        ]
        assert [bool(re.fullmatch(MINUTE, line["time"])) for line in lines] == [True, False, False, True]
        assert abs((datetime.now(UTC) - datetime.strptime(lines[0]["time"], "%Y-%m-%dT%H:%M%z")).total_seconds()) < 120
        assert lines[3]["error"][-1] == "KeyError"
    else:
        assert re.match(rf"{MINUTE} WARNING health is closed: its last day is over\n{DAY} ERROR a message of asyncio\n", text)


def test_the_lines_on_the_page_are_such_lines(
    app: Flask, store: Store, written: Callable[[str], io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "guide" / "operations.md").read_text(encoding="utf-8")
    shown = [json.loads(line) for line in re.findall(r'^{"time".*}$', page, re.MULTILINE)]
    stream = written("json")
    logging.getLogger(logs.OWN).warning("affairs is closed: its last day is over")
    attack(app, store, monkeypatch)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]

    def form(line: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(sorted(line)), line["level"], re.sub(r"[0-9a-f]{8}", "#", line["event"]), len(line["time"])

    assert len(shown) == 2
    assert {form(line) for line in shown} <= {form(line) for line in lines}


def test_every_line_of_a_real_server_is_json_from_its_start_to_its_end(make_server: Callable[..., ServerProcess], survey: Survey) -> None:
    server = make_server("fails")
    server.publish(survey)
    server.start("--log", "json")
    body = b'{"kanary": "kanary"}'
    for path in ("submissions", "submissions?kanary", "withdrawals?kanary"):
        url = f"{server.url}/api/v1/surveys/study/{path}"
        reply = httpx.post(url, content=body, headers={"Content-Type": "application/json", "User-Agent": "kanary"}, timeout=PATIENCE)
        assert reply.status_code == 500
    again = ["serve", "--db", str(server.db), "--port", str(server.port), "--log", "json"]
    with server.log.open("ab") as log:
        assert subprocess.run([PROGRAM, *again], stdout=log, stderr=log, timeout=PATIENCE).returncode == 1
    server.stop()
    text = server.log.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert not KANARY.search(bare(text))
    assert [re.sub(r"\b[0-9a-f]{8}\b|[0-9.]*:[0-9]+", "#", line["event"]) for line in lines] == [
        "Serving on http://#",
        "error # in api.submit",
        "error # in api.submit",
        "error # in api.withdraw",
        f"{server.db} is served already, by process {lines[4]['event'].split()[6][:-1]}; one database has one server",
    ]
    assert [line["level"] for line in lines] == ["info", "error", "error", "error", "critical"]
