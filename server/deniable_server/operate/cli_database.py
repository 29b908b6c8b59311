"""What every command that opens the database shares: the option that names it, and one clear message for what goes wrong."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from deniable.errors import DeniableError, SurveyError
from deniable_server.config import Database
from deniable_server.operate import logs
from deniable_server.store import open_store
from deniable_server.store.protocol import Store


class _DatabaseType(click.ParamType[Database]):
    name = "path or url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Database:
        try:
            return Database.at(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


database = click.option(
    "--db",
    type=_DatabaseType(),
    metavar="DATABASE",
    default="deniable.db",
    envvar="DENIABLE_DB",
    show_default=True,
    show_envvar=True,
    help="The database: a file, or a url such as sqlite:////srv/deniable.db or postgresql://host/name.",
)


def require(db: Database) -> None:
    """Stops with a clear message where `init` has not been."""
    if not db.is_set_up:
        raise click.ClickException(f"{db} is not set up; run `deniable-server init --db {db} --user NAME` first")


@contextmanager
def opened(db: Database, *, new: bool = False) -> Iterator[Store]:
    """The store, closed again; what goes wrong becomes one message."""
    if not new:
        require(db)
    with failing(db):
        store = open_store(db)
        try:
            yield store
        finally:
            store.close()


@contextmanager
def logged(db: Database) -> Iterator[None]:
    """What goes wrong becomes one line of the log."""
    try:
        with failing(db):
            yield
    except click.ClickException as error:
        click.echo(logs.line("json", logging.CRITICAL, error.message), err=True)
        raise click.exceptions.Exit(error.exit_code) from None


@contextmanager
def failing(db: Database) -> Iterator[None]:
    """What goes wrong becomes one message."""
    try:
        yield
    except SurveyError as error:
        raise click.ClickException("the survey file has these problems:\n" + "\n".join(f"  {p}" for p in error.problems)) from None
    except (DeniableError, ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    except sqlite3.Error as error:
        raise click.ClickException(f"{db} cannot be used: {error}") from None
