"""A move between SQLite and PostgreSQL keeps every row, loses no acknowledged record, and leaves one database complete when it is killed.

`make long NAME=kills-move` kills 20 moves in each direction; the suite kills some.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from tests.kit.servers.process import PROGRAM, ServerProcess
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import recount_of, tally_of
from tests.kit.surveys import STUDY, submission
from tests.server.store.postgresql import server
from tests.server.store.test_kill import Load, bucket, bucket_survey, counts

from deniable.device.entropy import os_words
from deniable.survey import Survey
from deniable_server.access import api_keys
from deniable_server.config import Database, key_file
from deniable_server.operate.cli import main
from deniable_server.results.results import results_of
from deniable_server.store import open_store
from deniable_server.store.errors import MovedError, UnavailableError
from deniable_server.store.moving import copying, switch_over
from deniable_server.store.moving.layout import tables
from deniable_server.store.moving.sides import side_of
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role
from deniable_server.store.sql import move_marks
from deniable_server.store.sql.move_marks import MoveMark

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("DENIABLE_MOVE_KILLS", "3"))
KINDS = ("sqlite", "postgresql")
KILLED_MOVE = str(Path(__file__).parents[2] / "kit" / "breaks" / "killed_move.py")
Make = Callable[[str], str]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes the place of a new database of a kind."""
    monkeypatch.setenv("DENIABLE_KEY_FILE", str(tmp_path / "postgres.key"))

    def new(kind: str) -> str:
        return server().new() if kind == "postgresql" else str(tmp_path / f"{os_words(1)[0]}.db")

    return new


def other(kind: str) -> str:
    return KINDS[1 - KINDS.index(kind)]


def run(*words: str, **environment: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(words), env=environment)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result.exit_code, result.output


def move(old: str, new: str) -> str:
    code, printed = run("move", "--db", old, "--to", new)
    assert code == 0, printed
    return printed


def fill(store: Store) -> None:
    """Counted and waiting records, an erased one, codes, accounts, a key and a draft."""
    survey, waiting = Survey.from_text(STUDY), Survey.from_text(STUDY.replace("id: study", "id: later") + "release: close\n")
    store.surveys.publish(survey)
    store.surveys.publish(waiting)
    for _ in range(3):
        store.submissions.add("study", submission(survey, 40, mode="organisation"))
    sent = [submission(waiting) for _ in range(12)]
    for each in sent:
        store.submissions.add("later", each)
    store.accounts.set_password("ada", "hash of ada")
    store.people.set_operator("ada", True)
    store.roles.grant("study", "ada", Role.of("owner"))
    api_keys.make(store, "lab", ["submit"])


