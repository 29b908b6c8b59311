"""What is on the server's disk says nothing about who answered what, from where, or in which order."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from scipy.stats import spearmanr
from tests.kit.issuer import exchanged
from tests.kit.patience import PATIENCE
from tests.kit.servers.release import release_people

from deniable.device.entropy import os_words
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.submission import Submission
from deniable_server.store import open_store

pytestmark = pytest.mark.slow

Make = Callable[..., Submission]
JSON = {"Content-Type": "application/json"}
ARRIVALS = 2000
LEAST_CORRELATION = 0.08


def first_and_last(content: bytes, ids: list[bytes]) -> tuple[list[int], list[int]]:
    """Where each id, all of one length, stands first and last; -1 where nowhere. One look for all of them: one for each takes minutes."""
    places: dict[bytes, list[int]] = {id_: [] for id_ in ids}
    heads, length = np.array([id_[:8] for id_ in ids], "V8").view("<u8"), len(ids[0])
    for offset in range(8):
        words = np.frombuffer(content, "<u8", max(0, len(content) - offset) // 8, offset) if len(content) >= offset else heads[:0]
        for at in (8 * np.flatnonzero(np.isin(words, heads)) + offset).tolist():
            places.get(content[at : at + length], []).append(at)
    return [min(places[id_], default=-1) for id_ in ids], [max(places[id_], default=-1) for id_ in ids]


def order_in_files(folder: Path, ids: list[bytes]) -> dict[str, float]:
    """For each file: the rank correlation of the place where each id stands with the order of arrival."""
    found = {}
    for path in sorted(folder.iterdir()):
        for which, places in zip(("first", "last"), first_and_last(path.read_bytes(), ids), strict=True):
            seen = [(arrival, place) for arrival, place in enumerate(places) if place >= 0]
            if len(seen) > 10:
                found[f"{path.name}, {which}"] = abs(float(spearmanr(*zip(*seen, strict=True)).statistic))
    return found


def wait_until_idle(db: Path) -> None:
    """Until the writer has written the file anew and emptied the write-ahead log."""
    with closing(sqlite3.connect(db)) as connection:
        while connection.execute("PRAGMA user_version").fetchone() != (0,):
            time.sleep(0.01)
        while any(path.stat().st_size for path in db.parent.glob("*-wal")):
            time.sleep(0.01)


def release_from_outside(db: Path) -> None:
    """Releases records beside the running server."""
    with closing(open_store(db)) as store:
        assert release_people(store)


def test_storage_order_tells_nothing_about_arrival(make_server: Callable[[], Any], survey: Survey, submissions: Make) -> None:
    server = make_server()
    survey = Survey.from_dict({**survey.to_dict(), "batch": 10})
    server.publish(survey)
    server.start()
    ids = []
    with httpx.Client(base_url=server.url, headers=JSON, timeout=PATIENCE) as http:
        for _ in range(ARRIVALS):
            submission = submissions(to=survey)
            http.post("/api/v1/surveys/study/submissions", content=submission.to_json()).raise_for_status()
            ids.append(submission.id)
    release_from_outside(server.db)
    wait_until_idle(server.db)
    running = order_in_files(server.db.parent, ids)
    server.stop()
    stopped = order_in_files(server.db.parent, ids)
    with sqlite3.connect(server.db) as connection:
        stored = [bytes(row[0]) for row in connection.execute("SELECT id FROM submissions")]
    connection.close()
    arrival = {id_: i for i, id_ in enumerate(ids)}
    rows = abs(float(spearmanr(range(len(stored)), [arrival[id_] for id_ in stored]).statistic))
    print(f"running {running}, stopped {stopped}, rows {rows:.3f}")
    assert len(stored) == ARRIVALS - 10, "the last ten wait"
    assert running
    assert stopped
    assert max(*running.values(), *stopped.values(), rows) <= LEAST_CORRELATION


def test_not_even_the_places_inside_a_page_show_an_order_once_the_server_has_stopped(
    make_server: Callable[[], Any], survey: Survey, submissions: Make
) -> None:
    server = make_server()
    server.publish(survey)
    server.start()
    ids = []
    for _ in range(100):
        submission = submissions()
        url = f"{server.url}/api/v1/surveys/study/submissions"
        httpx.post(url, content=submission.to_json(), headers=JSON, timeout=PATIENCE).raise_for_status()
        ids.append(submission.id)
    release_from_outside(server.db)
    server.stop()
    content = server.db.read_bytes()
    # cells are written from the end of a page to its beginning, so keys fall as offsets rise
    pages: dict[int, list[tuple[int, bytes]]] = {}
    for id_ in ids:
        for match in re.finditer(re.escape(id_), content):
            pages.setdefault(match.start() // 4096, []).append((match.start(), id_))
    with closing(sqlite3.connect(server.db)) as connection:
        keys = dict(connection.execute("SELECT id, key FROM submissions"))
    assert len(pages) >= 2
    for cells in pages.values():
        found = [id_ for _, id_ in sorted(cells)]
        assert found in (sorted(found, reverse=True), sorted(found, key=keys.__getitem__, reverse=True))


def test_a_table_with_an_autoincrement_key_would_be_found_out(tmp_path: Path) -> None:
    ids = [os_words(4).tobytes() for _ in range(ARRIVALS)]
    folder = tmp_path / "control"
    folder.mkdir()
    connection = sqlite3.connect(folder / "control.db")
    connection.execute("CREATE TABLE submissions (rowid INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB UNIQUE, reports BLOB)")
    connection.executemany("INSERT INTO submissions (id, reports) VALUES (?, x'80')", [[id_] for id_ in ids])
    connection.commit()
    connection.close()
    assert max(order_in_files(folder, ids).values()) > 0.5


def worst_link(folder: Path, hashes: list[bytes], ids: list[bytes]) -> float:
    """The worst rank correlation, over all files, of the place of each invitation with its submission's place or its id, or the arrival."""
    found = [*order_in_files(folder, hashes).values(), *order_in_files(folder, ids).values()]
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        (first, last), (first_id, last_id) = first_and_last(content, hashes), first_and_last(content, ids)
        for invitations, submissions in ((first, first_id), (first, last_id), (last, first_id)):
            seen = [pair for pair in zip(invitations, submissions, ids, strict=True) if min(pair[:2]) >= 0]
            if len(seen) > 10:
                places, others, own = zip(*seen, strict=True)
                rank = {id_: i for i, id_ in enumerate(sorted(own))}
                found += [float(spearmanr(places, second).statistic) for second in (others, [rank[id_] for id_ in own])]
    return max(map(abs, found))


