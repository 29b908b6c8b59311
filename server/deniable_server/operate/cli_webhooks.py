"""Commands `deniable-server webhook`: make, list and remove webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import click

from deniable_server.config import Database
from deniable_server.operate.cli_database import database, json_option, opened, print_json
from deniable_server.store.webhooks import EVENTS


@click.group("webhook")
def webhook_commands() -> None:
    """Manage webhooks, which receive events of a survey."""


@webhook_commands.command("make")
@database
@click.option("--survey", "survey_id", metavar="ID", required=True, help="The survey.")
@click.option("--url", metavar="URL", required=True, help="The https:// address that messages are sent to.")
@click.option("--event", "events", type=click.Choice(list(EVENTS)), multiple=True, required=True, help="An event to send; may be repeated.")
def make(db: Database, survey_id: str, url: str, events: Sequence[str]) -> None:
    """Create a webhook. Its secret is printed once.

    Example:
      deniable-server webhook make --survey health --url https://example.org/in --event survey.closed
    """
    from deniable_server.api import webhooks

    with opened(db) as store:
        webhook, secret = webhooks.make(store, survey_id, url, events)
    click.echo(secret)
    click.echo(f"{webhook.id} receives events of {survey_id}. Nobody can print the secret again.", err=True)


@webhook_commands.command("list")
@database
@json_option
def list_webhooks(db: Database, as_json: bool) -> None:
    """List the webhooks.

    One line each, separated by tabs: id, survey, events, address, and since when deliveries fail.
    """
    with opened(db, writing=False) as store:
        webhooks = [webhook for webhook, _ in store.webhooks.all()]
    if as_json:
        print_json([asdict(webhook) for webhook in webhooks])
    else:
        for webhook in webhooks:
            line = "\t".join((webhook.id, webhook.survey, ",".join(webhook.events), webhook.url))
            click.echo(line + (f"\tfailing since {webhook.failing_since}" if webhook.failing_since else ""))


@webhook_commands.command("remove")
@database
@click.argument("webhook_id")
def remove(db: Database, webhook_id: str) -> None:
    """Remove a webhook and its waiting messages."""
    with opened(db) as store:
        matches = [webhook for webhook, _ in store.webhooks.all() if webhook.id == webhook_id]
        if not matches or not store.webhooks.remove(matches[0].survey, webhook_id):
            raise click.ClickException(f"there is no webhook with the id {webhook_id}")
    click.echo(f"{webhook_id} is removed.")
