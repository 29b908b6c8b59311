"""Files of every version before this one are brought up to date without loss.

`history/` has what each version of the tables held once its own code had filled it, as SQL, and what that code was told to keep.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from deniable.wire.access_codes import invitation_hash
from deniable.wire.part import Part
from deniable.wire.record import unpack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store import open_store
from deniable_server.store.accounts import ApiKey
from deniable_server.store.errors import ConflictError, StoreError, UnavailableError
from deniable_server.store.people import Person
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role
from deniable_server.store.sql import tallies
from deniable_server.store.sqlite import schema

HISTORY = Path(__file__).with_name("history")
SETS = (schema.migrations, schema.accounts, schema.people, schema.life, schema.drafts, schema.webhooks)
VERSIONS = ("first", "second", "second_accounts", "third", "fourth")


class Sent(NamedTuple):
    """What an old server was sent; its id comes from its name, as all that is random in these files comes from a name."""

    survey: str
    name: str
    count: int
    group: str | None
    mode: Any
    reports: str
    invitation: str | None

    def submission(self, store: Store) -> Submission:
        digest = store.surveys.published(self.survey).survey.digest
        code = bytes.fromhex(self.invitation) if self.invitation else None
        return Submission(id_of(self.name), digest, self.count, bytes.fromhex(self.reports), self.group, self.mode, code)


class History(NamedTuple):
    """What a version was told: what it was sent, what was withdrawn of it, and its invitations."""

    sent: list[Sent]
    withdrawn: list[list[str]]
    codes: list[str]

    @classmethod
    def of(cls, version: str) -> History:
        told = json.loads((HISTORY / f"{version}.json").read_text())
        return cls([Sent(*one) for one in told["sent"]], told["withdrawn"], told["codes"])

    def kept(self) -> list[Sent]:
        gone = {name for _, name in self.withdrawn}
        return [one for one in self.sent if one.name not in gone]


def id_of(name: str) -> bytes:
    return sha256(name.encode()).digest()[:16]


def write(version: str, path: Path) -> Path:
    """A file as this version left it, with its key."""
    path.with_name(f"{path.name}.key").write_text("k" * 43 + "\n")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((HISTORY / f"{version}.sql").read_text())
        connection.execute("PRAGMA journal_mode = WAL")
    return path


def check(version: str, path: Path) -> None:
    """Opens the file as it is now, and expects all that its version was told."""
    history = History.of(version)
    with closing(open_store(path)) as store:
        surveys = {published.survey.id: published.survey for published in store.surveys.all()}
        assert sorted(surveys) == sorted({one.survey for one in history.sent})
        assert {published.published_on for published in store.surveys.all()} <= {"2026-11-22"}
        for name in surveys:
            assert store.surveys.published(name).is_open
            store.surveys.set_open(name, False)  # all that waits is counted
            expected: dict[Part, list[Sent]] = {}
            for one in history.kept():
                if one.survey == name:
                    expected.setdefault(Part(one.group, one.mode), []).append(one)
            assert store.submissions.counts(name) == {part: sum(one.count for one in all_) for part, all_ in expected.items()}
            for part, all_ in expected.items():
                bits = unpack(surveys[name], b"".join(bytes.fromhex(one.reports) for one in all_), sum(one.count for one in all_))
                wanted = Tally.from_bits(bits).to_bytes()
                assert store.submissions.tally(name, [part]).to_bytes() == store.submissions.recount(name, [part]).to_bytes() == wanted
            store.surveys.set_open(name, True)
            assert sum(span.n for span in store.life.spans(name)) == sum(n for part, n in expected_n(expected) if part.mode != "by_hand")
        assert not any(store.submissions.add(one.survey, one.submission(store)) for one in history.kept())
        for one in history.sent:
            if one not in history.kept():
                with pytest.raises(ConflictError):
                    store.submissions.add(one.survey, one.submission(store))
        if "staff" in surveys:
            spent = {one.invitation for one in history.sent if one.invitation}
            assert store.access.invitations("staff") == (len(history.codes), len(spent)) == (20, 13)
            usable = {code for code in history.codes if store.access.usable("staff", invitation_hash("staff", bytes.fromhex(code)))}
            assert usable == set(history.codes) - spent
        assert {user: store.accounts.password_hash(user) for user in store.accounts.users()} == {"ada": "hash of ada", "ben": "hash of ben"}
        for name in surveys:  # before there were roles, every account might do everything
            assert store.roles.members(name) == {"ada": Role.OWNER, "ben": Role.OWNER}
        assert store.people.all() == [Person("ada", True, False), Person("ben", True, False)]
        if version not in ("first", "second"):
            assert store.accounts.session_user(b"s" * 32, 200) == "ada"
            lab = ApiKey("lab", ("submit", "read"), None, "2026-11-20")
            assert store.accounts.all_keys() == [ApiKey("clinic", ("submit",), "clinics", "2026-11-21"), lab]
            assert store.accounts.key(b"k" * 32) == lab


def expected_n(expected: dict[Part, list[Sent]]) -> list[tuple[Part, int]]:
    return [(part, sum(one.count for one in all_)) for part, all_ in expected.items()]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_of_any_version_is_brought_up_to_date_without_loss(version: str, tmp_path: Path) -> None:
    check(version, write(version, tmp_path / "old.db"))
    check(version, tmp_path / "old.db")  # once more: it is up to date


def test_the_files_of_history_have_the_tables_of_their_version(tmp_path: Path) -> None:
    columns = {}
    for version in VERSIONS:
        with closing(sqlite3.connect(write(version, tmp_path / f"{version}.db"))) as connection:
            columns[version] = [row[1] for row in connection.execute("PRAGMA table_info(submissions)")]
    by_hand = ["id", "survey", "count", "reports", "label", "by_hand"]
    assert columns == {
        "first": by_hand[:4],
        "second": by_hand,
        "second_accounts": by_hand,
        "third": ["key", "id", "survey", "label", "by_hand", "count", "reports"],
        "fourth": ["key", "id", "survey", "label", "mode", "count", "reports"],
    }


def tables(path: Path) -> list[tuple[str, ...]]:
    """All tables of a file, with how they were made."""
    with closing(sqlite3.connect(path)) as connection:
        return list(
            connection.execute("SELECT name, replace(sql, 'IF NOT EXISTS ', '') FROM sqlite_master WHERE type = 'table' ORDER BY name")
        )


def test_a_new_file_of_the_tests_is_as_one_that_all_migrations_have_made(tmp_path: Path) -> None:
    """Theirs is a copy (`kit/servers/cheap.py`)."""
    open_store(tmp_path / "copied.db").close()
    with closing(sqlite3.connect(tmp_path / "made.db")) as connection:
        schema.migrate(connection)
    made, copied = dump(tmp_path / "made.db"), dump(tmp_path / "copied.db")
    assert made == copied
    assert sum("deniable_server" in line for line in made) == sum(len(list(each._migrations)) for each in SETS)


def dump(path: Path) -> list[str]:
    """All of a file in SQL, but for the times of its migrations."""
    with closing(sqlite3.connect(path)) as connection:
        (due,) = connection.execute("PRAGMA user_version").fetchone()
        return [str(due), *(re.sub(r"'20\d\d-[^']*'", "'a time'", line) for line in connection.iterdump())]


def test_a_file_of_the_time_before_passkeys_gets_their_table(tmp_path: Path) -> None:
    path = write("fourth", tmp_path / "old.db")
    check("fourth", path)
    whole = tables(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE passkeys")
        gone = connection.execute(
            "DELETE FROM _sqlite_migrations WHERE migration_set = 'deniable_server_people' AND name IN ('fourth', 'fifth')"
        )
        assert gone.rowcount == 2
        connection.executescript("DROP TABLE audit; DROP TABLE audit_head")
    check("fourth", path)
    assert tables(path) == whole


def left_out(name: str) -> Callable[[pytest.MonkeyPatch], None]:
    def break_(patch: pytest.MonkeyPatch) -> None:
        (step,) = (step for step in schema.migrations._migrations if step.name == name)
        patch.setattr(step, "fn", lambda db: None)

    return break_


def not_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tallies, "count_again", lambda *_: None)


def one_part_for_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(schema, "part", lambda label, mode: Part(None))


BREAKS = {"second": "first", "third": "second", "fourth": "third"}


@pytest.mark.parametrize(("step", "version"), BREAKS.items())
def test_a_step_that_is_left_out_would_be_found_out(step: str, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(version, tmp_path / "old.db")
    left_out(step)(monkeypatch)
    with pytest.raises((AssertionError, StoreError)):
        check(version, tmp_path / "old.db")


@pytest.mark.parametrize("break_", [not_counted, one_part_for_all])
def test_a_step_that_loses_counts_would_be_found_out(
    break_: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("second", tmp_path / "old.db")
    break_(monkeypatch)
    with pytest.raises(AssertionError):
        check("second", tmp_path / "old.db")


def test_processes_that_open_an_old_file_together_bring_it_up_to_date_once(tmp_path: Path) -> None:
    for number in range(10):
        path = write("second", tmp_path / str(number))
        with ThreadPoolExecutor(4) as pool:
            stores = list(pool.map(open_store, [path] * 4))
        assert [store.submissions.counts("clinics")[Part("North")] for store in stores] == [13] * 4
        for store in stores:
            store.close()


def test_a_file_that_cannot_be_brought_up_to_date_stays_as_it_was(tmp_path: Path) -> None:
    path = write("first", tmp_path / "old.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE withdrawn (mine)")
        before = list(connection.iterdump())
    with pytest.raises(UnavailableError, match="withdrawn"):
        open_store(path)
    with closing(sqlite3.connect(path)) as connection:
        assert list(connection.iterdump()) == before
        connection.execute("DROP TABLE withdrawn")
    check("first", path)
