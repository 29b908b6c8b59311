"""Move of a database to one of the other kind: copy, switch-over, check, and the way back from each step.

The new database is marked as unfinished from its first moment, so no server uses it. The tables are copied while respondents send. Then
one transaction of the old database keeps all writers out, copies what came meanwhile, and marks the old database as moved: from its commit
on, servers there refuse to write. Both databases are compared, and the mark of the new one is removed. So at any moment either the old
database is complete and in use, or the new one is complete; a move that was interrupted is finished by another run, or taken back.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from deniable_server.config import Database, copy_key
from deniable_server.store import open_store
from deniable_server.store.audit import LogCheck, check, doing
from deniable_server.store.errors import MovedError, StoreError
from deniable_server.store.moving import copying
from deniable_server.store.moving.layout import tables
from deniable_server.store.moving.move_side import MoveSide
from deniable_server.store.moving.sides import side_of
from deniable_server.store.sql import move_marks
from deniable_server.store.sql.audit import append, head_of
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.encryption import Seal
from deniable_server.store.sql.intake import require_key
from deniable_server.store.sql.move_marks import MoveMark

FEW = 500  # changed rows: with fewer, the next pass keeps writers out
MOST_PASSES = 5  # before it
CONNECTIONS = 5  # to PostgreSQL, in addition to the servers' own
ATTEMPTS = 20  # to get the lock, each as long as a request waits

Notify = Callable[[str], None]


@dataclass(frozen=True)
class Moved:
    """A finished move.

    Attributes:
        rows: The number of rows of each table, equal in both databases.
        audit: The result of verifying the audit log of the new database.
    """

    rows: dict[str, int]
    audit: LogCheck


def move(old: Database, new: Database, notify: Notify) -> Moved:
    """Copies every table of a database into a new one of the other kind, and ends the use of the old one.

    An interrupted move is begun again, or finished if the old database is marked already.

    Args:
        old: The database, which servers may use meanwhile.
        new: The database of the other kind: an SQLite file that does not exist, or an empty database on PostgreSQL.
        notify: Called with a line for each step.

    Raises:
        ValueError: The databases are of the same kind, the new one is not empty, or the layouts or keys differ.
        FileNotFoundError: The old database or its key is missing.
        MissingExtraError: The driver of PostgreSQL is not installed.
        UnavailableError: A database cannot be used.
        MovedError: The old database was moved before.
    """
    _require_other_kind(old, new)
    source, target = side_of(old), side_of(new)
    with source.failing(), target.failing(), target.exclusive():
        _require_source(old, source)
        if mark := source.mark():
            _require_same_move(mark, source, target)
            _give_key(old, new)
            notify(f"{source.name} is marked as moved already: the check is repeated")
        else:
            _require_room(source, target)
            mark = MoveMark(secrets.token_hex(16), "moved", target.name)
            has_made_key = _give_key(old, new)
            _copy(_Step(source, target, mark, notify), new.key if has_made_key else None)
        return _finish(_Step(source, target, mark, notify), new)


def undo(old: Database, new: Database | None) -> None:
    """Makes the old database of a move usable again; discards the new one if it is named and was never in use.

    Raises:
        ValueError: The old database was not moved, or the new one is in use.
        UnavailableError: A database cannot be used.
    """
    source = side_of(old)
    with source.failing():
        mark = source.mark() if source.table_names() else None
        if mark is None or mark.state != "moved":
            raise ValueError(f"{source.name} was not moved: there is nothing to take back")
        if new is not None:
            _discard_unfinished(side_of(new), mark)
        _take_back(source, mark)


def forget_move(copy: Path) -> None:
    """Removes the mark "moved" from a copy of an SQLite database, such as a backup, which is then usable. Another file stays as it is."""
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(copy)) as connection, connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [move_marks.TABLE]).fetchone():
            connection.execute("DELETE FROM move_marks WHERE state = 'moved'")


@dataclass(frozen=True)
class _Step:
    """Both databases of a move, the mark of the old one, and the callback."""

    source: MoveSide
    target: MoveSide
    mark: MoveMark
    notify: Notify


def _require_other_kind(old: Database, new: Database) -> None:
    if (old.path is None) == (new.path is None):
        kind = "SQLite" if old.path else "PostgreSQL"
        copies = "deniable-server backup and restore" if old.path else "pg_dump and pg_restore"
        raise ValueError(f"--to must be of another kind than --db, got {kind} for both: between two of a kind use {copies}")


def _require_source(old: Database, source: MoveSide) -> None:
    """Checks the old database as a server would, and brings it to the newest version."""
    if old.path is not None and not old.path.exists():
        raise FileNotFoundError(f"{source.name} does not exist")
    if not old.key.exists():
        raise FileNotFoundError(f"the key file {old.key} of {source.name} is missing: put it back first")
    with closing(open_store(old, writing=False)) as store:
        store.surveys.headings()
    _require_layout(source)


def _require_layout(side: MoveSide) -> None:
    """Raises ValueError if a database has other tables or columns than this version makes."""
    expected = {table.name: set(table.columns) for table in tables()} | {move_marks.TABLE: set(MoveMark._fields)}
    columns = side.columns()
    if wrong := [name for name in expected if expected[name] != columns.get(name)]:
        raise ValueError(f"{side.name} must have the tables of this version of deniable-server, got other ones: {', '.join(wrong[:5])}")


def _require_same_move(mark: MoveMark, source: MoveSide, target: MoveSide) -> None:
    """Raises MovedError unless the new database is the unfinished one of this move."""
    other = target.mark()
    if other is None or (other.id, other.state) != (mark.id, "unfinished"):
        raise MovedError(move_marks.moved(source.name, mark.other))
    _require_layout(target)


def _require_room(source: MoveSide, target: MoveSide) -> None:
    """Discards what an interrupted move from the same database left. Raises ValueError if there is anything else."""
    if not (names := target.table_names()):
        return
    mark = target.mark()
    if mark is None or mark.state != "unfinished":
        raise ValueError(f"{target.name} must be empty, has {len(names)} table{'' if len(names) == 1 else 's'}: name a new database")
    if mark.other != source.name:
        raise ValueError(f"{target.name} must be empty, has an unfinished move from {mark.other}: finish it, or name a new database")
    target.discard()


def _give_key(old: Database, new: Database) -> bool:
    """Copies the key, unless the new database has it. Returns whether it did. Raises ValueError if it has another key."""
    if not new.key.exists():
        new.key.parent.mkdir(parents=True, exist_ok=True)
        copy_key(old.key, new.key)
        return True
    if new.key.read_text().strip() != old.key.read_text().strip():
        raise ValueError(f"the key file {new.key} must have the key of {old}, got another one: move it away, or name another file for it")
    return False


def _copy(step: _Step, new_key: Path | None) -> None:
    """Copies all data and marks the old database. An error before that leaves nothing behind; the copied key is `new_key`."""
    committing = False
    try:
        step.target.create(MoveMark(step.mark.id, "unfinished", step.source.name))
        _copy_while_in_use(step)
        with step.source.writing() as connection:
            _begin(step.source, connection)
            _switch_over(step, connection)
            committing = True  # from here on, the old database may be marked, whatever is reported
            connection.execute("COMMIT")
    except BaseException:
        if not committing:
            with suppress(Exception):  # a database that cannot be reached keeps its mark, and the next run discards it
                if (other := step.target.mark()) and other.id == step.mark.id:
                    step.target.discard()
            if new_key:
                new_key.unlink(missing_ok=True)
        raise


def _copy_while_in_use(step: _Step) -> None:
    """Copies a snapshot, and then later ones until few rows are different."""
    step.notify(f"copying {len(tables())} tables of {step.source.name}")
    copying.copy_all(tables(), step.source, step.target)
    for _ in range(MOST_PASSES):
        with step.source.reading() as old:
            if copying.catch_up(tables(), old, step.target) <= FEW:
                return


def _switch_over(step: _Step, connection: Connection) -> None:
    """Copies the last changes while no one else can write, and marks the old database in the same transaction."""
    if mark := move_marks.find(connection):
        raise MovedError(move_marks.moved(step.source.name, mark.other))
    append(connection, doing("server.move", step.target.name))
    copying.catch_up(tables(), step.source.streaming(connection), step.target)
    move_marks.add(connection, step.mark)
    step.notify(f"servers on {step.source.name} refuse to write from now on")


def _finish(step: _Step, new: Database) -> Moved:
    """Compares both databases and opens the new one for servers. A difference takes the move back."""
    step.notify("comparing all rows")
    try:
        rows = copying.compare(tables(), step.source, step.target)
        audit = _check(step.target, new)
    except (ValueError, StoreError):
        _take_back(step.source, step.mark)
        raise
    with step.source.writing() as old, step.target.writing() as connection:
        _begin(step.source, old)  # so that no one takes the move back meanwhile
        if move_marks.find(old) != step.mark:
            raise MovedError(f"the move from {step.source.name} was taken back meanwhile")
        step.target.begin(connection)
        move_marks.remove(connection)
        connection.execute("COMMIT")
        old.execute("ROLLBACK")
    with closing(open_store(new, CONNECTIONS)) as store, suppress(StoreError):  # else the first server does it
        store.rewrite()
    return Moved(rows, audit)


def _check(target: MoveSide, new: Database) -> LogCheck:
    """Decrypts a waiting submission with the new database's key, and verifies its audit log. Raises UnavailableError for another key."""
    with target.reading() as connection:
        require_key(connection, Seal.of(new.key))
    with target.reading() as connection:
        head = head_of(connection)
        return check(iter(connection.execute("SELECT number, entry, hash FROM audit ORDER BY number")), head)


def _take_back(source: MoveSide, mark: MoveMark) -> None:
    """Removes the mark of the old database, whose servers then write again."""
    with source.writing() as connection:
        _begin(source, connection)
        move_marks.remove(connection)
        append(connection, doing("server.move", mark.other, "taken back"))
        connection.execute("COMMIT")


def _discard_unfinished(target: MoveSide, mark: MoveMark) -> None:
    """Discards the new database of a move. Raises ValueError if it is in use, or another move's."""
    with target.failing(), target.exclusive():
        if not target.table_names():
            return
        other = target.mark()
        if other is None or (other.id, other.state) != (mark.id, "unfinished"):
            raise ValueError(f"{target.name} must be the unfinished database of this move, got one that is in use: nothing was changed")
        target.discard()


def _begin(side: MoveSide, connection: Connection) -> None:
    """Begins a transaction without other writers; retries while one of them writes for a long time."""
    for _ in range(ATTEMPTS - 1):
        try:
            return side.begin(connection)
        except Exception:
            with suppress(Exception):
                connection.execute("ROLLBACK")
    side.begin(connection)
    return None
