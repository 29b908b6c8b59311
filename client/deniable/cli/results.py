"""`deniable results`: a survey's estimates, for its researcher."""

from __future__ import annotations

import os
from typing import Any

import click

from deniable.cli.options import form_options, interval_options, opened_client, printed, survey_option


@click.command("results")
@click.argument("address")
@survey_option
@click.option("--user", metavar="NAME", required=True, help="The researcher's name, as for logging in.")
@click.option("--password-env", metavar="VAR", help="The environment variable that has the password.  [default: ask]")
@click.option("--group", metavar="LABEL", help="The figures of this group only, where the survey has groups.")
@click.option("--by-hand", is_flag=True, help="The figures of those who answered with real coins; they are in no other results.")
@interval_options
@form_options
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
    printed(found, form)
