"""Restore of a backup as a server's database, after a complete check and recount."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from deniable_server.config import key_file
from deniable_server.operate import locked
from deniable_server.operate.integrity import checked
from deniable_server.store import open_store
from deniable_server.store.moving.switch_over import forget_move
from deniable_server.store.protocol import Store


@contextmanager
def unpacked(backup: Path, key: Path | None, password: str | None, beside: Path) -> Iterator[Path]:
    """Yields a private copy of a backup, with its key beside it, usable even if its database was moved. Both are gone at the end.

    Args:
        backup: A copy that `deniable-server backup` made.
        key: The file of the server's key; None for `backup.key`.
        password: The password of a locked backup, which contains the key.
        beside: The copy is made in a new folder beside this file, such as the server's database: its key may be there, too.

    Raises:
        ValueError: The backup is locked, and the password is missing or wrong, or the file is not whole.
        FileNotFoundError: The key is missing.
        OSError: The copy cannot be made; the disk may be full.
    """
    with tempfile.TemporaryDirectory(prefix="deniable-restore-", dir=beside.absolute().parent) as folder:
        whole = Path(folder) / "whole.db"
        if locked.is_locked(backup):
            if password is None:
                raise ValueError(f"{backup} is locked with a password: --password-env VAR")
            locked.unlock(backup, password, whole, key_file(whole))
        else:
            secret = key or key_file(backup)
            if not secret.exists():
                raise FileNotFoundError(f"the server's key is not in {secret}: name its file with --key FILE")
            _copy(backup, whole)
            _copy(secret, key_file(whole))
        forget_move(whole)
        yield whole


def restore(backup: Path, key: Path | None, password: str | None, db: Path, prepare: Callable[[Store], None] | None = None) -> int:
    """Creates a database and its key from a backup. Returns the number of counted records.

    Everything is checked in a folder beside `db` first, so nothing is created if anything is wrong. All sessions and sign-up links end:
    people who were logged out or removed after the backup do not come back.

    Args:
        backup: A copy that `deniable-server backup` made.
        key: The file of the server's key; None for `backup.key`.
        password: The password of a locked backup.
        db: The new database.
        prepare: Called with the checked store before the database appears; an error of it leaves nothing behind.

    Raises:
        FileExistsError: There is a database.
        ValueError: The backup is not whole.
        FileNotFoundError: The key is missing.
        UnavailableError: The key is another one.
        OSError: The files cannot be written.
    """
    targets = [db, key_file(db), *(db.with_name(db.name + end) for end in ("-wal", "-shm"))]
    if existing := [str(path) for path in targets if path.exists()]:
        raise FileExistsError(f"{', '.join(existing)}: there is a database already; move it away first")
    with unpacked(backup, key, password, db) as whole:
        try:
            checked(whole)
        except ValueError as error:
            raise ValueError(f"the backup {backup} cannot be restored: {error}") from None
        with closing(open_store(whole)) as store:
            if prepare:
                prepare(store)
            store.accounts.end_all()
            store.rewrite()
            records = sum(sum(counts.values()) for counts in store.submissions.all_counts().values())
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
