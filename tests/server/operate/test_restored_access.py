"""A restored server: no session lives on, what the backup allowed is listed, and what was revoked since is revoked again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import PASSWORD, ServerProcess
from tests.kit.servers.release import release_people
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable.wire import access_codes
from deniable_server.access import api_keys, invitations
from deniable_server.api import webhooks
from deniable_server.config import key_file
from deniable_server.identity.passwords import set_password
from deniable_server.operate.cli import main
from deniable_server.store.roles import Role

pytestmark = pytest.mark.slow
KEYS = {
    "deniable": 1,
    "title": "T",
    "about": "A.",
    "epsilon": "ln 3",
    "batch": 1,
    "accept_small_batches": True,
    "questions": [{"id": "q", "text": "?", "type": "yes_no"}],
}
OPEN, INVITED = Survey.from_dict({**KEYS, "id": "clinic"}), Survey.from_dict({**KEYS, "id": "staff", "access": "invited"})


def run(*words: str | Path, answer: str = "") -> tuple[int, str, str]:
    """Exit code, standard output, and all that was printed."""
    result = CliRunner().invoke(main, [str(word) for word in words], env={"LOCK": PASSWORD}, input=answer)
    assert "Traceback" not in result.output
    return result.exit_code, result.stdout, result.output


@dataclass
class Past:
    """A server, a backup of it, and what was done to the server after the backup."""

    server: ServerProcess
    backup: Path
    log: Path
    key: str
    cookies: str
    code: str
    withdrawn: bytes


def logged_in(server: ServerProcess, user: str) -> str:
    """The header of a browser with a session."""
    with httpx.Client(base_url=server.url, timeout=PATIENCE) as client:
        token = client.get("/login").text.split('name="csrf_token"')[1].split('value="')[1].split('"')[0]
        reply = client.post("/login", data={"user": user, "password": PASSWORD, "csrf_token": token})
        assert reply.status_code == 302, reply.text
        return "; ".join(f"{name}={value}" for name, value in client.cookies.items())


def usable(server: ServerProcess, code: str) -> bool:
    """Returns whether a code was not used yet. The server tells it to nobody."""
    with server.store() as store:
        return ("staff", access_codes.invitation_hash("staff", access_codes.read(code))) not in store.invitations.used()


def doors(server: ServerProcess, past: Past) -> dict[str, object]:
    """What each of the things that were taken away opens at a server."""
    with httpx.Client(base_url=server.url, timeout=PATIENCE) as client:
        results = client.get("/api/v1/surveys/clinic/results", headers={"Authorization": f"Bearer {past.key}"})
        cookie = client.get("/manage", headers={"Cookie": past.cookies})
        password = client.get("/api/v1/surveys/clinic/results", auth=("mallory", PASSWORD))
    return {"key": results.status_code, "cookie": cookie.status_code, "password": password.status_code, "code": usable(server, past.code)}


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    folder = tmp_path_factory.mktemp("past")
    server = ServerProcess(folder)
    server.publish(OPEN, INVITED)
    gone = submission(OPEN, 1)
    with server.store() as store:
        for name in ("mallory", "eve"):
            set_password(store.accounts, name, PASSWORD)
            store.roles.grant("clinic", name, Role.VIEWER)
        store.roles.grant("clinic", "ada", Role.OWNER)
        key = api_keys.make(store, "leaked", ["results"])
        code = invitations.make(store, "staff", 2)[0]
        for each in (gone, *(submission(OPEN, 1) for _ in range(5))):
            store.submissions.add("clinic", each)
        assert release_people(store) == ["clinic"]
        webhook, _ = webhooks.make(store, "clinic", "https://hooks.example.org/in?token=SECRET", ["survey.closed"])
    server.start()
    made = Past(server, folder / "copy.db", folder / "log.jsonl", key, logged_in(server, "mallory"), code, gone.id)
    assert doors(server, made) == {"key": 200, "cookie": 200, "password": 200, "code": True}  # before
    server.run("backup", str(made.backup), "--with-key")
    with server.store() as store:  # what is done after it
        store.accounts.remove_key("leaked")
        store.accounts.remove_user("mallory")
        store.roles.revoke("clinic", "eve")
        store.submissions.withdraw("clinic", gone.id)
        store.submissions.add("staff", submission(INVITED, 1, invitation=access_codes.read(code)))
        store.webhooks.remove("clinic", webhook.id)
        store.surveys.set_open("clinic", False)
    assert doors(server, made) == {"key": 401, "cookie": 302, "password": 401, "code": False}
    made.log.write_text(run("audit", "show", "--json", "--db", server.db)[1])
    server.stop()
    yield made
    server.close()


@dataclass
class Again(ServerProcess):
    """A server of a database that was restored."""

    def __init__(self, past: Past) -> None:
        self.__dict__.update(past.server.__dict__)


def restored(past: Past, folder: Path, *words: str | Path) -> tuple[dict[str, object], str, Path]:
    """What is opened at the restored server, what `restore` printed, and the new database."""
    db = folder / "new.db"
    code, _, printed = run("restore", past.backup, "--db", db, "--yes", *words)
    assert code == 0, printed
    server = Again(past)
    server.db, server.log = db, folder / "log"
    server.start()
    try:
        return doors(server, past), printed, db
    finally:
        server.stop()


def withdrawn_is_there(past: Past, db: Path) -> bool:
    with closing(sqlite3.connect(db)) as read:
        return read.execute("SELECT 1 FROM submissions WHERE id = ?", [past.withdrawn]).fetchone() is not None


def test_no_old_cookie_opens_a_restored_server_and_what_comes_back_is_listed(past: Past, tmp_path: Path) -> None:
    found, printed, db = restored(past, tmp_path)
    assert found == {"key": 200, "cookie": 302, "password": 200, "code": True}  # listed, for nothing that restore is given knows better
    for line in (
        "key\tleaked\tresults\tall surveys\tmade on",
        "account\tada\toperator, owner of clinic",
        "account\tmallory\tresearcher, viewer of clinic",
        "survey\tclinic\topen",
        "codes\tstaff\t2 of 2 can be used",
        "\tclinic\tsurvey.closed\thooks.example.org",
        "All sessions and all unused sign-up links have ended.",
    ):
        assert line in printed
    assert "SECRET" not in printed
    assert withdrawn_is_there(past, db)


def test_the_log_that_survived_takes_keys_accounts_and_roles_away_again(past: Past, tmp_path: Path) -> None:
    found, printed, db = restored(past, tmp_path, "--audit", past.log)
    assert found == {"key": 401, "cookie": 302, "password": 401, "code": True}
    for act in (
        "key.revoke\tleaked",
        "account.remove\tmallory",
        "role.take\tclinic\teve has no role",
        "survey.close\tclinic",
        "webhook.remove",
    ):
        assert act in printed.split("Works again")[0]
    assert "account\tmallory" not in printed
    assert "survey\tclinic\tclosed" in printed
    assert run("audit", "verify", "--db", db)[0] == 0


def test_the_database_that_is_replaced_takes_codes_and_withdrawn_records_away_too(past: Past, tmp_path: Path) -> None:
    found, printed, db = restored(past, tmp_path, "--old", past.server.db)
    assert found == {"key": 401, "cookie": 302, "password": 401, "code": False}
    assert "1 withdrawn record\n" in printed
    assert "1 spent code\n" in printed
    assert not withdrawn_is_there(past, db)


@pytest.mark.parametrize("with_key", [True, False])
def test_a_code_whose_record_waits_in_the_old_database_is_spent_where_its_key_is(tmp_path: Path, with_key: bool) -> None:
    server = ServerProcess(tmp_path)
    waiting = Survey.from_dict({**KEYS, "id": "staff", "access": "invited", "batch": 10})
    server.publish(waiting)
    with server.store() as store:
        code = invitations.make(store, "staff", 2)[0]
    copy = tmp_path / "copy.db"
    server.run("backup", str(copy), "--with-key")
    with server.store() as store:
        store.submissions.add("staff", submission(waiting, 1, invitation=access_codes.read(code)))
    if not with_key:
        key_file(server.db).unlink()
    before = server.db.read_bytes()
    status, _, printed = run("restore", copy, "--db", tmp_path / "new.db", "--yes", "--old", server.db)
    assert (status, "1 spent code\n" in printed, "records that waited to be counted" in printed) == (0, with_key, not with_key), printed
    assert "codes\tstaff\t1 of 2 can be used" in printed or not with_key
    assert server.db.read_bytes() == before
    server.close()


def test_a_password_that_was_changed_later_does_not_come_back(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    copy = tmp_path / "copy.db"
    server.run("backup", str(copy), "--with-key")
    run("user", "password", "ada", "--password-env", "LOCK", "--db", server.db)
    with server.store() as store:
        stored = store.accounts.password_hash("ada")
    code, _, printed = run("restore", copy, "--db", tmp_path / "new.db", "--yes", "--old", server.db)
    assert code == 0, printed
    restored = ServerProcess.__new__(ServerProcess)
    restored.db = tmp_path / "new.db"
    with restored.store() as store:
        assert store.accounts.password_hash("ada") not in (None, stored)
    server.close()


@pytest.mark.parametrize(("answer", "code"), [("n\n", 1), ("y\n", 0)])
def test_restore_asks_at_a_terminal(past: Past, tmp_path: Path, answer: str, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable_server.operate.cli_backup.at_terminal", lambda: True)
    result, _, printed = run("restore", past.backup, "--db", tmp_path / "new.db", answer=answer)
    assert (result, "Restore it? [y/N]" in printed, (tmp_path / "new.db").exists()) == (code, True, code == 0)


def test_restore_refuses_without_a_terminal_and_leaves_nothing(past: Past, tmp_path: Path) -> None:
    code, _, printed = run("restore", past.backup, "--db", tmp_path / "new.db")
    assert (code, "add --yes" in printed, "key\tleaked" in printed) == (1, True, True)
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_was_changed_or_is_another_servers_is_refused(past: Past, tmp_path: Path) -> None:
    lines = past.log.read_text().splitlines()
    for wrong, words in (
        (lines[:-3] + lines[-2:], "must follow the one before it"),
        ([line.replace("mallory", "eve") for line in lines], "must follow the one before it"),
        (["{}"], "must be a line that `audit show --json` printed"),
        (lines[-2:], "must continue the backup's last entry"),
    ):
        (tmp_path / "log").write_text("\n".join(wrong))
        code, _, printed = run("restore", past.backup, "--db", tmp_path / "new.db", "--yes", "--audit", tmp_path / "log")
        assert (code, words in printed) == (1, True), printed
    assert not (tmp_path / "new.db").exists()
    assert not key_file(tmp_path / "new.db").exists()
