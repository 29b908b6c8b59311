"""What a server needs to know, decided once when it starts. There is no default secret."""

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
    """Where the data is, and the file with the key that seals what waits and signs cookies.

    path: an SQLite file, or None; url: a PostgreSQL database, or "". A url's password is neither in its text nor in its repr.
    """

    path: Path | None
    key: Path
    url: str = field(default="", repr=False)

    @classmethod
    def at(cls, place: str | Path | Database) -> Database:
        """The database at a path or a url: sqlite:///data.db, sqlite:////srv/data.db or postgresql://user@host/name.

        The key of an SQLite file is in the file beside it, that of others in the file that $DENIABLE_KEY_FILE names, or deniable.key.
        Raises ValueError for any other url, of which it quotes the scheme alone, and for one whose password cannot be told from the rest;
        and for a file that is named like an API key.
        """
        if isinstance(place, Database):
            return place
        scheme, separator, rest = str(place).partition("://")
        if isinstance(place, Path) or not separator:
            return cls(Path(place), key_file(Path(place)))
        if scheme in ("postgresql", "postgres"):
            if "@" in rest[rest.find("@") + 1 :] or "@" in rest.partition("/")[2] or "@" in rest.partition("?")[2]:
                raise ValueError("in a database's url every @ / ? of a user or password must be percent-encoded: %40 %2F %3F")
            return cls(None, key_path(os.environ.get(KEY_FILE, "deniable.key"), f"${KEY_FILE}"), str(place))
        if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
            return cls(Path(rest[1:]), key_file(Path(rest[1:])))
        known = scheme if scheme.isalnum() and scheme != "sqlite" else "sqlite without a third slash and a path"
        raise ValueError(f"a database must be a path or a url that begins with sqlite:/// or postgresql://, got a url of {known}")

    def __str__(self) -> str:
        """As people know it: a path, or the url without its password and its parameters."""
        if self.path is not None:
            return str(self.path)
        who, at, where = self.url.partition("://")[2].partition("?")[0].rpartition("@")
        return f"postgresql://{who.partition(':')[0]}{at}{where}"


MOST_LOGO = 200_000  # bytes
_PICTURES = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}


@dataclass(frozen=True)
class Logo:
    """A picture, as it is served."""

    content: bytes = field(repr=False)
    mimetype: str

    @classmethod
    def of(cls, path: Path) -> Logo:
        """A file that ends in .png, .svg, .jpg or .webp. Raises ValueError for another, and for one that is too large; OSError."""
        if (mimetype := _PICTURES.get(path.suffix.lower())) is None:
            raise ValueError(f"the logo must be a file that ends in {', '.join(_PICTURES)}, got {path.name!r}")
        content = path.read_bytes()
        if len(content) > MOST_LOGO:
            raise ValueError(f"the logo must have at most {MOST_LOGO:,} bytes, got {len(content):,}")
        return cls(content, mimetype)


@dataclass(frozen=True)
class Institution:
    """Who runs a server; empty where nobody says it."""

    name: str = ""
    logo: Logo | None = None


@dataclass(frozen=True)
class Config:
    """db: the database, or its path or url. secret_key: signs researchers' cookies. public_url: the address people use, if not this one's.

    most_per_second: submissions without a key, from everybody together; more are told to come back later.
    listening: this machine's address, where there is no other. institution: whose name and picture researchers' pages bear.
    metrics: whether there is /metrics. backups: the newest backup, or the folder of all of them, whose time /metrics tells.
    private_webhooks: whether webhooks may go to addresses of this machine and of private networks.
    database_connections: to PostgreSQL at a time, at most; None for the usual number.
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

    def __post_init__(self) -> None:
        if len(self.secret_key) < 32:
            raise ValueError("secret_key must be at least 32 characters")
        if self.most_per_second < 1:
            raise ValueError(f"most_per_second must be at least 1, got {self.most_per_second}")
        if self.public_url is not None and not _is_address(self.public_url):
            raise ValueError(f"public_url must begin with https:// or http://, and name a host, got {self.public_url!r}")

    @property
    def https(self) -> bool:
        """Whether researchers' cookies can be bound to HTTPS."""
        return self.public_url is not None and self.public_url.startswith("https://")

    @property
    def address(self) -> str:
        """The address that people use, without a slash at its end. What a request calls the server decides nothing here."""
        return (self.public_url or self.listening).rstrip("/")

    @classmethod
    def for_database(cls, db: str | Path | Database, public_url: str | None = None, most_per_second: int = MOST_PER_SECOND) -> Config:
        """The config of the server that `deniable-server init` made at `db`. Raises FileNotFoundError if it made none."""
        place = Database.at(db)
        whole = Database.at(place.path.resolve()) if place.path else place  # a link leads to the same database, and to its lock
        return cls(whole, place.key.read_text().strip(), public_url, most_per_second)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # such as [::1 without its end, or a port that is no number
        return False


def key_path(written: str | Path, source: str) -> Path:
    """Returns the path of the file with the server's key. source: where it comes from, for the message.

    Raises:
        ValueError: It begins as an API key does. The message does not quote it.
    """
    if Path(written).name.startswith("dk_"):
        raise ValueError(f"{source} must be the path of a file, got an API key (dk_…), which belongs in $DENIABLE_KEY of the client")
    return Path(written)


def key_file(db: Path) -> Path:
    """The file beside an SQLite database that holds the secret key."""
    return db.with_name(db.name + ".key")


def make_key(path: Path) -> None:
    """Makes the file with the secret key of a new server, readable by its owner only; an existing one stays. It is whole, or not there."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):  # somebody else was faster, and theirs stays
        _write_whole(path, secrets.token_urlsafe(32) + "\n")


def copy_key(key: Path, other: Path) -> None:
    """Copies the file of a key to another place. Raises FileExistsError, and OSError as `open` does."""
    _write_whole(other, key.read_text())


def _write_whole(path: Path, text: str) -> None:
    """A new file, readable by its owner only, that is there with all its text on the disk, or not at all. Raises FileExistsError."""
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(new, path)
    finally:
        new.unlink()
