"""Server configuration, read once when the server starts. There is no default secret."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

KEY_FILE = "DENIABLE_KEY_FILE"  # the variable that names the file with the key of servers on PostgreSQL
MOST_PER_SECOND = 2000  # submissions: twice what 1,000 respondents a second send


@dataclass(frozen=True)
class Database:
    """Location of the data and of the key file, whose key encrypts waiting submissions and signs cookies.

    Attributes:
        path: An SQLite file, or None.
        key: The key file.
        url: A PostgreSQL database, or "". Its password is neither in the text nor in the repr of this object.
    """

    path: Path | None
    key: Path
    url: str = field(default="", repr=False)

    @classmethod
    def at(cls, location: str | Path | Database) -> Database:
        """Returns the database at a path or a URL: sqlite:///data.db, sqlite:////srv/data.db or postgresql://user@host/name.

        The key file of an SQLite database is beside it; for PostgreSQL, $DENIABLE_KEY_FILE names it, by default deniable.key.

        Raises:
            ValueError: The URL has another form (the message quotes only its scheme), its password cannot be separated from the rest, or
                the key file is named like an API key.
        """
        if isinstance(location, Database):
            return location
        scheme, separator, rest = str(location).partition("://")
        if isinstance(location, Path) or not separator:
            return cls(Path(location), key_file(Path(location)))
        if scheme in ("postgresql", "postgres"):
            if "@" in rest[rest.find("@") + 1 :] or "@" in rest.partition("/")[2] or "@" in rest.partition("?")[2]:
                raise ValueError("in a database's url every @ / ? of a user or password must be percent-encoded: %40 %2F %3F")
            return cls(None, key_path(os.environ.get(KEY_FILE, "deniable.key"), f"${KEY_FILE}"), str(location))
        if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
            return cls(Path(rest[1:]), key_file(Path(rest[1:])))
        kind = scheme if scheme.isalnum() and scheme != "sqlite" else "sqlite without a third slash and a path"
        raise ValueError(f"a database must be a path or a url that begins with sqlite:/// or postgresql://, got a url of {kind}")

    def __str__(self) -> str:
        """Returns the path, or the URL without its password and its parameters."""
        if self.path is not None:
            return str(self.path)
        user, at, host = self.url.partition("://")[2].partition("?")[0].rpartition("@")
        return f"postgresql://{user.partition(':')[0]}{at}{host}"


MOST_LOGO = 200_000  # bytes
_PICTURES = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}


@dataclass(frozen=True)
class Logo:
    """A picture and its media type."""

    content: bytes = field(repr=False)
    mimetype: str

    @classmethod
    def of(cls, path: Path) -> Logo:
        """Reads a file that ends in .png, .svg, .jpg or .webp. Raises ValueError for another type or a file that is too large; OSError."""
        if (mimetype := _PICTURES.get(path.suffix.lower())) is None:
            raise ValueError(f"the logo must be a file that ends in {', '.join(_PICTURES)}, got {path.name!r}")
        content = path.read_bytes()
        if len(content) > MOST_LOGO:
            raise ValueError(f"the logo must have at most {MOST_LOGO:,} bytes, got {len(content):,}")
        return cls(content, mimetype)


@dataclass(frozen=True)
class Institution:
    """The institution that runs a server; empty if it is not configured."""

    name: str = ""
    logo: Logo | None = None


@dataclass(frozen=True)
class Config:
    """Configuration of a server.

    Attributes:
        db: The database, or its path or URL.
        secret_key: Signs researchers' cookies.
        public_url: The address that people use, if it differs from `listening`.
        most_per_second: The most submissions per second without an API key, from all clients together; more get 429.
        listening: This machine's address.
        institution: The name and logo on researchers' pages.
        metrics: Whether /metrics is served.
        backups: The newest backup, or the folder of all backups, whose time /metrics reports.
        private_webhooks: Whether webhooks may go to this machine and to private networks.
        database_connections: The most connections to PostgreSQL at a time; None for the default.
        trials: The folder of test runs; None for a temporary one of the process.
        sso: The file with the settings of single sign-on, or None without it.
    """

    db: str | Path | Database = field(repr=False)
    secret_key: str = field(repr=False)
    public_url: str | None = None
    most_per_second: int = MOST_PER_SECOND
    listening: str = "http://localhost"
    institution: Institution = Institution()
    metrics: bool = False
    backups: Path | None = None
    private_webhooks: bool = False
    database_connections: int | None = None
    trials: Path | None = None
    sso: Path | None = None

    def __post_init__(self) -> None:
        if len(self.secret_key) < 32:
            raise ValueError("secret_key must be at least 32 characters")
        if self.most_per_second < 1:
            raise ValueError(f"most_per_second must be at least 1, got {self.most_per_second}")
        if self.public_url is not None and not _is_address(self.public_url):
            raise ValueError(f"public_url must begin with https:// or http://, and name a host, got {self.public_url!r}")

    @property
    def https(self) -> bool:
        """Whether researchers' cookies are limited to HTTPS."""
        return self.public_url is not None and self.public_url.startswith("https://")

    @property
    def address(self) -> str:
        """The address that people use, without a trailing slash. The Host header of a request does not change it."""
        return (self.public_url or self.listening).rstrip("/")

    @classmethod
    def for_database(cls, db: str | Path | Database, public_url: str | None = None, most_per_second: int = MOST_PER_SECOND) -> Config:
        """Returns the config of the server that `deniable-server init` made at `db`. Raises FileNotFoundError without one."""
        database = Database.at(db)
        resolved = Database.at(database.path.resolve()) if database.path else database  # a symbolic link has the same lock
        return cls(resolved, database.key.read_text().strip(), public_url, most_per_second)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # such as [::1 without its end, or a port that is not a number
        return False


def key_path(path: str | Path, source: str) -> Path:
    """Returns the path of the key file. `source` says where it comes from, for the message.

    Raises:
        ValueError: The path begins like an API key. The message does not quote it.
    """
    if Path(path).name.startswith("dk_"):
        raise ValueError(f"{source} must be the path of a file, got an API key (dk_…), which belongs in $DENIABLE_KEY of the client")
    return Path(path)


def key_file(db: Path) -> Path:
    """Returns the key file beside an SQLite database."""
    return db.with_name(db.name + ".key")


def make_key(path: Path) -> None:
    """Creates the key file of a new server, readable by its owner only and written atomically; an existing one stays."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):  # another process was faster, and its key stays
        _write_whole(path, secrets.token_urlsafe(32) + "\n")


def copy_key(key: Path, other: Path) -> None:
    """Copies a key file. Raises FileExistsError, and OSError as `open` does."""
    _write_whole(other, key.read_text())


def _write_whole(path: Path, text: str) -> None:
    """Writes a new file atomically, readable by its owner only. Raises FileExistsError."""
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(new, path)
    finally:
        new.unlink()
