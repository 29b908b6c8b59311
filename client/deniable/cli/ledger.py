"""Total privacy loss of a person over all surveys that this machine submitted to: the command `ledger`."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import click

from deniable.cli.command import command
from deniable.delivery.jobs import counted
from deniable.privacy.ledger import Ledger, Spent, default_path

ledger_option = click.option(
    "--ledger",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="DENIABLE_LEDGER",
    show_envvar=True,
    help="The file with each person's privacy loss.  [default: in your data folder]",
)


@command("ledger")
@click.argument("person")
@ledger_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def ledger_command(person: str, ledger: Path | None, as_json: bool) -> None:
    """Show a person's privacy loss in all surveys.

    Prints the number of surveys and submissions, and the sum of their epsilons. PERSON is the person's key, from the column that you
    named with --person-column. Use - to read it from standard input, which keeps it out of the shell's history.

    Examples:
      deniable ledger 4711
      deniable ledger - < key.txt
    """
    path = ledger or default_path()
    if not path.exists():
        raise click.ClickException(f"there is no ledger at {path}")
    with closing(Ledger(path)) as book:
        try:
            loss = book.spent(book.hashed(sys.stdin.readline() if person == "-" else person))
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    click.echo(json.dumps(loss._asdict()) if as_json else _in_words(loss))


def _in_words(loss: Spent) -> str:
    if not loss.submissions:
        return "The ledger has no person with this key."
    counts = f"{counted(loss.submissions, 'submission')} to {counted(loss.surveys, 'survey')}"
    return f"{counts}, epsilon {loss.epsilon:.6f} in total."
