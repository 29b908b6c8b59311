"""`deniable results`, `crosstab`, `compare` and `regress`: what a live survey says, for its researcher."""

from __future__ import annotations

from typing import Any

import click

from deniable.cli.live import by_hand_option, group_option, method_option, reader, reads, show
from deniable.errors import EstimateError

_ADDRESS = click.argument("address")
Who = dict[str, Any]


def _split(options: dict[str, Any]) -> tuple[Who, dict[str, Any]]:
    """Who asks, and what is asked."""
    who = {name: options.pop(name) for name in ("survey_id", "user", "password_env", "key")}
    return who, options


@click.command("results")
@_ADDRESS
@reads(group_option, by_hand_option, method_option)
def results_command(address: str, form: str | None, **options: Any) -> None:
    """Print a survey's estimates and intervals.

    ADDRESS is the survey's link, or the server's address with --survey. A key needs the scope results.

    \b
    Example:
      deniable results https://example.org --survey health --user ada --password-env PASSWORD --csv > health.csv
    """
    who, asked = _split(options)
    with reader(address, **who) as client:
        found = client.results(client.survey_id or "", **asked)
    show(found, form)


@click.command("crosstab")
@_ADDRESS
@click.argument("questions", nargs=-1, required=True, metavar="QUESTION QUESTION [QUESTION]...")
@reads(group_option, by_hand_option)
def crosstab_command(address: str, questions: tuple[str, ...], form: str | None, **options: Any) -> None:
    """Print the joint shares of two or more questions of a survey.

    Two need a key with the scope results. More of them need the perturbed records, and so a key with both scopes, results and reports.

    \b
    Example:
      deniable crosstab https://example.org --survey health smokes party --user ada --password-env PASSWORD
    """
    if len(questions) < 2:
        raise click.UsageError("name at least two questions")
    who, asked = _split(options)
    with reader(address, **who) as client:
        found = client.analysis(client.survey_id or "", reports=len(questions) > 2, **asked)
    show(found.crosstab(*questions), form)


@click.command("compare")
@_ADDRESS
@click.argument("question")
@click.option("--first", metavar="LABEL", required=True, help="The group that is compared.")
@click.option("--second", metavar="LABEL", required=True, help="The group whose shares are taken less those of the first.")
@reads(by_hand_option)
def compare_command(address: str, question: str, first: str, second: str, form: str | None, **options: Any) -> None:
    """Print how the shares of a question differ between two groups of a survey.

    A key needs the scope results.

    \b
    Example:
      deniable compare https://example.org --survey clinics smokes --first North --second South --user ada --password-env PASSWORD
    """
    if first == second:
        raise EstimateError("--second must be another group than --first")
    who, asked = _split(options)
    with reader(address, **who) as client:
        groups = [client.analysis(client.survey_id or "", group=group, **asked) for group in (first, second)]
    show(groups[0].compare(groups[1], question), form)


@click.command("regress")
@_ADDRESS
@click.argument("formula")
@click.option("--model", type=click.Choice(["logit", "linear"]), default="logit", show_default=True, help="Of the outcome.")
@click.option("--scored", multiple=True, metavar="QUESTION", help="Enters as a number, by its scores; may be repeated.")
@reads(group_option, by_hand_option)
def regress_command(address: str, formula: str, model: str, scored: tuple[str, ...], form: str | None, **options: Any) -> None:
    """Print a regression of a survey's questions, from the perturbed records.

    A key needs the scopes results and reports.

    \b
    Example:
      deniable regress https://example.org --survey health 'smokes ~ party' --user ada --password-env PASSWORD
    """
    who, asked = _split(options)
    with reader(address, **who) as client:
        found = client.analysis(client.survey_id or "", reports=True, **asked)
    show(found.regress(formula, model=model, scored=scored), form)
