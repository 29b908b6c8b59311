"""`deniable`: check a survey file, send answers, take them back, read results.

Exit codes: 0 done; 1 a problem was found, or somebody said no; 2 wrong usage; 3 not delivered, the outbox keeps it.
"""

from __future__ import annotations

from typing import Any

import click

from deniable.cli.bundle import bundle_command
from deniable.cli.check import check_command, schema_command
from deniable.cli.estimate import estimate_command
from deniable.cli.import_ import import_command
from deniable.cli.ledger import ledger_command
from deniable.cli.new import new_command
from deniable.cli.plan import plan_command
from deniable.cli.resend import resend_command
from deniable.cli.results import (
    compare_command,
    crosstab_command,
    regress_command,
    results_command,
    surveys_command,
    watch_command,
    waves_command,
)
from deniable.cli.submit import submit_command
from deniable.cli.verify import verify_command
from deniable.cli.withdraw import withdraw_command
from deniable.errors import DeliveryError, DeniableError


class _Commands(click.Group):
    """Turns the errors that are meant into one message and an exit code."""

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


for _command in (
    *(new_command, import_command, check_command, schema_command, plan_command, submit_command, withdraw_command, resend_command),
    *(surveys_command, results_command, watch_command, crosstab_command, compare_command, waves_command, regress_command, bundle_command),
    *(estimate_command, ledger_command, verify_command),
):
    main.add_command(_command)