def test_nothing_on_the_disk_leads_from_an_invitation_to_its_submission(make_server: Callable[[], Any], submissions: Make) -> None:
    server = make_server()
    question = {"id": "q", "text": "?", "type": "yes_no", "epsilon": "ln 3"}
    survey = Survey.from_dict(
        {"deniable": 1, "id": "staff", "title": "T", "about": "A.", "access": "invited", "release": "daily", "questions": [question]}
    )
    server.publish(survey)
    made = [access_codes.read(code) for code in server.run("invite", "staff", "--count", str(ARRIVALS)).split()]
    hashes = [access_codes.invitation_hash("staff", code) for code in made]
    server.start()
    ids = []
    with httpx.Client(base_url=server.url, headers=JSON, timeout=PATIENCE) as http, closing(open_store(server.db)) as store:
        survey = store.surveys.published("staff").survey
        for code in made:  # exchanged and used at once, in the same order
            submission = submissions(to=survey, token=exchanged(store.invitations, survey, code))
            http.post("/api/v1/surveys/staff/submissions", content=submission.to_json()).raise_for_status()
            ids.append(submission.id)
    release_from_outside(server.db)
    wait_until_idle(server.db)
    running = worst_link(server.db.parent, hashes, ids)
    server.stop()
    stopped = worst_link(server.db.parent, hashes, ids)
    with closing(sqlite3.connect(server.db)) as connection:
        columns = [row[1] for table in ("invitations", "submissions") for row in connection.execute(f"PRAGMA table_info({table})")]
        assert connection.execute("SELECT count(*), sum(spent) FROM invitations").fetchone() == (ARRIVALS, ARRIVALS - 10)
    print(f"running {running:.3f}, stopped {stopped:.3f}")
    assert columns == ["survey", "hash", "spent", "key", "id", "survey", "label", "mode", "count", "reports"]
    assert max(running, stopped) <= LEAST_CORRELATION


