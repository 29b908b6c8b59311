"""What commands print for programs: the same things as for people, as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable_server.access import api_keys
from deniable_server.api import webhooks
from deniable_server.identity.passwords import set_password
from deniable_server.operate.cli import main
from deniable_server.store.protocol import Store

QUESTION = {"id": "q", "text": "?", "type": "yes_no"}
STAFF = {
    "deniable": 1,
    "id": "staff",
    "title": "Für alle",
    "about": "A.",
    "epsilon": "ln 3",
    "batch": 1,
    "accept_small_batches": True,
    "access": "invited",
    "questions": [QUESTION],
}
Run = Callable[..., Any]


@pytest.fixture
def run(store: Store, tmp_path: Path) -> Run:
    """Runs a command with --json on a server that has one of everything; returns what it printed, read again."""
    staff = Survey.from_dict(STAFF)
    store.surveys.publish(staff)
    set_password(store.accounts, "ada", "correct horse battery")
    store.people.set_operator("ada", True)
    api_keys.make(store, "lab", ["submit", "results"])
    webhooks.make(store, "staff", "https://example.org/in", ["survey.closed"])
    store.submissions.add("study", submission(store.surveys.published("study").survey, 40))

    def run(*words: str, as_json: bool = True) -> Any:
        done = CliRunner().invoke(main, [*words, "--db", str(tmp_path / "deniable.db"), *(["--json"] if as_json else [])])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout) if as_json else done.stdout

    return run


def test_surveys_are_listed_with_their_counts(run: Run) -> None:
    staff, study = run("list")
    assert {**staff, "digest": "", "published_on": ""} == {
        "id": "staff",
        "title": "Für alle",
        "state": "open",
        "published_on": "",
        "digest": "",
        "epsilon": pytest.approx(1.0986122886681098),
        "records": 0,
        "by_hand": 0,
        "waiting": 0,
        "codes_made": 0,
        "codes_spent": 0,
    }
    assert (study["records"], study["codes_made"]) == (40, None)
    assert run("list", as_json=False).startswith("staff\topen\t0 records, 0 of 0 invitations spent\tFür alle\nstudy\topen\t40 records")


def test_accounts_keys_and_webhooks_are_listed_without_their_secrets(run: Run) -> None:
    assert run("user", "list") == [{"name": "ada", "operator": True, "disabled": False}]
    (key,) = run("key", "list")
    assert (key.pop("made_on")[:2], key) == ("20", {"name": "lab", "scopes": ["submit", "results"], "survey": None})
    (webhook,) = run("webhook", "list")
    assert webhook.keys() == {"id", "survey", "url", "events", "made_on", "failing_since"}


def test_settings_are_printed_and_changed(run: Run) -> None:
    assert run("settings", "staff", "--points", "2.5", "--close-on", "2999-01-31") == {
        "points": 2.5,
        "expected": None,
        "least": 1,
        "close_on": "2999-01-31",
        "close_at": None,
        "archived": False,
        "delete_on": None,
        "deleted_on": None,
        "opens_at": None,
        "closes_at": None,
        "zone": "UTC",
    }
    changed = run("settings", "study", "--opens-at", "2999-03-01 09:00", "--closes-at", "2999-07-01 18:30", "--zone", "Europe/Berlin")
    assert (changed["opens_at"], changed["closes_at"], changed["zone"]) == ("2999-03-01T08:00Z", "2999-07-01T16:30Z", "Europe/Berlin")


def test_codes_come_with_their_links(run: Run) -> None:
    made = run("invite", "staff", "--count", "2", "--public-url", "https://survey.example.org")
    assert len({one["code"] for one in made}) == 2
    assert all(one["link"].startswith("https://survey.example.org/s/staff#") for one in made)


def test_publishing_says_what_was_published(run: Run, tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(json.dumps({**STAFF, "id": "new"}))
    first, second = (run("publish", str(tmp_path / "new.yaml"), "--yes") for _ in range(2))
    assert (first["id"], first["new"], second["new"]) == ("new", True, False)
    assert re.fullmatch("[0-9a-f]{64}", first["digest"])
    assert first["link"] == f"/s/new#digest={first['digest']}"


def test_doctor_says_how_each_check_ended(run: Run) -> None:
    checks = {check["check"]: check for check in run("doctor")}
    assert checks["the database"] == {"check": "the database", "state": "ok", "faults": [], "reason": None}
    assert checks["the backup (--backup FILE)"]["state"] == "not looked at"


def test_every_command_that_prints_what_there_is_prints_json_too() -> None:
    def walk(command: click.Command, name: str) -> list[str]:
        if isinstance(command, click.Group):
            return [found for word, inner in command.commands.items() for found in walk(inner, f"{name} {word}".strip())]
        takes = any("--json" in option.opts for option in command.params)
        return [name] if not takes and (name.split()[-1] in ("list", "show", "settings", "results", "doctor", "invite", "publish")) else []

    assert walk(main, "") == ["user invite"]  # which prints a link, and nothing else
