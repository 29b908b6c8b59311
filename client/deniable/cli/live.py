"""What the commands that read a live survey have in common: an address, who asks, which records, how sure, and in which form."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from deniable.cli.options import key_option, opened_client, survey_option
from deniable.client import SurveyClient

F = TypeVar("F", bound=Callable[..., Any])

_WHO = (
    survey_option,
    click.option("--user", help="The researcher's name.  [default: the key is used]"),
    click.option("--password-env", metavar="VAR", help="The environment variable that has the password.  [default: ask]"),
    key_option,
)
_INTERVAL = (
    click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals, between 0 and 1."),
    click.option("--target", type=click.Choice(["population", "respondents"]), default="population", show_default=True),
)
_FORM = (
    click.option("--table", "form", flag_value="table", help="Print a table.  [default]"),
    click.option("--csv", "form", flag_value="csv", help="Print CSV."),
    click.option("--json", "form", flag_value="json", help="Print JSON."),
)
group_option = click.option("--group", metavar="LABEL", help="Of this group only, where the survey has groups.")
by_hand_option = click.option("--by-hand", is_flag=True, help="Of those who tossed coins themselves; they are in no other results.")
method_option = click.option("--method", default="feldman-cousins", show_default=True, help="Of the intervals.")


def reads(*own: Callable[[Any], Any]) -> Callable[[F], F]:
    """Gives a command the options that all of these take, and its own between who asks and how sure."""

    def with_options(command: F) -> F:
        for option in reversed((*_WHO, *own, *_INTERVAL, *_FORM)):
            command = option(command)
        return command

    return with_options


def reader(address: str, survey_id: str | None, user: str | None, password_env: str | None, key: str | None) -> SurveyClient:
    """A client for whoever asks: by name and password, or else by the key. Asks for a password that nothing names."""
    if user is None and password_env is None and key is not None:
        return opened_client(address, survey_id, key=key)
    if user is None:
        raise click.UsageError("--user is missing (or a key, in the environment variable that --key-env names)")
    password = os.environ.get(password_env) if password_env else click.prompt("Password", hide_input=True, err=True)
    if password is None:
        raise click.BadParameter(f"the environment variable {password_env} is not set", param_hint="--password-env")
    return opened_client(address, survey_id, auth=(user, password))


def show(found: Any, form: str | None) -> None:
    """Prints what was found, in the form that was chosen."""
    forms: dict[str, Callable[[], str]] = {"table": found.to_table, "csv": found.to_csv, "json": found.to_json}
    click.echo(forms[form or "table"]().rstrip("\r\n"))
