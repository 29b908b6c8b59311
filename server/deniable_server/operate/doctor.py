"""`deniable-server doctor`: is this installation as it should be? Each check yields its faults in words, none where all is well."""

from __future__ import annotations

import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from deniable.errors import DeniableError
from deniable.extras import missing
from deniable.verify import Released
from deniable.verify.replies import Reply, broken_headers
from deniable_server.config import Config, Database
from deniable_server.store import open_store

LEAST_FREE = 256 << 20  # bytes: what waits in the log and is written anew needs room
OLDEST_BACKUP = 86_400  # seconds
_OPTIONAL = {
    "a survey from an XLSForm": "xlsform",
    "a Parquet or Arrow file": "parquet",
    "a report to be edited (.docx)": "docx",
    "a database on PostgreSQL": "postgres",
}
"""What a server can do without, as researchers know it, and the key of its packages in `deniable.extras`."""
_HERE = ("localhost", "127.0.0.1", "::1")


def key(db: Path | Database) -> Iterator[str]:
    """The secret key is there, and long enough. It is never shown."""
    place = Database.at(db)
    try:
        Config.for_database(place)
    except FileNotFoundError:
        yield f"the key {place.key} is not there: without it nobody stays logged in, and what waits to be counted is lost"
    except (OSError, ValueError) as error:
        yield f"the key {place.key} cannot be used: {error}"


def left_out() -> Iterator[str]:
    """Yields what pages and API of this installation do not offer, and the packages that would change that. None of it is a fault."""
    for what, need in _OPTIONAL.items():
        if error := missing(what, need):
            yield str(error)


def permissions(db: Path | Database) -> Iterator[str]:
    """Database and key are their owner's only, and nobody else can put other files in their place."""
    place = Database.at(db)
    for path in filter(None, (place.path, place.key)):
        if path.exists() and (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077:
            yield f"{path} must be readable by its owner only, has mode {mode:o}: chmod 600 {path}"
    folder = (place.path or place.key).absolute().parent
    mode = folder.stat().st_mode
    if mode & 0o022 and not mode & stat.S_ISVTX:
        yield f"{folder} must not be writable by others, who could put another database there: chmod go-w {folder}"


def database(db: Path | Database) -> Iterator[str]:
    """A server can open it and read its surveys."""
    try:
        store = open_store(db)
    except DeniableError as error:
        yield f"{db} is no database that a server can use: {error}"
        return
    try:
        store.surveys.all()
    except DeniableError as error:
        yield f"{db} is no database that a server can use: {error}"
    finally:
        store.close()


def disk(db: Path) -> Iterator[str]:
    """There is room for a copy of the database, which is written anew after a withdrawal, and some more."""
    free, wanted = shutil.disk_usage(db.absolute().parent).free, max(LEAST_FREE, 2 * db.stat().st_size)
    if free < wanted:
        yield f"the disk of {db} must have {wanted >> 20:,} MiB free, twice what the database takes, has {free >> 20:,} MiB"


def backup(db: Path, copy: Path) -> Iterator[str]:
    """The newest backup is less than a day old, and a database. A copy of it is opened, for opening may bring a file up to date."""
    if not copy.exists():
        yield f"the backup {copy} is not there"
        return
    if time.time() - copy.stat().st_mtime > OLDEST_BACKUP:
        yield f"the backup {copy} was made over {OLDEST_BACKUP // 86_400} day ago: deniable-server backup NEW --db {db}"
    with tempfile.TemporaryDirectory(dir=copy.absolute().parent) as folder:
        twin = Path(folder) / copy.name
        shutil.copyfile(copy, twin)
        yield from (fault.replace(str(twin), f"the backup {copy}") for fault in database(twin))


def address(url: str, client: httpx.Client) -> Iterator[str]:
    """The address that people use is reached over HTTPS, and no proxy changes the headers that protect them."""
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
