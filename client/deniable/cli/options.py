"""What several commands take: an address, an outbox, a key, a cap."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from deniable.sdk.arguments import checked_cap
from deniable.sdk.client import SurveyClient
from deniable.survey.types.base import printable
from deniable.wire.link import Link

Decorated = Callable[..., Any]
_VARIABLE = re.compile(r"(?!dk_)[A-Za-z_][A-Za-z0-9_]*")
"""A usual name of an environment variable. One that begins like a key may be a key."""


def cap(ctx: click.Context, param: click.Parameter, written: str) -> float:
    try:
        return checked_cap(param.opts[0], written)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


outbox_option = click.option(
    "--outbox",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="DENIABLE_OUTBOX",
    show_envvar=True,
    help="The file that keeps perturbed answers until the server has them.  [default: in your data folder]",
)


def unset(variable: str, option: str | None = None) -> click.BadParameter:
    """What to raise where a variable is not set. It does not quote what may be a key or a password, given in the place of the name."""
    if _VARIABLE.fullmatch(variable):
        return click.BadParameter(f"the environment variable {variable} is not set", param_hint=option)
    return click.BadParameter("takes the name of an environment variable, not what is in it", param_hint=option)


def _key(ctx: click.Context, param: click.Parameter, variable: str) -> str | None:
    """The key in the environment variable; none where the usual one is not set."""
    key = os.environ.get(variable)
    if key is None and ctx.get_parameter_source(str(param.name)) is not click.core.ParameterSource.DEFAULT:
        raise unset(variable)
    return key


key_option = click.option(
    "--key-env",
    "key",
    metavar="VAR",
    default="DENIABLE_KEY",
    show_default=True,
    callback=_key,
    help="The environment variable that has the server's key.",
)
survey_option = click.option("--survey", "survey_id", metavar="ID", help="The survey's id, where ADDRESS is a server and not a link.")


def interval_options(command: Decorated) -> Decorated:
    """The options that say which intervals are wanted: `confidence`, `method` and `target`."""
    for option in (_target, _method, _confidence):
        command = option(command)
    return command


def error_options(command: Decorated) -> Decorated:
    """Of these `confidence` and `target`, for figures whose intervals have one method."""
    for option in (_target, _confidence):
        command = option(command)
    return command


def form_options(command: Decorated) -> Decorated:
    """The options that say how figures are printed: `form`, which `printed` takes."""
    for option in (_json, _csv, _table):
        command = option(command)
    return command


def printed(figures: Any, form: str | None) -> None:
    """Prints a result as a table, or in the form asked for."""
    forms: dict[str, Callable[[], str]] = {"table": figures.to_table, "csv": figures.to_csv, "json": figures.to_json}
    text = forms[form or "table"]().rstrip("\r\n")
    # its words may be a server's, and are not to steer the terminal
    click.echo("".join(c if c == "\r" or printable(c) else "\N{REPLACEMENT CHARACTER}" for c in text))


_confidence = click.option(
    "--confidence", type=float, metavar="P", default=0.95, show_default=True, help="How sure the intervals are to be, between 0 and 1."
)
_method = click.option(
    "--method",
    metavar="NAME",
    default="feldman-cousins",
    show_default=True,
    help="How the intervals of shares are made: feldman-cousins, likelihood-ratio, wilson, clopper-pearson or wald; "
    "for the target respondents: feldman-cousins, constrained-score or score.",
)
_target = click.option(
    "--target",
    type=click.Choice(["population", "respondents"]),
    default="population",
    show_default=True,
    help="Whom the figures are about: the people of whom the respondents are a sample, or the respondents alone.",
)
_table = click.option("--table", "form", flag_value="table", help="Print a table.  [default]")
_csv = click.option("--csv", "form", flag_value="csv", help="Print CSV.")
_json = click.option("--json", "form", flag_value="json", help="Print JSON.")


def server_client(url: str, **options: Any) -> SurveyClient:
    try:
        return SurveyClient(url, **options)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def opened_client(address: str, survey_id: str | None, **options: Any) -> SurveyClient:
    """A client for a link, or for a server and a survey id; its `survey_id` is set."""
    is_link = survey_id is None or "/s/" in address
    try:
        if is_link:
            Link.parse(address)
    except ValueError as error:
        hint = "" if survey_id else " (or give a server's address, and --survey ID)"
        raise click.UsageError(f"{error}{hint}") from None
    try:
        client = SurveyClient.from_link(address, **options) if is_link else SurveyClient(address, **options)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if survey_id and client.survey_id not in (None, survey_id):
        client.close()
        raise click.UsageError(f"--survey must be the survey of the link, {client.survey_id}, got {survey_id}")
    client.survey_id = client.survey_id or survey_id
    return client
