"""Runs `deniable-server` with one thing broken on purpose: `python launch.py VARIANT [arguments]`.

The controls of the tests that kill the server or race it: a test that cannot tell a broken server from a right one proves nothing.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from deniable.codes import invitation_hash
from deniable.submission import Submission
from deniable_server.cli import main
from deniable_server.store import InvitationError, writer
from deniable_server.store.sqlite import SqliteStore

SLOW_DISK = 0.005  # seconds that a commit takes in every variant, so that a kill can fall into one


def slow_disk() -> None:
    commit = writer.Writer._commit

    def slow(self: writer.Writer, connection: sqlite3.Connection, batch: list[Any]) -> None:
        time.sleep(SLOW_DISK)
        commit(self, connection, batch)

    writer.Writer._commit = slow  # type: ignore[method-assign]


def acknowledge_before_commit() -> None:
    def run(self: writer.Writer, work: Callable[[sqlite3.Connection], Any]) -> Any:
        self._jobs.put(writer._Job(work))
        return True

    writer.Writer.run = run  # type: ignore[method-assign]


def spend_in_two_steps() -> None:
    add = SqliteStore.add

    def look_then_spend(self: SqliteStore, survey_id: str, submission: Submission) -> bool:
        own = [survey_id, invitation_hash(survey_id, submission.invitation or b"")]
        with self._reading() as connection:
            if not connection.execute("SELECT 1 FROM invitations WHERE survey = ? AND hash = ? AND NOT spent", own).fetchone():
                raise InvitationError("spent")
        added = add(self, survey_id, replace(submission, invitation=None))
        self._writer.run(lambda c: c.execute("UPDATE invitations SET spent = 1 WHERE survey = ? AND hash = ?", own) and None)
        return added

    SqliteStore.add = look_then_spend  # type: ignore[method-assign]


VARIANTS: dict[str, Callable[[], None]] = {
    "right": lambda: None,
    "acknowledge-before-commit": acknowledge_before_commit,
    "spend-in-two-steps": spend_in_two_steps,
}

if __name__ == "__main__":
    variant = sys.argv.pop(1)
    slow_disk()
    if sys.argv[1] == "serve":
        VARIANTS[variant]()
    main()
