"""`deniable resend`: what waits in the outbox is sent."""

from __future__ import annotations

from pathlib import Path

import click

from deniable.cli.options import key_option, outbox_option, server_client
from deniable.delivery.jobs import counted
from deniable.delivery.outbox import Outbox, default_path
from deniable.errors import DeliveryError
from deniable.wire.link import server_address


def _server(ctx: click.Context, param: click.Parameter, written: str | None) -> str | None:
    try:
        return None if written is None else server_address(written)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command("resend")
@outbox_option
@key_option
@click.option("--refused", is_flag=True, help="Send again, too, what the server turned down before, for want of a key, say.")
@click.option(
    "--server",
    "only",
    metavar="URL",
    callback=_server,
    help="Send only what waits for this server. Needed with a key, where there are several servers.",
)
def resend_command(outbox: Path | None, key: str | None, refused: bool, only: str | None) -> None:
    """Send what waits in the outbox.

    What is sent are the bytes of the first attempt: nothing is randomized again.

    \b
    Example:
      deniable resend
    """
    path = outbox or default_path()
    if not path.exists():
        click.echo(f"Nothing waits: there is no outbox at {path}.")
        return
    box = Outbox(path)
    try:
        urls = box.urls()
    finally:
        box.close()
    urls = [url for url in urls if only in (None, url)]
    if not urls:
        click.echo("Nothing waits.")
    if key is not None and len(urls) > 1:
        raise click.UsageError(f"a key is one server's, and these have something waiting: {', '.join(urls)}; name one with --server")
    code = 0
    for url in urls:
        with server_client(url, outbox=path, key=key) as client:
            try:
                result = client.resend(refused=refused)
            except DeliveryError as error:
                click.echo(f"Error: {error}", err=True)
                code = 3
                continue
        click.echo(f"{url}: {counted(result.delivered, 'submission')} delivered, {len(result.refused):,} turned down by the server.")
        for kept in result.refused:
            click.echo(f"  {kept.survey}, {counted(kept.count, 'respondent')}: {kept.reason}", err=True)
            code = code or 1
    raise click.exceptions.Exit(code)
