"""`deniable-server doctor` beside a server that runs and has records that wait: a good backup is no fault, a damaged one always is."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.kit.servers.process import PASSWORD, ServerProcess
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable_server.api import webhooks
from deniable_server.config import key_file
from deniable_server.operate import doctor
from deniable_server.operate.cli import main

pytestmark = pytest.mark.slow
BATCHED = {
    "deniable": 1,
    "id": "clinic",
    "title": "T",
    "about": "A.",
    "epsilon": "ln 3",
    "batch": 10,
    "questions": [{"id": "q", "text": "?", "type": "yes_no"}],
}
OK, SKIPPED = "ok  the backup (--backup FILE)", "not looked at  the backup (--backup FILE)"
WAYS: dict[str, tuple[str, ...]] = {"plain": (), "with key": ("--with-key",), "locked": ("--password-env", "PASSWORD")}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that runs: ten records are counted, ten of an organisation and thirteen of people wait, and a webhook has a secret."""
    server = ServerProcess(tmp_path_factory.mktemp("live"))
    survey = Survey.from_dict(BATCHED)
    server.publish(survey)
    with server.store() as store:
        for _ in range(20):
            store.submissions.add("clinic", submission(survey, mode="organisation"))
        for _ in range(13):
            store.submissions.add("clinic", submission(survey))
        webhooks.make(store, "clinic", "https://example.org/in", ["survey.closed"])
    server.start()
    yield server
    server.stop()
    server.close()


