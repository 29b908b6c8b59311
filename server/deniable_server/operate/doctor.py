"""Checks of an installation for `deniable-server doctor`. Each check yields its faults in words."""

from __future__ import annotations

import errno
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from deniable.errors import DeniableError
from deniable.extras import missing
from deniable.verify.released import Released
from deniable.verify.replies import Reply, broken_headers
from deniable_server.config import Config, Database, key_file
from deniable_server.operate import locked
from deniable_server.operate.integrity import checked, require_database, require_secrets
from deniable_server.operate.restore import unpacked
from deniable_server.store import open_store
from deniable_server.store.errors import BusyError, FullError
from deniable_server.store.protocol import Store

LEAST_FREE = 256 << 20  # bytes: for the write-ahead log, and for rewriting the file
OLDEST_BACKUP = 86_400  # seconds
TRIES = 3  # to open a database that another process writes to
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_OPTIONAL = {
    "a survey from an XLSForm": "xlsform",
    "a Parquet or Arrow file": "parquet",
    "a report to be edited (.docx)": "docx",
    "a report to be printed (.pdf)": "pdf",
    "a database on PostgreSQL": "postgres",
    "single sign-on": "sso",
}
"""Optional features, as researchers know them, and the key of their packages in `deniable.extras`."""
_HERE = ("localhost", "127.0.0.1", "::1")


class NotCheckedError(Exception):
    """A check that cannot run, which is not a fault; the message says why."""


@dataclass(frozen=True)
class Check:
    """The result of a check. `faults` has a line each; `skipped` says why it did not run."""

    name: str
    faults: tuple[str, ...] = ()
    skipped: str | None = None

    @property
    def state(self) -> str:
        """The state: "fault", "not looked at" or "ok"."""
        return "fault" if self.faults else "not looked at" if self.skipped is not None else "ok"

    @property
    def lines(self) -> list[str]:
        """The lines to print: each fault, or the state, and why it did not run."""
        why = f": {self.skipped}" if self.skipped else ""
        faults = [f"FAULT  {fault}" for fault in self.faults]
        return faults + ([f"{'not looked at' if self.skipped is not None else 'ok'}  {self.name}{why}"] if why or not faults else [])


def run_check(name: str, faults: Iterator[str] | None) -> Check:
    """Runs a check to its end. `faults` is None if it was not requested. A file that cannot be read is a fault."""
    if faults is None:
        return Check(name, skipped="")
    lines: list[str] = []
    try:
        lines.extend(faults)
    except NotCheckedError as error:
        return Check(name, tuple(lines), str(error))
    except (DeniableError, ValueError, OSError) as error:
        lines.append(str(error))
    return Check(name, tuple(lines))


def key(db: Path | Database) -> Iterator[str]:
    """Checks that the key exists and is long enough. It is never shown."""
    location = Database.at(db)
    try:
        Config.for_database(location)
    except FileNotFoundError:
        yield f"the key {location.key} is not there: without it all sessions end, and records that wait to be counted are lost"
    except (OSError, ValueError) as error:
        yield f"the key {location.key} cannot be used: {error}"


def single_sign_on(path: Path) -> Iterator[str]:
    """Checks the settings of single sign-on, and that the provider answers as a login needs it.

    Raises:
        ValueError, OSError: The settings cannot be read.
        SsoError: The provider does not answer, or its documents are invalid.
        NotCheckedError: A package is missing.
    """
    from deniable_server.identity.sso.provider import Provider
    from deniable_server.identity.sso.settings import SsoSettings

    if error := missing("single sign-on", "sso"):
        raise NotCheckedError(str(error))
    Provider(SsoSettings.from_file(path)).check()
    yield from ()


def missing_features() -> Iterator[str]:
    """Yields features whose packages are not installed, which is not a fault, with the packages."""
    for feature, extra in _OPTIONAL.items():
        if error := missing(feature, extra):
            yield str(error)


