"""Retry of submissions that wait in the outbox: the command `resend`."""

from __future__ import annotations

from pathlib import Path

import click

from deniable.cli.command import command
from deniable.cli.options import key_option, outbox_option, server_client
from deniable.delivery.jobs import counted
from deniable.delivery.outbox import Outbox, default_path
from deniable.errors import DeliveryError
from deniable.wire.link import server_address


def _parse_server(ctx: click.Context, param: click.Parameter, url: str | None) -> str | None:
    try:
        return None if url is None else server_address(url)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@command("resend")
@outbox_option
@key_option
@click.option("--refused", is_flag=True, help="Also send what the server rejected before, for example because a key was missing.")
@click.option(
    "--server",
    "only",
    metavar="URL",
    callback=_parse_server,
    help="Send only to this server. Required with a key if several servers have something waiting.",
)
def resend_command(outbox: Path | None, key: str | None, refused: bool, only: str | None) -> None:
    """Send the submissions that wait in the outbox.

    Sends the bytes of the first attempt: no answer is randomized again.

    Example:
      deniable resend
    """
    path = outbox or default_path()
    if not path.exists():
        click.echo(f"Nothing is waiting: there is no outbox at {path}.")
        return
    box = Outbox(path)
    try:
        urls = box.urls()
    finally:
        box.close()
    urls = [url for url in urls if only in (None, url)]
    if not urls:
        click.echo("Nothing is waiting.")
    if key is not None and len(urls) > 1:
        raise click.UsageError(f"an API key belongs to one server, but submissions wait for {', '.join(urls)}; choose one with --server")
    code = 0
    for url in urls:
        with server_client(url, outbox=path, key=key) as client:
            try:
                result = client.resend(refused=refused)
            except DeliveryError as error:
                click.echo(f"Error: {error}", err=True)
                code = 3
                continue
        click.echo(f"{url}: {counted(result.delivered, 'submission')} delivered, {len(result.refused):,} rejected by the server.")
        for submission in result.refused:
            click.echo(f"  {submission.survey}, {counted(submission.count, 'respondent')}: {submission.reason}", err=True)
            code = code or 1
    raise click.exceptions.Exit(code)
