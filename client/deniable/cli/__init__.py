"""Command line `deniable`: check a survey file, send and withdraw answers, read results.

Exit codes: 0 done; 1 a problem, or the server refused; 2 wrong usage; 3 not delivered, kept in the outbox.
"""

from __future__ import annotations

from typing import Any

import click

from deniable.cli.command import verbatim_examples
from deniable.errors import DeliveryError, DeniableError
from deniable.lazy_group import LazyGroup, ListedCommand

COMMANDS = {
    "answered": ListedCommand("deniable.cli.results", "Estimate shares among people who answered a question."),
    "bundle": ListedCommand("deniable.cli.bundle", "Download a survey's perturbed rows, ready to publish."),
    "check": ListedCommand("deniable.cli.check", "Check a survey file, and show how well it protects people."),
    "compare": ListedCommand("deniable.cli.results", "Compare groups in a question."),
    "correlate": ListedCommand("deniable.cli.results", "Estimate the correlation of two questions' scores."),
    "crosstab": ListedCommand("deniable.cli.results", "Estimate a cross table of two or more questions."),
    "estimate": ListedCommand("deniable.cli.estimate", "Estimate shares from reports that were randomized elsewhere."),
    "import": ListedCommand("deniable.cli.import_", "Convert a form of another system to a survey file."),
    "ledger": ListedCommand("deniable.cli.ledger", "Show a person's privacy loss in all surveys."),
    "new": ListedCommand("deniable.cli.new", "Write a survey file by answering questions."),
    "plan": ListedCommand("deniable.cli.plan", "Plan a survey's precision, or the number of people it needs."),
    "regress": ListedCommand("deniable.cli.models", "Fit a regression to a survey's questions."),
    "resend": ListedCommand("deniable.cli.resend", "Send the submissions that wait in the outbox."),
    "results": ListedCommand("deniable.cli.results", "Print a survey's estimates and intervals."),
    "schema": ListedCommand("deniable.cli.check", "Print the JSON Schema of survey files."),
    "submit": ListedCommand("deniable.cli.submit", "Randomize and send the answers in a file."),
    "surveys": ListedCommand("deniable.cli.results", "List the surveys you may see."),
    "tally": ListedCommand("deniable.cli.tally", "Count an export, and print its estimates."),
    "translate": ListedCommand("deniable.cli.translate", "Write a survey's texts for translators, or import translations."),
    "verify": ListedCommand("deniable.cli.verify", "Compare a server's pages with the released files."),
    "watch": ListedCommand("deniable.cli.results", "Show a survey's progress."),
    "waves": ListedCommand("deniable.cli.results", "Estimate changes between waves."),
    "withdraw": ListedCommand("deniable.cli.withdraw", "Erase a submission by its code."),
}
"""The commands. Each is imported when it is called, since some import an HTTP library."""

_HELP = """Run surveys whose server cannot learn an answer: answers are randomized on this machine before they leave it.

Exit codes:
  0  done
  1  a problem was found, or the server refused
  2  wrong usage
  3  not delivered; the answers are kept in the outbox (see `deniable resend`)
"""


class _Commands(LazyGroup):
    """A lazy group that prints expected errors as one message."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except DeniableError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(3 if isinstance(error, DeliveryError) else 1)
        except OSError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(1)


@click.group(
    cls=_Commands,
    listed=COMMANDS,
    help=verbatim_examples(_HELP),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="deniable", prog_name="deniable")
def main() -> None:
    """Runs the command that the arguments name."""
