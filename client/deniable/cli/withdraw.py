"""`deniable withdraw`: a submission is erased."""

from __future__ import annotations

from pathlib import Path

import click

from deniable.cli.options import opened_client, outbox_option, survey_option
from deniable.wire import access_codes


def _written_code(ctx: click.Context, param: click.Parameter, text: str) -> str:
    try:
        return access_codes.format_code(access_codes.read(text))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command("withdraw")
@click.argument("address")
@click.argument("code", callback=_written_code)
@survey_option
@outbox_option
def withdraw_command(address: str, code: str, survey_id: str | None, outbox: Path | None) -> None:
    """Erase a submission by its code.

    CODE is what the sender was shown, such as 4TRV-8HZ0-…. ADDRESS is the survey's link, or the server's address with
    --survey. Closed surveys too. The server takes the submission out of its counts, and does not say whether it had it.

    \b
    Example:
      deniable withdraw https://example.org/s/health 4TRV-8HZ0-Q5WX-1N7C-KD3M-9PAE-60GB
    """
    with opened_client(address, survey_id, outbox=outbox) as client:
        client.withdraw(client.survey_id or "", code)
    click.echo("If a submission was kept under this code, it is erased now and taken out of the counts.")
