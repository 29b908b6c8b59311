"""`deniable-server doctor` finds what is wrong with an installation: each check with a fault that it finds, and without."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from click.testing import CliRunner, Result

from deniable import extras
from deniable.verify.released import Released
from deniable_server.config import key_file, make_key
from deniable_server.operate import doctor
from deniable_server.operate.cli import main
from deniable_server.store import open_store

URL = "https://survey.example.org"
HSTS = {"Strict-Transport-Security": "max-age=31536000"}


PAGE = Path(__file__).parents[3] / "docs" / "guide" / "operations.md"


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much as a server needs, whatever the disk of the tests has."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 40))


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A server that was set up well."""
    path = tmp_path / "survey.db"
    open_store(path).close()
    make_key(path)
    return path


@pytest.fixture
def copy(db: Path, tmp_path: Path) -> Path:
    """A backup of it, made now."""
    target = tmp_path / "copy.db"
    store = open_store(db)
    store.backup(target)
    store.close()
    return target


def site(status: int = 200, headers: Mapping[str, str] = HSTS, without: str = "") -> httpx.Client:
    """A client that meets a server behind a proxy; nothing is sent."""
    told = {name: value for name, value in {**Released.load().headers, **headers}.items() if name != without}
    return httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(status, headers=told)))


def unreachable() -> httpx.Client:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("certificate verify failed: self-signed certificate")

    return httpx.Client(transport=httpx.MockTransport(refuse))


def test_an_installation_without_a_fault_has_none(db: Path, copy: Path) -> None:
    found = [*doctor.key(db), *doctor.permissions(db), *doctor.disk(db), *doctor.backup(db, copy), *doctor.address(URL, site())]
    assert found == []


@pytest.mark.parametrize(("text", "fault"), [("short\n", "must be at least 32 characters"), (None, "is not there")])
def test_a_key_that_is_lost_or_too_short_is_found(db: Path, text: str | None, fault: str) -> None:
    key_file(db).unlink()
    if text is not None:
        key_file(db).write_text(text)
    (found,) = doctor.key(db)
    assert fault in found
    assert "short" not in found.replace(str(db), "")  # the key itself is never shown


@pytest.mark.parametrize("name", ["survey.db", "survey.db.key"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_may_read_is_found(db: Path, name: str, mode: int) -> None:
    (db.parent / name).chmod(mode)
    (found,) = doctor.permissions(db)
    assert found == f"{db.parent / name} must be readable by its owner only, has mode {mode:o}: chmod 600 {db.parent / name}"


def test_a_folder_in_which_others_may_replace_files_is_found(db: Path) -> None:
    db.parent.chmod(0o777)
    (found,) = doctor.permissions(db)
    assert found.startswith(f"{db.parent} must not be writable by others")


@pytest.mark.parametrize(("free", "faults"), [(doctor.LEAST_FREE - 1, 1), (doctor.LEAST_FREE, 0)])
def test_a_disk_that_is_nearly_full_is_found(db: Path, free: int, faults: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    assert len(list(doctor.disk(db))) == faults


def test_a_disk_without_room_to_write_a_large_database_anew_is_found(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = doctor.LEAST_FREE
    os.truncate(db, size)
    for free, faults in ((2 * size - 1, 1), (2 * size, 0)):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        assert len(list(doctor.disk(db))) == faults


def test_a_backup_that_is_missing_old_or_damaged_is_found(db: Path, copy: Path) -> None:
    (found,) = doctor.backup(db, copy.with_name("none.db"))
    assert found.endswith("none.db is not there")
    old = time.time() - doctor.OLDEST_BACKUP - 60
    os.utime(copy, (old, old))
    (found,) = doctor.backup(db, copy)
    assert "was made over 1 day ago" in found
    copy.write_bytes(b"SQLite format 3\0" + b"\0" * 4096)
    (found,) = doctor.backup(db, copy)
    assert found.startswith(f"the backup {copy} cannot be restored: it must be a whole SQLite database")


def test_looking_at_a_backup_does_not_change_it(db: Path, copy: Path) -> None:
    before = copy.read_bytes()
    assert list(doctor.backup(db, copy)) == []
    assert copy.read_bytes() == before
    assert sorted(path.name for path in copy.parent.iterdir()) == ["copy.db", "survey.db", "survey.db.key"]


@pytest.mark.parametrize(
    ("client", "fault"),
    [
        (unreachable, "could not be reached: ConnectError"),
        (lambda: site(status=502), "must answer 200, got 502"),
        (lambda: site(without="Content-Security-Policy"), "Content-Security-Policy must be"),
        (lambda: site(headers={**HSTS, "Alt-Svc": "h3"}), "Alt-Svc must not be sent"),
        (lambda: site(headers={}), "Strict-Transport-Security must be sent over HTTPS"),
    ],
    ids=["no connection", "a proxy without a server", "a header taken away", "a header added", "no strict transport"],
)
def test_what_a_proxy_does_wrong_is_found(client: Callable[[], httpx.Client], fault: str) -> None:
    (found,) = doctor.address(URL, client())
    assert fault in found


def test_an_address_without_https_is_found_but_for_this_machines_own() -> None:
    (found,) = doctor.address("http://survey.example.org", site(headers={}))
    assert "must begin with https://" in found
    assert list(doctor.address("http://127.0.0.1:8000", site(headers={}))) == []


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["doctor", *words])


def test_the_command_says_what_was_looked_at_and_what_was_not(db: Path, copy: Path) -> None:
    result = run("--db", str(db), "--backup", str(copy))
    assert result.exit_code == 0, result.output
    assert f"```\n{result.stdout}```\n" in PAGE.read_text(encoding="utf-8")


def test_the_command_says_what_pages_do_not_offer_and_what_would_change_that(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not offered" not in run("--db", str(db)).stdout
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    result = run("--db", str(db))
    assert result.exit_code == 0
    assert [line.split(" needs ")[0] for line in result.stdout.splitlines() if line.startswith("not offered")] == [
        "not offered  a survey from an XLSForm",
        "not offered  a Parquet or Arrow file",
        "not offered  a report to be edited (.docx)",
        "not offered  a report to be printed (.pdf)",
        "not offered  a database on PostgreSQL",
        "not offered  single sign-on",
    ]
    assert "needs the extra xlsform: pip install 'pyxform" in result.stdout


def test_the_command_ends_with_1_where_there_is_a_fault_and_lists_all_of_them(db: Path) -> None:
    db.chmod(0o644)
    key_file(db).write_text("short\n")
    result = run("--db", str(db))
    assert result.exit_code == 1
    assert sum(line.startswith("FAULT") for line in result.stdout.splitlines()) == 2
    assert "chmod 600" in result.stdout
    assert "must be at least 32 characters" in result.stdout


def test_a_damaged_database_is_a_fault(db: Path) -> None:
    db.write_bytes(b"no database at all" * 1000)
    result = run("--db", str(db))
    assert result.exit_code == 1
    assert "is not a database that a server can use" in result.stdout
