"""Options that several commands share: addresses, the outbox, API keys, intervals, and the output format."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from deniable.cli.command import Function
from deniable.sdk.arguments import checked_cap
from deniable.sdk.client import SurveyClient
from deniable.survey.types.base import printable
from deniable.wire.link import Link

_VARIABLE = re.compile(r"(?!dk_)[A-Za-z_][A-Za-z0-9_]*")
"""A usual name of an environment variable. A name with the prefix of API keys may be a key."""


def parse_cap(ctx: click.Context, param: click.Parameter, text: str) -> float:
    """Returns an epsilon. Raises click.BadParameter if it is out of range."""
    try:
        return checked_cap(param.opts[0], text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


outbox_option = click.option(
    "--outbox",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="DENIABLE_OUTBOX",
    show_envvar=True,
    help="The file that keeps perturbed answers until the server has them.  [default: in your data folder]",
)


def unset_variable_error(variable: str, option: str | None = None) -> click.BadParameter:
    """Returns the error for a variable that is not set. It never quotes a key or a password given instead of a name."""
    if _VARIABLE.fullmatch(variable):
        return click.BadParameter(f"the environment variable {variable} is not set", param_hint=option)
    return click.BadParameter("must be the name of an environment variable, not its value", param_hint=option)


def _api_key(ctx: click.Context, param: click.Parameter, variable: str) -> str | None:
    """Returns the key in the environment variable; None if the default variable is not set."""
    key = os.environ.get(variable)
    if key is None and ctx.get_parameter_source(str(param.name)) is not click.core.ParameterSource.DEFAULT:
        raise unset_variable_error(variable)
    return key


key_option = click.option(
    "--key-env",
    "key",
    metavar="VAR",
    default="DENIABLE_KEY",
    show_default=True,
    callback=_api_key,
    help="The environment variable with your API key.",
)
survey_option = click.option("--survey", "survey_id", metavar="ID", help="The survey's id, if ADDRESS is a server's.")


def interval_options(function: Function) -> Function:
    """Adds the options for intervals of shares: `confidence`, `method` and `target`."""
    for option in (_target, _method, _confidence):
        function = option(function)
    return function


def error_options(function: Function) -> Function:
    """Adds the options for intervals that have one method only: `confidence` and `target`."""
    for option in (_target, _confidence):
        function = option(function)
    return function


def form_options(function: Function) -> Function:
    """Adds the options for the output format: `form`, which `print_result` takes."""
    for option in (_json, _csv, _table):
        function = option(function)
    return function


def print_result(result: Any, form: str | None) -> None:
    """Prints a result as a table, or in another form."""
    forms: dict[str, Callable[[], str]] = {"table": result.to_table, "csv": result.to_csv, "json": result.to_json}
    text = forms[form or "table"]().rstrip("\r\n")
    # words from a server must not steer the terminal
    click.echo("".join(c if c == "\r" or printable(c) else "\N{REPLACEMENT CHARACTER}" for c in text))


_confidence = click.option(
    "--confidence", type=float, metavar="P", default=0.95, show_default=True, help="The confidence level of intervals, between 0 and 1."
)
_method = click.option(
    "--method",
    metavar="NAME",
    default="feldman-cousins",
    show_default=True,
    help="The method for intervals of shares: feldman-cousins, likelihood-ratio, wilson, clopper-pearson or wald; "
    "with --target respondents: feldman-cousins, constrained-score or score.",
)
_target = click.option(
    "--target",
    type=click.Choice(["population", "respondents"]),
    default="population",
    show_default=True,
    help="Estimate for the population that the respondents are a sample of, or for the respondents alone.",
)
_table = click.option("--table", "form", flag_value="table", help="Print a table.  [default]")
_csv = click.option("--csv", "form", flag_value="csv", help="Print CSV.")
_json = click.option("--json", "form", flag_value="json", help="Print JSON.")


def server_client(url: str, **options: Any) -> SurveyClient:
    """Returns a client of a server. Raises click.UsageError for an invalid address or option."""
    try:
        return SurveyClient(url, **options)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def survey_client(address: str, survey_id: str | None, **options: Any) -> SurveyClient:
    """Returns a client of a survey, with its `survey_id` set.

    Args:
        address: The survey's link, or the server's address.
        survey_id: The survey's id, if the address is a server's.
        options: Arguments of SurveyClient.

    Raises:
        click.UsageError: The address, the id or an option is invalid.
    """
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
