"""Withdrawal of a submission by its code: the command `withdraw`."""

from __future__ import annotations

from pathlib import Path

import click

from deniable.cli.command import command
from deniable.cli.options import outbox_option, survey_client, survey_option
from deniable.wire import access_codes


def _parse_code(ctx: click.Context, param: click.Parameter, text: str) -> str:
    try:
        return access_codes.format_code(access_codes.read(text))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@command("withdraw")
@click.argument("address")
@click.argument("code", callback=_parse_code)
@survey_option
@outbox_option
def withdraw_command(address: str, code: str, survey_id: str | None, outbox: Path | None) -> None:
    r"""Erase a submission by its code.

    CODE is the withdrawal code that the sender received, such as 4TRV-8HZ0-…. ADDRESS is the survey's link, or the server's address
    with --survey. The server removes the submission from its counts, in closed surveys too. It does not reveal whether the submission
    existed.

    Example:
      deniable withdraw https://example.org/s/health \
        4TRV-8HZ0-Q5WX-1N7C-KD3M-9PAE-60GB
    """
    with survey_client(address, survey_id, outbox=outbox) as client:
        client.withdraw(client.survey_id or "", code)
    click.echo("If a submission had this code, it is now erased and no longer counted.")
