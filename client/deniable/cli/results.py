"""`deniable results`: a survey's estimates, for its researcher."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from deniable.cli.options import opened_client, survey_option


@click.command("results")
@click.argument("address")
@survey_option
@click.option("--user", required=True, help="The researcher's name.")
@click.option("--password-env", metavar="VAR", help="The environment variable that has the password.  [default: ask]")
@click.option("--group", metavar="LABEL", help="Of this group only, where the survey has groups.")
@click.option("--by-hand", is_flag=True, help="Of those who answered with real coins; they are in no other results.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals, between 0 and 1.")
@click.option("--method", default="feldman-cousins", show_default=True, help="Of the intervals.")
@click.option("--target", type=click.Choice(["population", "respondents"]), default="population", show_default=True)
@click.option("--table", "form", flag_value="table", help="Print a table.  [default]")
@click.option("--csv", "form", flag_value="csv", help="Print CSV.")
@click.option("--json", "form", flag_value="json", help="Print JSON.")
def results_command(address: str, survey_id: str | None, user: str, password_env: str | None, form: str | None, **options: Any) -> None:
    """Print a survey's estimates and intervals.

    ADDRESS is the survey's link, or the server's address with --survey.

    \b
    Example:
      deniable results https://example.org --survey health --user ada --password-env PASSWORD --csv > health.csv
    """
    password = os.environ.get(password_env) if password_env else click.prompt("Password", hide_input=True, err=True)
    if password is None:
        raise click.BadParameter(f"the environment variable {password_env} is not set", param_hint="--password-env")
    with opened_client(address, survey_id, auth=(user, password)) as client:
        found = client.results(client.survey_id or "", **options)
    forms: dict[str, Callable[[], str]] = {"table": found.to_table, "csv": found.to_csv, "json": found.to_json}
    click.echo(forms[form or "table"]().rstrip("\r\n"))
