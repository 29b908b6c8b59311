"""`deniable ledger`: what somebody has given away in all surveys that this machine sent answers to."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from deniable.delivery.jobs import counted
from deniable.privacy.ledger import Ledger, Spent, default_path

ledger_option = click.option(
    "--ledger",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="DENIABLE_LEDGER",
    show_envvar=True,
    help="The file that keeps what each person has given away.  [default: in your data folder]",
)


@click.command("ledger")
@click.argument("person")
@ledger_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def ledger_command(person: str, ledger: Path | None, as_json: bool) -> None:
    """Show what a person has given away in all surveys.

    It prints how many surveys and submissions there were, and the sum of their epsilons. PERSON is the key in the column
    that --person-column named. With - it is read from standard input, which keeps it out of the shell's history.

    \b
    Examples:
      deniable ledger 4711
      deniable ledger - < key.txt
    """
    path = ledger or default_path()
    if not path.exists():
        raise click.ClickException(f"there is no ledger at {path}")
    book = Ledger(path)
    try:
        found = book.spent(book.hashed(sys.stdin.readline() if person == "-" else person))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    finally:
        book.close()
    click.echo(json.dumps(found._asdict()) if as_json else _told(found))


def _told(found: Spent) -> str:
    if not found.submissions:
        return "Nothing: the ledger has nobody under this key."
    counts = f"{counted(found.submissions, 'submission')} to {counted(found.surveys, 'survey')}"
    return f"{counts}, epsilon {found.epsilon:.6f} in all."