@pytest.fixture(scope="module")
def made(live: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a backup of each kind, made while the server runs."""
    folder = tmp_path_factory.mktemp("backups")
    for name, words in WAYS.items():
        live.run("backup", str(folder / f"{name}.db"), *words)
    return folder


@pytest.fixture
def backups(made: Path, tmp_path: Path) -> dict[str, Path]:
    """Copies of them, to be damaged."""
    shutil.copytree(made, tmp_path / "backups")
    return {name: tmp_path / "backups" / f"{name}.db" for name in WAYS}


def examine(server: ServerProcess, *words: str | Path, limit: int | None = None) -> tuple[int, str]:
    """Exit code and output of `doctor`. limit: of bytes in a file that it writes, as on a disk without room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        ran = CliRunner().invoke(main, ["doctor", "--db", str(server.db), *map(str, words)], env={"PASSWORD": PASSWORD})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert isinstance(ran.exception, SystemExit | None), ran.exception
    return ran.exit_code, ran.stdout


def about_backup(output: str) -> list[str]:
    return [line for line in output.splitlines() if "the backup" in line]


@pytest.mark.parametrize("way", WAYS)
def test_a_good_backup_of_a_live_server_is_no_fault(live: ServerProcess, backups: dict[str, Path], way: str) -> None:
    before = backups[way].read_bytes()
    code, output = examine(live, "--backup", backups[way], *(WAYS[way] if way == "locked" else ()))
    assert (code, about_backup(output)) == (0, [OK]), output
    assert backups[way].read_bytes() == before
    assert not list(live.db.parent.glob("deniable-restore-*"))


def test_a_locked_backup_is_not_looked_at_without_its_password(live: ServerProcess, backups: dict[str, Path]) -> None:
    code, output = examine(live, "--backup", backups["locked"])
    assert (code, about_backup(output)) == (0, [f"{SKIPPED}: locked (--password-env VAR)"])


def test_a_locked_backup_that_is_old_is_a_fault_all_the_same(live: ServerProcess, backups: dict[str, Path]) -> None:
    old = time.time() - doctor.OLDEST_BACKUP - 60
    os.utime(backups["locked"], (old, old))
    code, output = examine(live, "--backup", backups["locked"])
    assert code == 1
    assert [line.split()[0] for line in about_backup(output)] == ["FAULT", "not"]


def cut(path: Path, part: float) -> None:
    os.truncate(path, int(path.stat().st_size * part))


def another_program(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")


def another_server(path: Path) -> None:
    """A whole backup, of a server with the same survey and a record that waits."""
    with suppress(FileNotFoundError):
        key_file(path).unlink()
    path.unlink()
    (folder := path.with_name(f"{path.name}-server")).mkdir()
    other = ServerProcess(folder)
    other.publish(survey := Survey.from_dict(BATCHED))
    with other.store() as store:
        store.submissions.add("clinic", submission(survey))
    other.run("backup", str(path))
    other.close()


def lost_record(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM submissions WHERE key = (SELECT min(key) FROM submissions)")


def torn_page(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xff" * 4096)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "empty": lambda path: cut(path, 0),
    "half": lambda path: cut(path, 0.5),
    "without its last page": lambda path: os.truncate(path, path.stat().st_size - 4096),
    "without its last byte": lambda path: os.truncate(path, path.stat().st_size - 1),
    "another program's": another_program,
    "another server's": another_server,
    "without a record": lost_record,
    "with a torn page": torn_page,
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("way", ["plain", "with key"])
def test_a_damaged_or_foreign_backup_is_a_fault(live: ServerProcess, backups: dict[str, Path], way: str, damage: str) -> None:
    DAMAGE[damage](backups[way])
    code, output = examine(live, "--backup", backups[way])
    assert code == 1, output
    assert about_backup(output)[0].startswith(f"FAULT  the backup {backups[way]}")


@pytest.mark.parametrize("text", ["k" * 43, "short"])
def test_a_backup_with_another_key_beside_it_is_a_fault(live: ServerProcess, backups: dict[str, Path], text: str) -> None:
    key_file(backups["with key"]).write_text(f"{text}\n")
    code, output = examine(live, "--backup", backups["with key"])
    assert (code, about_backup(output)[0].startswith("FAULT")) == (1, True)


@pytest.mark.parametrize("damage", [lambda path: cut(path, 0.9), lambda path: os.truncate(path, path.stat().st_size - 1)])
def test_a_locked_backup_that_is_damaged_or_opened_with_another_password_is_a_fault(
    live: ServerProcess, backups: dict[str, Path], damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER", "another password")
    words = ("--backup", backups["locked"])
    assert examine(live, *words, "--password-env", "OTHER")[0] == 1
    damage(backups["locked"])
    assert examine(live, *words, "--password-env", "PASSWORD")[0] == 1


def test_without_room_for_a_copy_a_good_backup_is_not_looked_at_and_no_fault(live: ServerProcess, backups: dict[str, Path]) -> None:
    for way in ("plain", "locked"):
        code, output = examine(live, "--backup", backups[way], *WAYS["locked"], limit=100_000)
        assert (code, about_backup(output)) == (0, [f"{SKIPPED}: there is no room for a copy of it beside {live.db}"]), output
    assert not list(live.db.parent.glob("deniable-restore-*"))


def test_on_a_full_disk_every_check_has_its_line(live: ServerProcess, backups: dict[str, Path], tmp_path: Path) -> None:
    (disk := tmp_path / "disk").mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        for path in (live.db, key_file(live.db)):
            shutil.copy(backups["plain"] if path == live.db else path, disk / path.name)
        (disk / live.db.name).chmod(0o600)
        with suppress(OSError), (disk / "filling").open("wb") as file:
            while True:
                file.write(bytes(4096))
                file.flush()
        full = ServerProcess.__new__(ServerProcess)
        full.db = disk / live.db.name
        code, output = examine(full, "--backup", backups["plain"])
        assert code == 1
        assert any(line.startswith("FAULT  the disk") for line in output.splitlines())
        assert about_backup(output) == [f"{SKIPPED}: there is no room for a copy of it beside {full.db}"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_while_a_second_process_writes_doctor_says_so_and_calls_no_backup_a_fault(live: ServerProcess, backups: dict[str, Path]) -> None:
    with closing(sqlite3.connect(live.db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        code, output = examine(live, "--backup", backups["plain"])
        other.execute("ROLLBACK")
    assert (code, about_backup(output)) == (1, [OK])
    assert f"FAULT  {live.db} is locked by another program: the server replies 503 to submissions until it is unlocked" in output
    assert examine(live, "--backup", backups["plain"])[0] == 0


def test_looking_at_a_server_whose_key_is_gone_makes_no_other_key(live: ServerProcess, backups: dict[str, Path], tmp_path: Path) -> None:
    alone = ServerProcess.__new__(ServerProcess)
    alone.db = tmp_path / "alone.db"
    shutil.copy(backups["plain"], alone.db)
    code, output = examine(alone, "--backup", backups["plain"])
    assert code == 1
    assert f"not looked at  the database: the key {key_file(alone.db)} is not there" in output
    assert not key_file(alone.db).exists()
