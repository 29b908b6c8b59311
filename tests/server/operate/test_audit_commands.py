"""`deniable-server audit`, the page of it, and who is named in it."""

from __future__ import annotations

import html
import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient

from deniable_server.config import make_key
from deniable_server.operate.cli import main
from deniable_server.store.protocol import Store

PASSWORD = "correct horse battery"


def run(tmp_path: Path, *words: str) -> Result:
    make_key(tmp_path / "deniable.db.key")
    return CliRunner().invoke(main, [*words, "--db", str(tmp_path / "deniable.db")], env={"PW": PASSWORD})


def token(client: FlaskClient) -> str:
    return html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', client.get("/manage").text)[0])


@pytest.mark.slow
def test_what_is_done_on_a_page_has_its_researchers_name_and_what_is_done_here_has_none(
    app: Flask, logged_in: Callable[..., FlaskClient], store: Store, tmp_path: Path
) -> None:
    ada = logged_in(app)
    ada.post("/manage/surveys/study/close", data={"csrf_token": token(ada)})
    run(tmp_path, "close", "study", "--reopen")
    lines = [line.split("\t") for line in run(tmp_path, "audit", "show").output.splitlines()]
    assert [line[2:5] for line in lines] == [
        ["-", "survey.publish", "study"],
        ["-", "account.make", "ada"],
        ["-", "account.operator", "ada"],
        ["ada", "account.log-in", "ada"],
        ["ada", "survey.close", "study"],
        ["-", "survey.reopen", "study"],
    ]
    assert [line[0] for line in lines] == list("123456")
    newest = run(tmp_path, "audit", "show", "--most", "2", "--json").output.splitlines()
    assert [json.loads(line)["act"] for line in newest] == ["survey.close", "survey.reopen"]


def test_a_request_of_a_stranger_is_not_taken_for_the_researcher_before(
    app: Flask, logged_in: Callable[..., FlaskClient], store: Store
) -> None:
    ada, stranger = logged_in(app), app.test_client()
    assert ada.get("/manage").status_code == 200
    csrf = html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', stranger.get("/login").text)[0])
    store.accounts.set_password("eve", "hash")
    assert store.audit.entries(most=1)[0].did.who is None
    stranger.post("/login", data={"user": "ada", "password": PASSWORD, "csrf_token": csrf})
    assert store.audit.entries(most=1)[0].did.who == "ada"


def test_verify_prints_the_head_and_fails_for_a_log_that_was_changed(app: Flask, tmp_path: Path) -> None:
    whole = run(tmp_path, "audit", "verify")
    assert whole.exit_code == 0
    count, head = re.fullmatch(r"(\d+) entries; head ([0-9a-f]{64})\n", whole.output).groups()
    assert count == "3"
    run(tmp_path, "user", "disable", "ada")  # refused: nothing is added
    run(tmp_path, "user", "operator", "ada")
    assert run(tmp_path, "audit", "verify", "--head", head).exit_code == 0
    assert run(tmp_path, "audit", "verify", "--head", "1" * 64).exit_code == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET entry = replace(entry, 'account.make', 'account.mole') WHERE number = 2",
        "UPDATE audit SET hash = '11' WHERE number = 2",
        "DELETE FROM audit WHERE number = 2",
        "DELETE FROM audit WHERE number = 3",
        "DELETE FROM audit",
        "DELETE FROM audit_head",
        "UPDATE audit SET number = 5 - number WHERE number > 1",
        "INSERT INTO audit SELECT 4, entry, hash FROM audit WHERE number = 3",
    ],
)
def test_what_somebody_does_to_the_table_is_found(app: Flask, tmp_path: Path, statement: str) -> None:
    assert run(tmp_path, "audit", "verify").exit_code == 0
    with closing(sqlite3.connect(tmp_path / "deniable.db")) as db, db:
        assert db.execute(statement.replace("5 - number", "-(5 - number)")).rowcount
        db.execute("UPDATE audit SET number = -number WHERE number < 0")
    found = run(tmp_path, "audit", "verify")
    assert (found.exit_code, "FAULT" in found.output) == (1, True)


def test_an_entry_that_is_none_is_told_and_not_shown(app: Flask, logged_in: Callable[..., FlaskClient], tmp_path: Path) -> None:
    ada = logged_in(app)
    with closing(sqlite3.connect(tmp_path / "deniable.db")) as db, db:
        db.execute("UPDATE audit SET entry = '[1]' WHERE number = 2")
    assert ada.get("/manage/audit").status_code == 503
    assert "audit verify" in run(tmp_path, "audit", "show").output
    assert "entry 2 cannot be read" in run(tmp_path, "audit", "verify").output


def test_the_page_has_a_hundred_entries_and_the_way_to_those_before(
    app: Flask, logged_in: Callable[..., FlaskClient], store: Store
) -> None:
    ada = logged_in(app)
    for number in range(120):
        store.accounts.set_password(f"<b>{number}", "hash")
    first = ada.get("/manage/audit").text
    assert (first.count('class="entry"'), "<b>" in first, "&lt;b&gt;119" in first) == (100, False, True)
    before = re.findall(r"/manage/audit\?before=(\d+)", first)
    second = ada.get(f"/manage/audit?before={before[0]}").text
    assert second.count('class="entry"') == 24
    assert "Earlier" not in second
    for odd in ("0", "-1", "x", "9" * 40):
        assert ada.get(f"/manage/audit?before={odd}").status_code == 200
