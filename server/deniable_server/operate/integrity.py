"""Integrity checks of a database file and its key."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from deniable_server.store import open_store
from deniable_server.store.protocol import Store, by_hand, estimated

_TABLES = frozenset({"surveys", "submissions", "tallies", "users"})  # which every version has had


def require_database(path: Path) -> None:
    """Checks that a file has this program's tables, and that SQLite finds no damaged page.

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
    """Decrypts the secrets of webhooks and second factors.

    Raises:
        UnavailableError: The key is another one.
    """
    for webhook, _ in store.webhooks.all():
        store.webhooks.secret(webhook.id)
    for user in store.accounts.users():
        store.factors.secret(user)


def count_again(store: Store) -> int:
    """Counts every survey's records again. Returns their number.

    Raises:
        ValueError: A survey's records differ from its stored counts.
    """
    records = 0
    for survey_id in store.surveys.ids():
        survey = store.surveys.published(survey_id).survey
        if store.surveys.wrongly_compiled([survey]):
            raise ValueError(f"it must be whole: its compiled survey {survey_id} differs from the definition")
        for parts in (estimated(survey), by_hand(survey)):
            stored, again = store.submissions.tally(survey.id, parts), store.submissions.recount(survey.id, parts)
            if (stored.n, stored.to_bytes()) != (again.n, again.to_bytes()):  # a record without a bit changes n alone
                raise ValueError(f"it must be whole: its records of {survey.id} and their counts differ")
            records += stored.n
    return records


def checked(path: Path) -> int:
    """Checks a database and its key, `path` and `path.key`, completely. Returns the number of counted records.

    A file of an older version is migrated: check a copy.

    Raises:
        ValueError: The file is not complete, or another program's.
        UnavailableError: The key is another one.
        FullError: There is no disk space.
    """
    require_database(path)
    _require_last_page(path)
    with closing(open_store(path)) as store:
        require_secrets(store)
        return count_again(store)
