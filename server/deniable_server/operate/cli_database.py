"""Shared parts of commands that open the database: the option `--db`, and one clear message for each failure."""

from __future__ import annotations

import json
import logging
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from deniable.errors import DeniableError, SurveyError
from deniable_server.config import KEY_FILE, Database, key_path
from deniable_server.operate import logs
from deniable_server.store import open_store
from deniable_server.store.protocol import Store


class DatabaseType(click.ParamType[Database]):
    """A database, by its path or URL."""

    name = "path or url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Database:
        """Returns the database."""
        try:
            return Database.at(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def print_json(value: object) -> None:
    """Prints a value as JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


class KeyPath(click.ParamType[Path]):
    """The path of the server's key file. An API key in its place is refused, and never quoted."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Returns the path of a file that exists."""
        try:
            path = key_path(value, "the key")
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if not path.is_file():
            self.fail(f"the file {path} does not exist", param, ctx)
        return path


database = click.option(
    "--db",
    type=DatabaseType(),
    metavar="DATABASE",
    default="deniable.db",
    envvar="DENIABLE_DB",
    show_default=True,
    show_envvar=True,
    help="The database: a file, or a url such as sqlite:////srv/deniable.db or postgresql://host/name.",
)


_CONNECTIONS = 5  # of a command, in addition to the servers' own


def at_terminal() -> bool:
    """Returns whether a person can answer a prompt."""
    return sys.stdin.isatty()


def require(db: Database) -> None:
    """Ends with a clear message if `init` has not run, or the key is missing, which `init` would replace."""
    if db.path is not None and not db.path.exists():
        raise click.ClickException(f"{db} is not set up; run `deniable-server init --db {db} --user NAME` first")
    if not db.key.exists():
        elsewhere = "" if db.path else f", or name its file with {KEY_FILE}; if {db} is new, run `deniable-server init --user NAME`"
        raise click.ClickException(f"the key file {db.key} of {db} is missing: put it back{elsewhere}")


@contextmanager
def opened(db: Database, *, new: bool = False, writing: bool = True) -> Iterator[Store]:
    """Yields the store, and closes it; turns failures into one message.

    Args:
        db: The database.
        new: Whether it is created if it is missing.
        writing: False for a command that only reads: a server beside it then never waits for the command.
    """
    if not new:
        require(db)
    with failing(db):
        store = open_store(db, _CONNECTIONS, writing=writing)
        try:
            yield store
        finally:
            store.close()


@contextmanager
def logged(db: Database) -> Iterator[None]:
    """Logs a failure in one line."""
    try:
        with failing(db):
            yield
    except click.ClickException as error:
        click.echo(logs.line("json", logging.CRITICAL, error.message), err=True)
        raise click.exceptions.Exit(error.exit_code) from None


@contextmanager
def failing(db: Database) -> Iterator[None]:
    """Prints a failure in one message."""
    try:
        yield
    except SurveyError as error:
        raise click.ClickException("the survey file has these problems:\n" + "\n".join(f"  {p}" for p in error.problems)) from None
    except (DeniableError, ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    except sqlite3.Error as error:
        raise click.ClickException(f"{db} cannot be used: {error}") from None
