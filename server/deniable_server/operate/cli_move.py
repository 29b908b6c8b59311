"""Command `deniable-server move`: to PostgreSQL or back to SQLite."""

from __future__ import annotations

import click

from deniable_server.config import Database
from deniable_server.operate.cli_database import DatabaseType, at_terminal, database, failing, require
from deniable_server.store.moving.switch_over import move, undo


@click.command("move")
@database
@click.option(
    "--to",
    "new",
    type=DatabaseType(),
    metavar="DATABASE",
    envvar="DENIABLE_MOVE_TO",
    show_envvar=True,
    help="The new database: an empty one on PostgreSQL, or an SQLite file that does not exist.",
)
@click.option("--undo", "is_undone", is_flag=True, help="Take a move back: make the old database --db usable again.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def move_command(db: Database, new: Database | None, is_undone: bool, yes: bool) -> None:
    """Move the database to PostgreSQL, or back to SQLite.

    Servers may run meanwhile. Once everything is copied, servers on the old database refuse to write, and senders keep their records
    and try again: stop these servers, and start them with the new database as --db. All rows of both databases are compared first. The
    new database has the same key, which is copied if it is not there.

    If the move is interrupted, run the same command again. --undo with --to discards a new database that no server has used yet. Without
    --to it asks first, since the old database lacks the records that the new database received.

    Example:
      deniable-server move --db survey.db --to postgresql://deniable@db.example.org/surveys
    """
    require(db)
    with failing(db):
        if is_undone:
            _undo(db, new, yes)
        elif new is None:
            raise click.UsageError("--to must name the new database")
        else:
            _move(db, new)


def _move(db: Database, new: Database) -> None:
    moved = move(db, new, lambda line: click.echo(line, err=True))
    width = max(map(len, moved.rows))
    for table, rows in moved.rows.items():
        click.echo(f"{table:<{width}}  {rows:,}")
    for fault in moved.audit.faults:
        click.echo(f"FAULT  the audit log, in both databases: {fault}")
    click.echo(f"{db} is moved to {new}: {sum(moved.rows.values()):,} rows in {len(moved.rows)} tables, all equal.")
    click.echo(f"The audit log has {moved.audit.count:,} entries; head {moved.audit.head}")
    click.echo(f"Start the servers with --db {new}. Then delete {db}: it still has all records, also those withdrawn later.")


def _undo(db: Database, new: Database | None, yes: bool) -> None:
    if new is None and not yes:
        click.echo(f"{db} was moved. Stop all servers on the new database first: {db} lacks all records received since then.", err=True)
        if not at_terminal():
            raise click.ClickException("--undo must be confirmed: add --yes, or name the new database with --to")
        click.confirm(f"Use {db} again?", abort=True, err=True)
    undo(db, new)
    click.echo(f"{db} can be used again.")
