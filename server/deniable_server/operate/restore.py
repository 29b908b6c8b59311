"""`deniable-server restore`: a backup becomes the database of a server, once all of it was read and counted again."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from deniable_server.config import key_file
from deniable_server.operate import locked
from deniable_server.store import open_store
from deniable_server.store.protocol import by_hand, estimated


def restore(backup: Path, key: Path | None, password: str | None, db: Path) -> int:
    """Puts a backup and its key in the place of a database that is not there. Returns how many records are counted.

    key: the file of the server's key, if it is not beside the backup; password: of a locked backup, which has the key in itself.
    Everything is checked in a folder beside `db` first, so nothing is there if anything is wrong. Raises FileExistsError where there is a
    database, ValueError where the backup is not whole, FileNotFoundError without a key, UnavailableError for another key, OSError.
    """
    places = [db, key_file(db), *(db.with_name(db.name + end) for end in ("-wal", "-shm"))]
    if there := [str(path) for path in places if path.exists()]:
        raise FileExistsError(f"{', '.join(there)}: there is a database already; move it away first")
    with tempfile.TemporaryDirectory(prefix="deniable-restore-", dir=db.absolute().parent) as folder:
        whole = Path(folder) / "whole.db"
        if locked.is_locked(backup):
            if password is None:
                raise ValueError(f"{backup} is locked with a password: --password-env VAR")
            locked.unlock(backup, password, whole, key_file(whole))
        else:
            _copy(backup, whole)
            _copy(key or key_file(backup), key_file(whole))
        records = _checked(whole)
        os.link(key_file(whole), key_file(db))
        try:
            os.link(whole, db)
        except BaseException:
            key_file(db).unlink()
            raise
    return records


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as file, locked.new_file(target) as new:
        shutil.copyfileobj(file, new, 1 << 20)
        new.flush()
        os.fsync(new.fileno())


def _checked(db: Path) -> int:
    """Opens it as a server does, with what waits, and counts every survey anew. Raises ValueError where that gives something else."""
    store, records = open_store(db), 0
    try:
        for published in store.surveys.all():
            survey = published.survey
            for parts in (estimated(survey), by_hand(survey)):
                kept, again = store.submissions.tally(survey.id, parts), store.submissions.recount(survey.id, parts)
                if (kept.n, kept.to_bytes()) != (again.n, again.to_bytes()):  # a record without a bit changes n alone
                    raise ValueError(f"the backup must be whole: its records of {survey.id} and their counts differ")
                records += kept.n
        store.rewrite()
    finally:
        store.close()
    return records
