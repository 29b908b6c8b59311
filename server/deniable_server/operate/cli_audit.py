"""Commands `deniable-server audit`: show and verify the acts of researchers and operators."""

from __future__ import annotations

import click

from deniable_server.config import Database
from deniable_server.operate.cli_database import database, opened


@click.group("audit")
def audit_commands() -> None:
    """Show and verify the acts of researchers and operators. Respondents' acts are not logged."""


@audit_commands.command("show")
@database
@click.option("--most", type=click.IntRange(1, 2**63 - 1), metavar="N", help="Print the newest N entries only.")
@click.option("--json", "as_json", is_flag=True, help="Print each entry as it is stored: canonical JSON.")
def show(db: Database, most: int | None, as_json: bool) -> None:
    """Print the log, the newest entry last.

    One line each, separated by tabs: number, time (UTC), account, act, object and detail. The account "-" is the server: its
    command line, or an automatic act.
    """
    with opened(db, writing=False) as store:
        for entry in reversed(store.audit.entries(most=most)):
            did = entry.did
            line = "\t".join((str(entry.number), did.at, did.who or "-", did.act, did.on, did.detail))
            click.echo(entry.text if as_json else line.rstrip())


@audit_commands.command("verify")
@database
@click.option("--head", metavar="HASH", help="A head that this command printed earlier: an entry must still have this hash.")
def verify(db: Database, head: str | None) -> None:
    """Verify that no entry was changed, removed or moved. The exit code is 1 if one was.

    Prints the head, the hash of the last entry. Note it in another place: someone who can write to the database can rewrite the whole
    log, and only a head noted earlier reveals that.
    """
    with opened(db, writing=False) as store:
        result = store.audit.verify(head)
    for fault in result.faults:
        click.echo(f"FAULT  {fault}")
    click.echo(f"{result.count} {'entry' if result.count == 1 else 'entries'}; head {result.head}")
    raise click.exceptions.Exit(1 if result.faults else 0)
