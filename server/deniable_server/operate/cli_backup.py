"""Commands `deniable-server backup` and `deniable-server restore`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import click

from deniable_server.config import Database, copy_key, key_file
from deniable_server.operate import locked, restored_access
from deniable_server.operate.cli_access import asked_password
from deniable_server.operate.cli_database import KeyPath, at_terminal, database, failing, opened
from deniable_server.operate.restore import restore
from deniable_server.store.protocol import Store

_READABLE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@database
@click.argument("target", type=click.Path(exists=False, dir_okay=False, path_type=Path))
@click.option("--with-key", is_flag=True, help="Copy the server's key too, to TARGET.key.")
@click.option("--password-env", metavar="VAR", help="Lock the copy, and the key in it, with the password in this environment variable.")
def backup(db: Database, target: Path, with_key: bool, password_env: str | None) -> None:
    """Copy the database to a new file TARGET.

    The server may run meanwhile.

    You need the server's key to read submissions that wait to be counted: keep a copy of the key in another place, or lock the backup
    with a password, which puts the key into it. `deniable-server restore` makes a database from a backup.
    """
    if with_key and password_env:
        raise click.UsageError("--with-key and --password-env must not be given together: a locked backup has the key in itself")
    with opened(db, writing=False) as store:
        if password_env:
            _locked_backup(store, db, target, asked_password(password_env))
        else:
            if with_key and key_file(target).exists():
                raise FileExistsError(f"{key_file(target)} already exists")
            store.backup(target)
            if with_key:
                copy_key(db.key, key_file(target))
    key = f", with the key in {key_file(target)}" if with_key else ", locked, with the key in it" if password_env else ", without its key"
    click.echo(f"{target} is a copy of {db}{key}.")


def _locked_backup(store: Store, db: Database, target: Path, password: str) -> None:
    with tempfile.TemporaryDirectory(prefix="deniable-backup-", dir=target.absolute().parent) as folder:
        plain = Path(folder) / "plain.db"
        store.backup(plain)
        locked.lock(plain, db.key, password, target)


def _show(heading: str, lines: Iterable[str]) -> None:
    """Prints a list with its heading on standard error, unless it is empty."""
    for number, line in enumerate(lines):
        if not number:
            click.echo(heading, err=True)
        click.echo(f"  {line}", err=True)


@click.command("restore")
@database
@click.argument("backup", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--key",
    metavar="FILE",
    type=KeyPath(),
    help="The server's key, if it is not in the file BACKUP.key.",
)
@click.option("--password-env", metavar="VAR", help="The environment variable that holds the password of a locked backup.")
@click.option(
    "--audit", "log", metavar="FILE", type=_READABLE, help="A later audit log, from `audit show --json`: its revocations are repeated."
)
@click.option(
    "--old",
    metavar="FILE",
    type=_READABLE,
    help="The SQLite file that is replaced: its revocations, withdrawals and spent codes are repeated.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
def restore_backup(
    db: Database, backup: Path, key: Path | None, password_env: str | None, log: Path | None, old: Path | None, yes: bool
) -> None:
    """Create a server's database from BACKUP.

    BACKUP does not change. The database must not exist yet. All records are counted again first, and nothing is written if anything is
    wrong.

    Keys, accounts, codes and surveys return to their state at the time of the backup. They are listed before you are asked. --audit
    and --old repeat later revocations, as far as these files contain them. All sessions end.

    Example:
      deniable-server restore copy.db --db survey.db --old damaged.db
    """
    if db.path is None:
        raise click.ClickException(f"{db} is restored with PostgreSQL's own tools")
    if log and old:
        raise click.UsageError("--audit and --old must not be given together: the old database has its log in itself")

    def prepare(store: Store) -> None:
        outcome = restored_access.apply(store, later)
        _show("Repeated, since it happened after the backup:", outcome.applied)
        _show("Happened after the backup, and cannot be repeated:", outcome.left)
        _show("Works again, as it did at the time of the backup:", restored_access.access_of(store))
        click.echo("All sessions and all unused sign-up links have ended.", err=True)
        if not yes and not at_terminal():
            raise click.ClickException("restore must be confirmed: read the list above, then add --yes")
        if not yes:
            click.confirm("Restore it?", abort=True, err=True)

    with failing(db):
        later = (
            restored_access.Later(restored_access.log_in(log)) if log else restored_access.Later.of(old) if old else restored_access.Later()
        )
        records = restore(backup, key, asked_password(password_env) if password_env else None, db.path, prepare)
    click.echo(f"{db} is restored from {backup}: {records:,} counted record{'' if records == 1 else 's'}.")