def test_invitations_that_are_written_down_as_they_are_spent_would_be_found_out(tmp_path: Path) -> None:
    hashes, ids = ([os_words(words).tobytes() for _ in range(ARRIVALS)] for words in (8, 4))
    (tmp_path / "control").mkdir()
    with closing(sqlite3.connect(tmp_path / "control" / "control.db")) as connection, connection:
        connection.execute("CREATE TABLE submissions (id BLOB PRIMARY KEY) WITHOUT ROWID")
        connection.execute("CREATE TABLE spent (hash BLOB)")
        for hash_, id_ in sorted(zip(hashes, ids, strict=True), key=lambda pair: pair[1]):  # sorted as a commit's submissions are
            connection.execute("INSERT INTO submissions VALUES (?)", [id_])
            connection.execute("INSERT INTO spent VALUES (?)", [hash_])
    assert worst_link(tmp_path / "control", hashes, ids) > 0.5


CANARIES = ("canary-agent", "canary-referer", "canary-cookie", "203.0.113.77", "127.0.0.77", "canary answer")


def leaks(files: dict[str, bytes], definition: bytes) -> dict[str, list[str]]:
    """Which canaries stand in which file, the public definition taken out."""
    bare = {name: content.replace(definition, b"") for name, content in files.items()}
    found = {name: [c for c in CANARIES if c.encode() in content] for name, content in bare.items()}
    return {name: canaries for name, canaries in found.items() if canaries}


def canary_survey() -> Survey:
    """The options are canaries too: outside the definition, no file may name one."""
    question = {"id": "q", "text": "Which?", "type": "choice", "options": ["canary answer one", "canary answer two"], "epsilon": "ln 3"}
    return Survey.from_dict({"deniable": 1, "id": "canaries", "title": "C", "about": "A test.", "questions": [question]})


HEADERS = {
    "User-Agent": "canary-agent",
    "Referer": "http://canary-referer/",
    "Cookie": "session=canary-cookie",
    "X-Forwarded-For": "203.0.113.77",
    "Forwarded": "for=203.0.113.77",
}


def test_files_logs_and_error_pages_hold_no_answer_address_or_agent(make_server: Callable[[], Any], tmp_path: Path) -> None:
    from deniable import SurveyClient

    server = make_server()
    survey = canary_survey()
    server.publish(survey)
    server.start()
    rows = [{"q": "canary answer one" if i % 3 else "canary answer two"} for i in range(500)]
    with SurveyClient(server.url, outbox=tmp_path / "outbox.db") as client:
        for row in rows:
            client.submit("canaries", row)
    replies = b""
    transport = httpx.HTTPTransport(local_address="127.0.0.77")
    with httpx.Client(base_url=server.url, headers=HEADERS, transport=transport, timeout=PATIENCE) as http:
        url = "/api/v1/surveys/canaries/submissions"
        for body in (b'{"q": "canary answer one"}', b"canary answer", b'{"id": "canary answer", "digest": "", "count": 1, "reports": ""}'):
            replies += http.post(url, content=body, headers=JSON).content
        replies += http.post(url, content=b"canary answer").content
        for path in ("/s/canary answer", "/api/v1/surveys/canary answer", "/canary answer?q=canary answer", "/login"):
            replies += http.get(path).content
        replies += http.post("/login", data={"user": "canary answer"}).content
        for _ in range(20):
            bits = Submission(os_words(4).tobytes(), survey.digest, 1, b"\x80")
            http.post(url, content=bits.to_json(), headers=JSON).raise_for_status()
    names = [p for folder in (server.db.parent, server.folder) for p in folder.iterdir() if p.is_file() and p.suffix != ".json"]
    files = {str(p): p.read_bytes() for p in names} | {"replies": replies}
    assert len(files) >= 5
    assert server.run("list").count("0 records, 520 or more wait for their release") == 1
    assert leaks(files, survey.definition) == {}
    server.stop()
    assert leaks({str(p): p.read_bytes() for p in server.db.parent.iterdir()}, survey.definition) == {}


def test_a_server_that_logged_agents_would_be_found_out(tmp_path: Path) -> None:
    assert leaks({"server.log": b'127.0.0.77 "POST /submit" canary-agent'}, b"definition") == {"server.log": ["canary-agent", "127.0.0.77"]}
