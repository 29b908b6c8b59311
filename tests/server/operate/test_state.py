"""One word for a survey's state, wherever a page, a reply or a command names it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.process import PASSWORD

import deniable_server
from deniable_server.api.metrics import Metrics
from deniable_server.operate.cli import main
from deniable_server.operate.restored_access import access_of
from deniable_server.results.progress import checked_progress
from deniable_server.store.protocol import STATES, Store

SOURCES = Path(deniable_server.__file__).parent


def put(store: Store, state: str) -> None:
    store.surveys.set_open("study", state != "closed")
    if state == "paused":
        store.surveys.pause("study", True)


@pytest.mark.parametrize("state", STATES)
def test_every_door_names_the_state_alike(
    app: Flask, store: Store, tmp_path: Path, logged_in: Callable[[Flask], FlaskClient], state: str
) -> None:
    put(store, state)
    ada, basic = logged_in(app), ("ada", PASSWORD)
    listed = CliRunner().invoke(main, ["list", "--json"], env={"DENIABLE_DB": str(tmp_path / "deniable.db")})
    words = {
        "store": store.surveys.published("study").state,
        "API": ada.get("/api/v1/surveys", auth=basic).get_json()["surveys"][0]["state"],
        "command": json.loads(listed.stdout)[0]["state"],
        "page": re.findall(r'class="state (\w+)"', ada.get("/manage").text)[0],
        "progress": checked_progress(store, "study").state,
        "backup": next(line for line in access_of(store) if line.startswith("survey")).split("\t")[2].split(",")[0],
        "metrics": re.findall(r'deniable_surveys\{state="(\w+)"\} 1', Metrics(store).text()),
    }
    assert words == dict.fromkeys(words, state) | {"metrics": [state]}


def test_nothing_but_the_published_survey_words_its_state() -> None:
    wording = re.compile(r'"paused" if .*"open"')
    files = [file for file in SOURCES.rglob("*.py") if wording.search(file.read_text(encoding="utf-8"))]
    assert [str(file.relative_to(SOURCES)) for file in files] == ["store/protocol.py"]
