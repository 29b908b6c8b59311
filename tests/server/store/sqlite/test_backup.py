"""A backup with its key loses nothing; without the key it says nothing about what came last."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from tests.kit.patience import PATIENCE
from tests.kit.servers.tallies import count_of, recount_of

from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.submission import Submission
from deniable_server.config import key_file
from deniable_server.operate.cli import main
from deniable_server.store import open_store
from deniable_server.store.errors import UnavailableError
from deniable_server.store.protocol import Store

Make = Callable[..., Submission]


@pytest.fixture
def panel(store: Store) -> Survey:
    """A published survey by invitation, whose records are counted ten at a time."""
    question = {"id": "q", "text": "?", "type": "yes_no"}
    source = {"deniable": 1, "id": "panel", "title": "T", "about": "A.", "epsilon": "ln 3", "access": "invited", "questions": [question]}
    survey = Survey.from_dict(source)
    store.surveys.publish(survey)
    return survey


def invited(store: Store, count: int) -> list[bytes]:
    made = [os.urandom(15) for _ in range(count)]
    store.invitations.add("panel", [access_codes.invitation_hash("panel", code) for code in made])
    return made


def sealed(path: Path) -> list[bytes]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT sealed FROM intake ORDER BY key")]


def backed_up(store: Store, target: Path) -> bytes:
    store.backup(target)
    return target.read_bytes()


def test_a_backup_and_its_key_give_back_all_that_was_acknowledged(tmp_path: Path, store: Store, panel: Survey, submissions: Make) -> None:
    made = invited(store, 30)
    sent = [submissions(to=panel, invitation=code) for code in made[:27]]
    for submission in sent:
        store.submissions.add("panel", submission)
    store.submissions.withdraw("panel", sent[26].id)
    store.backup(tmp_path / "copy.db")
    shutil.copy(tmp_path / "deniable.db.key", tmp_path / "copy.db.key")
    again = open_store(tmp_path / "copy.db")
    assert (count_of(again, "panel"), again.invitations.count("panel")) == (10, (30, 10))
    assert not any(again.submissions.add("panel", submission) for submission in sent[:26])
    again.surveys.set_open("panel", False)
    assert (count_of(again, "panel"), recount_of(again, "panel").n, again.invitations.count("panel")) == (26, 26, (30, 27))
    again.close()


def test_without_the_key_a_backup_shows_nothing_of_what_waits(tmp_path: Path, store: Store, panel: Survey, submissions: Make) -> None:
    made = invited(store, 29)
    sent = [submissions(to=panel, invitation=code) for code in made]
    before = backed_up(store, tmp_path / "before.db")
    assert [len(blob) for blob in sealed(tmp_path / "before.db")] == [len(blob) for blob in sealed(tmp_path / "deniable.db")]
    for submission in sent[:19]:
        store.submissions.add("panel", submission)
    content = backed_up(store, tmp_path / "waiting.db")
    assert not any(submission.id in content for submission in sent)
    assert store.invitations.count("panel") == (29, 0)
    assert len(content) == len(before)
    differing = [at for at in range(0, len(content), 4096) if content[at : at + 4096] != before[at : at + 4096]]
    store.backup(tmp_path / "unchanged.db")  # what differs between two backups when nothing came between them
    unchanged = (tmp_path / "unchanged.db").read_bytes()
    assert [at for at in range(0, len(content), 4096) if content[at : at + 4096] != unchanged[at : at + 4096]] == differing
    for submission in sent[19:]:
        store.submissions.add("panel", submission)
    content = backed_up(store, tmp_path / "counted.db")
    there = [submission.id in content for submission in sent]
    assert (sum(there), any(there[20:])) == (10, False)  # the control: what is counted is found


def test_two_backups_differ_in_all_that_is_sealed_and_in_nothing_else(
    tmp_path: Path, store: Store, survey: Survey, panel: Survey, submissions: Make
) -> None:
    for name in ("other", "third"):
        store.surveys.publish(Survey.from_dict({**panel.to_dict(), "id": name, "groups": ["North", "South"]}))
    (code,) = invited(store, 1)
    found = []
    for number in range(3):
        store.backup(tmp_path / f"{number}.db")
        found.append(sealed(tmp_path / f"{number}.db"))
        if number == 1:
            store.submissions.add("panel", submissions(to=panel, invitation=code))
    for one, other in ((found[0], found[1]), (found[1], found[2])):
        assert len(one) == len(other) >= 5
        assert [len(blob) for blob in one] == [len(blob) for blob in other]
        assert all(old != new for old, new in zip(one, other, strict=True))


def test_a_copy_that_kept_the_seals_would_be_found_out(tmp_path: Path, store: Store, panel: Survey) -> None:
    before, after = tmp_path / "before.db", tmp_path / "after.db"
    with closing(store.database.connect()) as connection:
        for target in (before, after):
            connection.execute("VACUUM INTO ?", [str(target)])
    assert sealed(before) == sealed(after)


def test_another_key_is_refused_by_name_and_changes_nothing(tmp_path: Path, store: Store, panel: Survey, submissions: Make) -> None:
    (code,) = invited(store, 1)
    store.submissions.add("panel", submissions(to=panel, invitation=code))
    store.backup(tmp_path / "copy.db")
    before = (tmp_path / "copy.db").read_bytes()
    with pytest.raises(UnavailableError, match="the key file beside the database must be the one that it was written with"):
        count_of(open_store(tmp_path / "copy.db"), "panel")
    assert sealed(tmp_path / "copy.db") != []
    assert len((tmp_path / "copy.db").read_bytes()) == len(before)
    shutil.copy(tmp_path / "deniable.db.key", tmp_path / "copy.db.key")
    again = open_store(tmp_path / "copy.db")
    again.surveys.set_open("panel", False)
    assert count_of(again, "panel") == 1
    again.close()


def test_when_the_key_is_lost_only_what_waited_is_lost(tmp_path: Path, store: Store, panel: Survey, submissions: Make) -> None:
    made = invited(store, 22)
    for code in made:
        store.submissions.add("panel", submissions(to=panel, invitation=code))
    store.backup(tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection, connection:
        connection.execute("DELETE FROM intake")  # as the operations page says
    words = ["init", "--db", str(tmp_path / "copy.db"), "--user", "ada", "--password-env", "PASSWORD"]
    again = CliRunner().invoke(main, words, env={"PASSWORD": "correct horse battery"})
    assert again.exit_code == 0, again.output
    with closing(open_store(tmp_path / "copy.db")) as restored:
        assert (count_of(restored, "panel"), recount_of(restored, "panel").n, restored.invitations.count("panel")) == (10, 10, (22, 10))
        assert [len(blob) for blob in sealed(tmp_path / "copy.db")] == [len(blob) for blob in sealed(tmp_path / "deniable.db")]


def test_the_command_copies_a_running_server_and_the_key_on_request(
    make_server: Callable[[], Any], tmp_path: Path, panel: Survey, submissions: Make
) -> None:
    server = make_server()
    server.publish(Survey.from_dict({**panel.to_dict(), "access": "open"}))
    server.start()
    for _ in range(14):
        submission = submissions(to=server_survey(server))
        url, headers = f"{server.url}/api/v1/surveys/panel/submissions", {"Content-Type": "application/json"}
        httpx.post(url, content=submission.to_json(), headers=headers, timeout=PATIENCE).raise_for_status()
    target = tmp_path / "copies" / "night.db"
    target.parent.mkdir()
    assert "without its key" in server.run("backup", str(target))
    assert not key_file(target).exists()
    assert "with the key in" in server.run("backup", "--with-key", str(target.with_name("whole.db")))
    assert {path.stat().st_mode & 0o777 for path in target.parent.iterdir()} == {0o600}
    server.kill()
    restored = CliRunner().invoke(main, ["close", "panel", "--db", str(target.with_name("whole.db"))])
    assert restored.exit_code == 0, restored.output
    listed = CliRunner().invoke(main, ["list", "--db", str(target.with_name("whole.db"))])
    assert "panel\tclosed\t14 records\t" in listed.output
    lost = CliRunner().invoke(main, ["list", "--db", str(target)])
    assert lost.exit_code == 1
    assert f"the key file {key_file(target)} of {target} is missing: put it back" in lost.output


def server_survey(server: Any) -> Survey:
    return Survey.from_definition(httpx.get(f"{server.url}/api/v1/surveys/panel", timeout=PATIENCE).content)


def test_a_backup_never_writes_over_a_file_and_leaves_none_when_it_fails(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there.db"
    there.write_text("mine")
    with pytest.raises(FileExistsError):
        store.backup(there)
    assert there.read_text() == "mine"
    monkeypatch.setattr(store.database.seal, "open", lambda *_: 1 / 0)
    store.surveys.publish(Survey.from_dict({**store.surveys.published("study").survey.to_dict(), "id": "sealed", "batch": 10}))
    with pytest.raises(ZeroDivisionError):
        store.backup(tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()