def content(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables."""
    side = side_of(Database.at(url))
    rows = {}
    for table in tables():
        with side.reading() as connection:
            columns = ", ".join(f'"{column}"' for column in table.columns)
            rows[table.name] = sorted(tuple(row) for row in connection.execute(f'SELECT {columns} FROM "{table.name}"'))
    return rows


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_is_equal_after_a_move_and_waiting_records_can_be_counted(kind: str, make: Make) -> None:
    old, new = make(kind), make(other(kind))
    with closing(open_store(old)) as store:
        fill(store)
        before = results_of(store, "study", {}).to_json()
        entries = store.audit.verify().count
    printed = move(old, new)
    assert "all equal" in printed
    assert content(old) == content(new)
    assert len(content(new)["intake"]) == 12
    assert f"\n{'intake':<16}  12\n".replace(" ", "") in printed.replace(" ", "")
    with closing(open_store(new)) as store:
        check = store.audit.verify()
        assert (check.count, check.faults) == (entries + 1, ())
        assert results_of(store, "study", {}).to_json() == before
        store.people.set_operator("ada", True)  # the numbers of the log go on
        store.surveys.set_open("later", False)  # decrypts what waited
        assert tally_of(store, "later").n == recount_of(store, "later").n == 12
        assert (check := store.audit.verify()).faults == ()
        assert check.count > entries + 1


def test_keys_are_sorted_alike_in_both_databases(make: Make) -> None:
    """Else a comparison would find differences where there are none: text keys have the order of their bytes."""
    url = make("postgresql")
    open_store(url).close()
    query = """SELECT c.table_name, c.column_name FROM information_schema.columns c WHERE c.table_schema = 'public'
               AND c.data_type = 'text' AND coalesce(c.collation_name, '') <> 'C'"""
    with side_of(Database.at(url)).reading() as connection:
        unsorted = set(connection.execute(query).fetchall())
    assert {(table.name, column) for table in tables() for column in table.key} & unsorted == set()


def test_the_old_database_refuses_to_write_and_names_the_new_one(make: Make) -> None:
    for kind in KINDS:
        old, new = make(kind), make(other(kind))
        store = open_store(old)
        fill(store)
        move(old, new)
        with pytest.raises(MovedError, match="send the same again later"):
            store.accounts.set_password("eve", "hash")
        assert str(Database.at(new)) in str(store.trouble())
        store.close()
        with pytest.raises(MovedError, match="was moved to"):
            open_store(old)
        with closing(open_store(old, writing=False)) as reading:
            assert reading.surveys.ids()
        assert "was moved to" in run("doctor", "--db", old)[1]
        code, printed = run("move", "--db", old, "--to", new)
        assert (code, "was moved to" in printed) == (1, True)


def test_a_backup_from_before_or_after_the_switch_can_be_restored(tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = make("sqlite"), make("postgresql")
    with closing(open_store(old)) as store:
        fill(store)
    catch_up, made = copying.catch_up, []

    def backed_up(*given: Any) -> int:
        made.append(run("backup", str(tmp_path / f"during{len(made)}.db"), "--db", old))
        return catch_up(*given)

    monkeypatch.setattr(copying, "catch_up", backed_up)
    move(old, new)
    assert [code for code, _ in made] == [0, 0]
    assert run("backup", str(tmp_path / "after.db"), "--db", old)[0] == 0
    with closing(sqlite3.connect(tmp_path / "after.db")) as copy:
        assert copy.execute("SELECT count(*) FROM move_marks").fetchone() == (1,)
    for name in ("during0", "during1", "after"):
        words = ["--db", str(tmp_path / f"{name}-restored.db"), "--key", str(key_file(Path(old))), "--old", old, "--yes"]
        code, printed = run("restore", str(tmp_path / f"{name}.db"), *words)
        assert code == 0, printed
        with closing(open_store(tmp_path / f"{name}-restored.db")) as store:
            store.accounts.set_password("eve", "hash")


def test_what_cannot_be_moved_is_refused_in_clear_words(tmp_path: Path, make: Make) -> None:
    old, full = make("sqlite"), make("postgresql")
    with closing(open_store(old)) as store:
        fill(store)
    (tmp_path / "postgres.key").write_text(key_file(Path(old)).read_text())
    open_store(full).close()
    before = content(old)
    unreachable = "postgresql://deniable:secret-word@127.0.0.1:1/nothing"
    for new, words in (
        (full, "must be empty, has"),
        (str(tmp_path / "same.db"), "must be of another kind than --db, got SQLite for both"),
        (old, "must be of another kind"),
        (unreachable, "the database postgresql://deniable@127.0.0.1:1/nothing cannot be used"),
    ):
        code, printed = run("move", "--db", old, "--to", new)
        assert (code, words in printed) == (1, True), printed
        assert "secret-word" not in printed
    (tmp_path / "postgres.key").write_text("k" * 43)
    assert "must have the key of" in run("move", "--db", old, "--to", make("postgresql"))[1]
    (tmp_path / "postgres.key").unlink()
    with closing(sqlite3.connect(old)) as db, db:
        db.execute("ALTER TABLE drafts ADD COLUMN colour TEXT")
    assert "must have the tables of this version" in run("move", "--db", old, "--to", make("postgresql"))[1]
    with closing(sqlite3.connect(old)) as db, db:
        db.execute("ALTER TABLE drafts DROP COLUMN colour")
    key_file(Path(old)).rename(tmp_path / "away.key")
    assert "is missing: put it back" in run("move", "--db", old, "--to", make("postgresql"))[1]
    (tmp_path / "away.key").rename(key_file(Path(old)))
    assert content(old) == before
    assert not (tmp_path / "postgres.key").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_difference_is_found_and_the_move_taken_back(kind: str, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the comparison: a copy that loses one row."""
    old, new = make(kind), make(other(kind))
    with closing(open_store(old)) as store:
        fill(store)
    switch = switch_over._switch_over

    def careless(step: Any, connection: Any) -> None:
        switch(step, connection)
        with step.target.writing() as target:
            target.execute("DELETE FROM intake WHERE key = (SELECT min(key) FROM intake)")

    monkeypatch.setattr(switch_over, "_switch_over", careless)
    code, printed = run("move", "--db", old, "--to", new)
    assert (code, "the tables intake must be equal" in printed) == (1, True), printed
    with pytest.raises(MovedError, match="is not finished"):
        open_store(new)
    open_store(old).close()
    monkeypatch.undo()


def test_an_interrupted_move_is_finished_or_taken_back(make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old, new = make("sqlite"), make("postgresql")
    with closing(open_store(old)) as store:
        fill(store)
    key = tmp_path / "postgres.key"
    with monkeypatch.context() as patch:
        patch.setattr(switch_over, "_finish", lambda *given: (_ for _ in ()).throw(UnavailableError("killed")))
        code, printed = run("move", "--db", old, "--to", new)
        assert (code, "refuse to write from now on" in printed) == (1, True), printed
        for url in (old, new):
            with pytest.raises(MovedError):
                open_store(url)
    assert "can be used again" in run("move", "--undo", "--db", old, "--to", new)[1]
    with closing(open_store(old)) as store:
        store.accounts.set_password("eve", "hash")
    with monkeypatch.context() as patch:
        patch.setattr(switch_over, "_finish", lambda *given: (_ for _ in ()).throw(UnavailableError("killed")))
        assert run("move", "--db", old, "--to", new)[0] == 1
    key.unlink()  # it is copied again, and not made anew
    assert "the check is repeated" in move(old, new)
    assert content(old) == content(new)
    code, printed = run("move", "--undo", "--db", old, "--to", new)
    assert (code, "got one that is in use" in printed) == (1, True)
    assert run("move", "--undo", "--db", old)[0] == 1  # nobody confirms it
    assert run("move", "--undo", "--db", old, "--yes")[0] == 0
    open_store(old).close()


def test_rows_that_change_during_the_copy_are_copied_too(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Added, changed and deleted rows, also of tables that others refer to."""
    for kind in KINDS:
        old, new = make(kind), make(other(kind))
        store = open_store(old)
        fill(store)
        store.accounts.set_password("gone", "hash")
        copy_all = copying.copy_all

        def busy(*given: Any, store: Store = store, copy_all: Any = copy_all) -> None:
            copy_all(*given)
            store.accounts.set_password("ada", "another hash")
            store.accounts.set_password("new", "hash")
            store.accounts.remove_user("gone")
            store.submissions.add("later", submission(store.surveys.published("later").survey))
            store.submissions.add("study", submission(store.surveys.published("study").survey, 40, mode="organisation"))

        with monkeypatch.context() as patch:
            patch.setattr(copying, "copy_all", busy)
            move(old, new)
        store.close()
        assert content(old) == content(new)
        assert {row[0] for row in content(new)["users"]} == {"ada", "new"}


class Moving:
    """A server on a database, and the same server on another one afterwards, at the same address."""

    def __init__(self, folder: Path, old: str, new: str) -> None:
        folder.mkdir()
        self.server = ServerProcess(folder)
        self.old, self.new = old, new
        self.survey = bucket_survey()
        with closing(open_store(old)) as store:
            store.surveys.publish(self.survey)
        self.use(old)
        self.load = Load(self.server.url, self.survey)
        self.threads = [threading.Thread(target=self.load.client, daemon=True) for _ in range(3)]

    def use(self, url: str) -> None:
        """Starts the server on a database, instead of the other one."""
        self.server.stop()
        self.server.db = url  # type: ignore[assignment]
        self.server.start()

    def moving(self) -> subprocess.Popen[str]:
        words = [PROGRAM, "move", "--db", self.old, "--to", self.new]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def finish(self) -> None:
        """Checks that each acknowledged record is in the new database exactly once, and no withdrawn one."""
        self.load.ending.set()
        for thread in self.threads:
            thread.join()
        self.server.stop()
        with closing(open_store(self.new)) as store:
            for _ in range(self.survey.batch):  # fewer than a batch are never counted
                store.submissions.add("buckets", bucket(self.survey, 255, 255, os.urandom(15)))
            store.surveys.set_open("buckets", False)
            release_people(store)  # it may have had a release on this day
            tally = tally_of(store, "buckets")
        print(f"{len(self.load.acknowledged):,} acknowledged, {len(self.load.withdrawn):,} withdrawn, {tally.n:,} counted")
        assert set(counts(self.load.acknowledged, tally)) == {1}
        assert set(counts(self.load.withdrawn, tally)) <= {0}


@pytest.fixture
def moving(tmp_path: Path, make: Make) -> Iterator[Callable[[str], Moving]]:
    made: list[Moving] = []

    def start(kind: str) -> Moving:
        made.append(Moving(tmp_path / f"server{len(made)}", make(kind), make(other(kind))))
        for thread in made[-1].threads:
            thread.start()
        return made[-1]

    yield start
    for each in made:
        each.load.ending.set()
        each.server.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_loses_nothing_that_arrives_during_a_move(kind: str, moving: Callable[[str], Moving]) -> None:
    case = moving(kind)
    case.load.wait_for(40)
    began, process = len(case.load.acknowledged), case.moving()
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0, printed
    ended = len(case.load.acknowledged)
    print(f"{ended - began} acknowledged during the move")
    reply = httpx.post(
        f"{case.server.url}/api/v1/surveys/buckets/submissions",
        content=bucket(case.survey, 254, 254, os.urandom(15)).to_json(),
        headers={"Content-Type": "application/json"},
        timeout=30,
    )
    assert (reply.status_code, "Retry-After" in reply.headers) == (503, True)
    assert httpx.get(f"{case.server.url}/readyz", timeout=30).status_code == 503
    case.use(case.new)
    case.load.wait_for(ended + 20)
    case.finish()


def usable(url: str) -> bool:
    """Whether a server could use a database now."""
    database = Database.at(url)
    if database.path is not None and not database.path.exists():
        return False
    try:
        if not side_of(database).table_names():
            return False
        open_store(database).close()
    except MovedError:
        return False
    return True


def moved_until(number: int, old: str, new: str) -> tuple[int, int]:
    """Moves until a statement of this number is reached, 0 for none; gives the exit code, and how many statements it took in all."""
    words = [sys.executable, KILLED_MOVE, str(number), "move", "--db", old, "--to", new]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode, int(ended.stdout.split()[-1]) if ended.returncode == 0 else 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_move_leaves_one_database_complete(
    kind: str, make: Make, moving: Callable[[str], Moving], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before any of its statements, beside a server. Both databases are never usable, and nothing acknowledged is lost."""
    like = make(kind)
    with closing(open_store(like)) as store:
        store.surveys.publish(bucket_survey())
    _, statements = moved_until(0, like, make(other(kind)))
    dice, states = random.Random(5), list[tuple[bool, bool]]()
    for number in itertools.count():
        if len(states) >= KILLS:
            break
        monkeypatch.setenv("DENIABLE_KEY_FILE", str(tmp_path / f"{number}.key"))  # each case has a new server
        case = moving(kind)
        case.load.wait_for(20)
        while moved_until(1 + dice.randrange(statements), case.old, case.new)[0] != 0:
            states.append((usable(case.old), usable(case.new)))
            assert states[-1] != (True, True)
            if states[-1] == (False, True):  # it had only files to tidy up
                break
        assert (usable(case.old), usable(case.new)) == (False, True)
        case.use(case.new)
        case.load.wait_for(len(case.load.acknowledged) + 20)
        case.finish()
    print(f"{len(states)} kills among {statements} statements; old and new usable after them: {Counter(states)}")
    assert KILLS < 20 or {(True, False), (False, False)} <= {*states}, "killed while it copied, and after that"


def test_a_move_that_opens_the_new_database_too_early_is_found_out(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the kills: without the mark of the new database, a server could use it while it is not complete."""
    old, new = make("sqlite"), make("postgresql")
    with closing(open_store(old)) as store:
        fill(store)
    add = move_marks.add

    def unmarked(connection: Any, mark: MoveMark) -> None:
        if mark.state != "unfinished":
            add(connection, mark)

    seen = []
    copy_all = copying.copy_all

    def looked_at(*given: Any) -> None:
        seen.append(usable(new))
        copy_all(*given)

    monkeypatch.setattr(copying, "copy_all", looked_at)
    run("move", "--db", old, "--to", new)
    monkeypatch.setattr(move_marks, "add", unmarked)
    second = make("postgresql")
    run("move", "--undo", "--db", old, "--yes")
    monkeypatch.setattr(copying, "copy_all", lambda *given: (seen.append(usable(second)), copy_all(*given)))
    run("move", "--db", old, "--to", second)
    assert seen == [False, True]
