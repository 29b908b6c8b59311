"""`deniable`: check a survey file, send answers, take them back, read results.

Exit codes: 0 done; 1 a problem was found, or somebody said no; 2 wrong usage; 3 not delivered, the outbox keeps it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from deniable.errors import DeliveryError, DeniableError

MODULES = {
    **{name: name for name in ("bundle", "check", "estimate", "ledger", "new", "plan", "resend", "submit", "tally", "verify", "withdraw")},
    **dict.fromkeys(("answered", "compare", "correlate", "crosstab", "results", "surveys", "watch", "waves"), "results"),
    "regress": "models",
    "import": "import_",
    "schema": "check",
}
"""The module of each command, which is loaded when the command is called: some bring an HTTP library, others pages to check."""


class _Commands(click.Group):
    """Loads a command when it is called, and turns the errors that are meant into one message and an exit code."""

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


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="deniable", prog_name="deniable")
def main() -> None:
    """Surveys whose server cannot learn an answer: every answer is randomized on this machine before it leaves.

    \b
    Exit codes: 0 done; 1 a problem was found, or the server said no; 2 wrong usage;
    3 not delivered, and kept in the outbox (see `deniable resend`).
    """
