"""Command line `deniable`: check a survey file, send and withdraw answers, read results.

Exit codes: 0 done; 1 a problem, or the server refused; 2 wrong usage; 3 not delivered, kept in the outbox.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from deniable.cli.command import verbatim_examples
from deniable.errors import DeliveryError, DeniableError

MODULES = {
    **{name: name for name in ("bundle", "check", "estimate", "ledger", "new", "plan", "resend", "submit", "tally", "verify", "withdraw")},
    **dict.fromkeys(("answered", "compare", "correlate", "crosstab", "results", "surveys", "watch", "waves"), "results"),
    "regress": "models",
    "import": "import_",
    "schema": "check",
}
"""The module of each command. It is imported when the command is called, since some import an HTTP library."""

_HELP = """Run surveys whose server cannot learn an answer: answers are randomized on this machine before they leave it.

Exit codes:
  0  done
  1  a problem was found, or the server refused
  2  wrong usage
  3  not delivered; the answers are kept in the outbox (see `deniable resend`)
"""


class _Commands(click.Group):
    """A group that imports a command when it is called, and prints expected errors as one message."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in MODULES:
            return None
        command: click.Command = getattr(import_module(f"deniable.cli.{MODULES[cmd_name]}"), f"{cmd_name}_command")
        return command

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
    help=verbatim_examples(_HELP),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="deniable", prog_name="deniable")
def main() -> None:
    """Runs the command that the arguments name."""
