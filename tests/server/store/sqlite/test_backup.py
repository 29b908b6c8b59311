"""A backup with its key loses nothing; without the key it joins no waiting record to an id, a code or a record of a later backup."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from tests.kit.patience import PATIENCE
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import count_of, recount_of

from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.part import MODES
from deniable.wire.submission import Submission
from deniable_server.config import key_file
from deniable_server.operate.cli import main
from deniable_server.store import open_store
from deniable_server.store.errors import InvitationError, UnavailableError
from deniable_server.store.protocol import Store
from deniable_server.store.sqlite import backup, file

Make = Callable[..., Submission]


def panel_of(release: str) -> Survey:
    question = {"id": "q", "text": "?", "type": "yes_no"}
    source = {"deniable": 1, "id": "panel", "title": "T", "about": "A.", "epsilon": "ln 3", "access": "invited", "questions": [question]}
    return Survey.from_dict({**source, "groups": ["North", "South"], "release": release})


@pytest.fixture(params=["close", "daily"])
def panel(store: Store, request: pytest.FixtureRequest) -> Survey:
    """A published survey by invitation, with two groups and a batch of ten."""
    survey = panel_of(request.param)
    store.surveys.publish(survey)
    return survey


def invited(store: Store, count: int) -> list[bytes]:
    made = [os.urandom(15) for _ in range(count)]
    store.invitations.add("panel", [access_codes.invitation_hash("panel", code) for code in made])
    return made


def rows(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def backed_up(store: Store, target: Path) -> bytes:
    store.backup(target)
    return target.read_bytes()


def test_a_backup_and_its_key_give_back_all_that_was_acknowledged(tmp_path: Path, store: Store, panel: Survey, submissions: Make) -> None:
    made = invited(store, 30)
    sent = [submissions(to=panel, invitation=code, group="North") for code in made[:27]]
    for submission in sent:
        store.submissions.add("panel", submission)
    store.submissions.withdraw("panel", sent[26].id)
    release_people(store)
    counted, spent = (16, 17) if panel.release == "daily" else (0, 0)
    store.backup(tmp_path / "copy.db")
    shutil.copy(tmp_path / "deniable.db.key", tmp_path / "copy.db.key")
    again = open_store(tmp_path / "copy.db")
    assert (count_of(again, "panel"), again.invitations.count("panel")) == (counted, (30, spent))
    assert not any(again.submissions.add("panel", submission) for submission in sent[:26])
    for code in made[:27]:
        with pytest.raises(InvitationError):
            again.submissions.add("panel", submissions(to=panel, invitation=code, group="North"))
    again.surveys.set_open("panel", False)
    assert (count_of(again, "panel"), recount_of(again, "panel").n, again.invitations.count("panel")) == (26, 26, (30, 27))
    again.close()


WAITING = "SELECT survey, bulk, length(tag), length(sealed) FROM intake"


def test_without_the_key_a_backup_shows_of_waiting_records_only_how_many_there_are(
    tmp_path: Path, store: Store, panel: Survey, submissions: Make
) -> None:
    made = invited(store, 19)
    sent = [submissions(to=panel, invitation=code, group=("North", "South")[n % 2], mode=MODES[n % 3 % 2]) for n, code in enumerate(made)]
    before = backed_up(store, tmp_path / "before.db")
    for submission in sent:
        store.submissions.add("panel", submission)
    content = backed_up(store, tmp_path / "waiting.db")
    assert not any(submission.id in content for submission in sent)
    assert (store.invitations.count("panel"), rows(tmp_path / "waiting.db", "SELECT * FROM tallies")) == ((19, 0), [])
    (row,) = set(rows(tmp_path / "waiting.db", WAITING))  # all of one form and length
    assert row[:3] == ("panel", 0, 16)
    assert len(rows(tmp_path / "waiting.db", WAITING)) == len(rows(tmp_path / "waiting.db", "SELECT * FROM used_codes")) == len(sent)
    hashes = [access_codes.invitation_hash("panel", code) for code in made]
    for (tag,) in rows(tmp_path / "waiting.db", "SELECT tag FROM intake UNION ALL SELECT tag FROM used_codes"):
        assert not any(tag in one or one[:8] in tag for one in (*hashes, *made, *(one.id for one in sent)))
    assert not any(code in content for code in made)
    assert all(hash_ in before and hash_ in content for hash_ in hashes)
    store.surveys.set_open("panel", False)
    content = backed_up(store, tmp_path / "counted.db")
    assert all(submission.id in content for submission in sent)  # the control: counted records are found


def test_rows_of_one_survey_have_one_length_whatever_the_group_and_the_mode(tmp_path: Path, store: Store, submissions: Make) -> None:
    labels = ["A", "A very long name of a group, with Ümläuts", *(f"Group {number}" for number in range(300))]
    survey = Survey.from_dict({**panel_of("daily").to_dict(), "access": "open", "groups": labels})
    store.surveys.publish(survey)
    for group in labels[:40]:
        for mode in ("device", "by_hand"):
            store.submissions.add("panel", submissions(to=survey, group=group, mode=mode))
    store.submissions.add("panel", submissions(to=survey, group=labels[-1], mode="organisation"))
    assert len({length for *_, length in rows(tmp_path / "deniable.db", WAITING)}) == 1


def test_two_backups_share_no_bytes_of_a_record_before_its_release_and_after_it(tmp_path: Path, store: Store, submissions: Make) -> None:
    panel = panel_of("daily")
    store.surveys.publish(panel)
    sent = [submissions(to=panel, invitation=code, group="North") for code in invited(store, 25)]
    for submission in sent:
        store.submissions.add("panel", submission)
    before = backed_up(store, tmp_path / "before.db")
    release_people(store)
    after = backed_up(store, tmp_path / "after.db")
    waiting = {"tags": "SELECT tag FROM intake", "seals": "SELECT sealed FROM intake", "codes": "SELECT tag FROM used_codes"}
    for name, query in waiting.items():
        was, still = ({bytes(cell) for (cell,) in rows(tmp_path / copy, query)} for copy in ("before.db", "after.db"))
        assert still < was, name
        assert (len(was), len(still)) == (25, 10), name
        assert all(cell in before for cell in was), name
        assert not any(cell in after for cell in was - still), name
    counted = {bytes(id_) for (id_,) in rows(tmp_path / "after.db", "SELECT id FROM submissions")}
    assert len(counted) == 15
    assert not any(id_ in before for id_ in counted)


def test_another_key_is_refused_by_name_and_changes_nothing(tmp_path: Path, store: Store, panel: Survey, submissions: Make) -> None:
    for code in invited(store, 10):
        store.submissions.add("panel", submissions(to=panel, invitation=code, group="North"))
    store.backup(tmp_path / "copy.db")
    before = (tmp_path / "copy.db").read_bytes()
    with pytest.raises(UnavailableError, match="the key file beside the database must be the one that it was written with"):
        open_store(tmp_path / "copy.db")
    assert len(rows(tmp_path / "copy.db", WAITING)) == 10
    assert len((tmp_path / "copy.db").read_bytes()) == len(before)
    shutil.copy(tmp_path / "deniable.db.key", tmp_path / "copy.db.key")
    again = open_store(tmp_path / "copy.db")
    again.surveys.set_open("panel", False)
    assert count_of(again, "panel") == 10
    again.close()


def test_another_key_would_count_a_repetition_twice_if_it_were_not_refused(
    tmp_path: Path, store: Store, panel: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = submissions(to=panel, invitation=invited(store, 1)[0], group="North")
    store.submissions.add("panel", submission)
    store.backup(tmp_path / "copy.db")
    monkeypatch.setattr(file, "require_key", lambda *_: None)
    with closing(open_store(tmp_path / "copy.db")) as again:
        assert again.submissions.add("panel", submission) is True
    assert len(rows(tmp_path / "copy.db", WAITING)) == 2


def as_the_page_says() -> str:
    """Returns the statements that the operations page has for a lost key."""
    page = Path("docs/guide/operations.md").read_text(encoding="utf-8")
    return page.partition("If the key is lost")[2].partition('sqlite3 survey.db "')[2].partition('"')[0]


def test_when_the_key_is_lost_only_waiting_records_are_lost(tmp_path: Path, store: Store, submissions: Make) -> None:
    panel = panel_of("daily")
    store.surveys.publish(panel)
    sent = {code: submissions(to=panel, invitation=code, group="North") for code in invited(store, 22)}
    for submission in sent.values():
        store.submissions.add("panel", submission)
    assert release_people(store) == ["panel"]
    store.backup(tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection, connection:
        connection.executescript(as_the_page_says())
    words = ["init", "--db", str(tmp_path / "copy.db"), "--user", "ada", "--password-env", "PASSWORD"]
    again = CliRunner().invoke(main, words, env={"PASSWORD": "correct horse battery"})
    assert again.exit_code == 0, again.output
    counted = {bytes(id_) for (id_,) in rows(tmp_path / "copy.db", "SELECT id FROM submissions")}
    with closing(open_store(tmp_path / "copy.db")) as restored:
        assert (count_of(restored, "panel"), recount_of(restored, "panel").n, restored.invitations.count("panel")) == (12, 12, (22, 12))
        assert restored.submissions.waiting("panel") == {"device": 0, "by_hand": 0}
        for submission in sent.values():  # people whose records are lost may send them again, with the same code if it is not spent
            with suppress(InvitationError):
                assert restored.submissions.add("panel", submission) is (submission.id not in counted)
        restored.surveys.set_open("panel", False)
        assert 12 <= count_of(restored, "panel") <= 22


def test_the_command_copies_a_running_server_and_the_key_on_request(
    make_server: Callable[[], Any], tmp_path: Path, submissions: Make
) -> None:
    server = make_server()
    server.publish(Survey.from_dict({**panel_of("daily").to_dict(), "access": "open"}))
    server.start()
    for _ in range(14):
        submission = submissions(to=server_survey(server), group="North")
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
    monkeypatch.setattr(backup, "_sync", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.backup(tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()
