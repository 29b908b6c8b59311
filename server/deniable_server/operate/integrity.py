"""Integrity checks: is a file one of our databases, whole, and opened by its key?"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from deniable_server.store import open_store
from deniable_server.store.protocol import Store, by_hand, estimated

_TABLES = frozenset({"surveys", "submissions", "tallies", "users"})  # which every version has had


def require_database(path: Path) -> None:
    """Checks the file itself: its tables are ours, and SQLite finds no page damaged.

    Messages do not name the file, which may be a copy: the caller names the original.

    Raises:
        ValueError: The file is empty, cut, damaged, or another program's.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            problems = [text for (text,) in connection.execute("PRAGMA integrity_check(1)")]
    except sqlite3.DatabaseError as error:
        raise ValueError(f"it must be a whole SQLite database ({error})") from None
    if not tables >= _TABLES:
        raise ValueError(f"it must be a database of deniable-server, got {'one of another program' if tables else 'an empty one'}")
    if problems != ["ok"]:
        raise ValueError("it must be a whole SQLite database (some of its pages are damaged)")


def _require_last_page(path: Path) -> None:
    """Raises ValueError for a copy that ends inside its last page, which SQLite fills with zeros."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    if path.stat().st_size < pages * size:
        raise ValueError("it must be a whole SQLite database (its end is missing)")


def require_secrets(store: Store) -> None:
    """Opens what is sealed beside the records, which were opened with the store: secrets of webhooks and of second factors.

    Raises:
        UnavailableError: The key is another one.
    """
    for webhook, _ in store.webhooks.all():
        store.webhooks.secret(webhook.id)
    for user in store.accounts.users():
        store.factors.secret(user)


def count_again(store: Store) -> int:
    """Counts every survey's records anew, and returns how many there are.

    Raises:
        ValueError: The records of a survey and what is kept of their counts differ.
    """
    records = 0
    for published in store.surveys.all():
        survey = published.survey
        for parts in (estimated(survey), by_hand(survey)):
            kept, again = store.submissions.tally(survey.id, parts), store.submissions.recount(survey.id, parts)
            if (kept.n, kept.to_bytes()) != (again.n, again.to_bytes()):  # a record without a bit changes n alone
                raise ValueError(f"it must be whole: its records of {survey.id} and their counts differ")
            records += kept.n
    return records


def checked(path: Path) -> int:
    """Checks a database and its key, `path` and `path.key`, as thoroughly as can be. Returns how many records are counted.

    An older version's file is brought up to date: check a copy.

    Raises:
        ValueError: The file is not whole, or not ours.
        UnavailableError: The key is another one.
        FullError: There is no room.
    """
    require_database(path)
    _require_last_page(path)
    with closing(open_store(path)) as store:
        require_secrets(store)
        return count_again(store)
