"""Marks of a move: databases that were moved, and unfinished copies.

The transaction that ends the writing to a database sets its mark, and every later transaction reads it first.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from deniable_server.store.errors import MovedError
from deniable_server.store.sql.connection import Connection

TABLE = "move_marks"


class MoveMark(NamedTuple):
    """The mark of a database.

    Attributes:
        id: The random id of the move.
        state: "moved": all its data is in another database. "unfinished": its data is not complete, or not checked yet.
        other: The other database of the move, without a password.
    """

    id: str
    state: Literal["moved", "unfinished"]
    other: str


def find(connection: Connection) -> MoveMark | None:
    """Returns the mark of a database, or None for one that is in use."""
    row = connection.execute("SELECT id, state, other FROM move_marks").fetchone()
    return None if row is None else MoveMark(*row)


def add(connection: Connection, mark: MoveMark) -> None:
    """Stores a mark. The transaction is the caller's."""
    connection.execute("INSERT INTO move_marks (id, state, other) VALUES (?, ?, ?)", mark)


def remove(connection: Connection) -> None:
    """Removes the mark. The transaction is the caller's."""
    connection.execute("DELETE FROM move_marks")


def require_unmarked(connection: Connection) -> None:
    """Refuses a transaction of a server whose database was moved meanwhile.

    Raises:
        MovedError: The database has a mark.
    """
    if find(connection):
        raise MovedError("the server's database was moved; nothing was stored, send the same again later")


def require_open(connection: Connection, name: str, *, writing: bool) -> None:
    """Refuses to open a database with a mark; one that was moved can still be read.

    Args:
        connection: An open connection.
        name: The database's name in messages.
        writing: Whether it is opened for writing.

    Raises:
        MovedError: The database has a mark.
    """
    mark = find(connection)
    if mark and mark.state == "unfinished":
        raise MovedError(f"the move to the database {name} is not finished: run the same `deniable-server move` again")
    if mark and writing:
        raise MovedError(moved(name, mark.other))


def moved(name: str, other: str) -> str:
    """Returns the message for operators about a database that was moved."""
    return f"the database {name} was moved to {other}: use that one as --db, or take the move back with `deniable-server move --undo`"