def permissions(db: Path | Database) -> Iterator[str]:
    """Checks that only the owner can read or replace database and key."""
    location = Database.at(db)
    for path in filter(None, (location.path, location.key)):
        if path.exists() and (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077:
            yield f"{path} must be readable by its owner only, has mode {mode:o}: chmod 600 {path}"
    folder = (location.path or location.key).absolute().parent
    mode = folder.stat().st_mode
    if mode & 0o022 and not mode & stat.S_ISVTX:
        yield f"{folder} must not be writable by others, who could put another database there: chmod go-w {folder}"


def database(db: Path | Database) -> Iterator[str]:
    """Checks that a server can open the database with its key, and that SQLite finds no damaged page.

    Raises:
        NotCheckedError: There is no key.
    """
    location = Database.at(db)
    if not location.key.exists():
        raise NotCheckedError(f"the key {location.key} is not there")  # opening the database would make another one
    try:
        if location.path:
            require_database(location.path)
        with closing(_opened(location, writing=False)) as store:
            require_secrets(store)
            store.surveys.headings()
        with closing(_opened(location)) as store:
            _require_turn(store)
    except FullError as error:
        yield f"{db} cannot be used: {error}"
    except BusyError:
        yield f"{db} is locked by another program: the server replies 503 to submissions until it is unlocked"
    except (DeniableError, ValueError) as error:
        yield f"{db} is not a database that a server can use: {error}"


def _opened(location: Database, *, writing: bool = True) -> Store:
    """Opens the store; retries while another process writes for a long time, such as a server that rewrites a large file."""
    for _ in range(TRIES - 1):
        try:
            return open_store(location, writing=writing)
        except BusyError:
            continue
    return open_store(location, writing=writing)


def _require_turn(store: Store) -> None:
    """Waits for a turn to write, and writes nothing; retries as `_opened` does. Raises BusyError."""
    for _ in range(TRIES - 1):
        try:
            store.invitations.spend([])
        except BusyError:
            continue
        return
    store.invitations.spend([])


def disk(db: Path) -> Iterator[str]:
    """Checks that there is disk space for a copy of the database, which is rewritten after a withdrawal, and some more."""
    free, needed = shutil.disk_usage(db.absolute().parent).free, max(LEAST_FREE, 2 * db.stat().st_size)
    if free < needed:
        yield f"the disk of {db} must have {needed >> 20:,} MiB free, twice what the database takes, has {free >> 20:,} MiB"


def backup(db: Path, copy: Path, password: str | None = None) -> Iterator[str]:
    """Checks that the newest backup is less than a day old, complete, this server's, and can be restored.

    A copy of it is opened and counted beside the database, where the key may be; opening may migrate it.

    Args:
        db: The server's database.
        copy: The backup: with its key beside it, with the key of `db`, or locked.
        password: The password of a locked backup.

    Raises:
        NotCheckedError: It is locked and no password was given, or there is no key, or no disk space for a copy.
    """
    if not copy.exists():
        yield f"the backup {copy} is not there"
        return
    if time.time() - copy.stat().st_mtime > OLDEST_BACKUP:
        yield f"the backup {copy} was made over {OLDEST_BACKUP // 86_400} day ago: deniable-server backup NEW --db {db}"
    if locked.is_locked(copy) and password is None:
        raise NotCheckedError("locked (--password-env VAR)")
    copied_key, own = key_file(copy), key_file(db)
    if not locked.is_locked(copy) and not copied_key.exists() and not own.exists():
        raise NotCheckedError(f"the key {own} is not there")
    try:
        with unpacked(copy, copied_key if copied_key.exists() else own, password, db) as whole:
            if own.exists() and key_file(whole).read_text().strip() != own.read_text().strip():
                yield f"the backup {copy} has another key than {own}: it is another server's, or from before the key was changed"
            checked(whole)
    except FullError:
        raise NotCheckedError(f"there is no room for a copy of it beside {db}") from None
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise NotCheckedError(f"there is no room for a copy of it beside {db}") from None
    except (DeniableError, ValueError) as error:
        yield f"the backup {copy} cannot be restored: {error}"


def address(url: str, client: httpx.Client) -> Iterator[str]:
    """Checks that the public address is reached over HTTPS, and that no proxy changes the security headers."""
    parts = urlsplit(url)
    https = parts.scheme == "https"
    if not https and parts.hostname not in _HERE:
        yield f"{url} must begin with https://: browsers refuse to hash the survey's definition elsewhere"
        return
    page = f"{url.rstrip('/')}/privacy"
    try:
        response = client.get(page)
    except httpx.HTTPError as error:
        yield f"{page} could not be reached: {type(error).__name__}: {error}"
        return
    if response.status_code != 200:
        yield f"{page} must answer 200, got {response.status_code}"
        return
    for _, header, fault in broken_headers(Reply(200, response.headers, None), Released.load().headers, https):
        yield f"{page}: {header} {fault}"
