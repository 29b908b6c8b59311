"""`deniable surveys`, `results`, `watch`, `crosstab`, `compare`, `waves` and `regress`: what a live survey says, for its researcher."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.live import account, account_options, by_hand_option, group_option, reader, sample_option, sampled, who_options
from deniable.cli.options import error_options, form_options, interval_options, printed, server_client
from deniable.client import SurveyClient
from deniable.errors import EstimateError, RejectedError

if TYPE_CHECKING:
    from deniable.estimate.analysis import Analysis

_ADDRESS = click.argument("address")


@click.command("results")
@_ADDRESS
@who_options
@group_option
@by_hand_option
@sample_option
@interval_options
@form_options
def results_command(address: str, form: str | None, **options: Any) -> None:
    """Print a survey's estimates and intervals.

    ADDRESS is the survey's link, or the server's address with --survey. A key needs the scope results.

    \b
    Example:
      deniable results https://example.org --survey health --user ada --password-env PASSWORD --csv > health.csv
    """
    options = sampled(options)
    with reader(address, options) as client:
        name = client.survey_id or ""
        found = client.analysis(name, **options).results if "sample" in options else client.results(name, **options)
    printed(found, form)


@click.command("watch")
@_ADDRESS
@who_options
@form_options
def watch_command(address: str, form: str | None, **options: Any) -> None:
    """Print how far a survey is.

    What is counted, how precise that makes it, when it will be as precise as was wanted, and what the checks of the method say is wrong.
    A key needs the scope results.

    \b
    Example:
      deniable watch https://example.org --survey health --user ada --password-env PASSWORD
    """
    with reader(address, options) as client:
        found = client.progress(client.survey_id or "")
    printed(found, form)


@click.command("surveys")
@click.argument("url", metavar="ADDRESS")
@account_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def surveys_command(url: str, as_json: bool, **options: Any) -> None:
    """Print which surveys one may see.

    Those in which the account has a role, or those that the key is for. A line for each: id, open, paused or closed, and title, with tabs
    between them. ADDRESS is the server's.

    \b
    Example:
      deniable surveys https://example.org --user ada --password-env PASSWORD
    """
    with server_client(url, **account(options)) as client:
        if as_json:
            click.echo(json.dumps([asdict(each) for each in client.surveys()], ensure_ascii=False, indent=1))
        else:
            for each in client.surveys():
                click.echo(f"{each.id}\t{each.state}\t{each.title}")


@click.command("crosstab")
@_ADDRESS
@click.argument("questions", nargs=-1, required=True, metavar="QUESTION QUESTION [QUESTION]...")
@who_options
@group_option
@by_hand_option
@sample_option
@error_options
@form_options
def crosstab_command(address: str, questions: tuple[str, ...], form: str | None, **options: Any) -> None:
    """Print the joint shares of several questions.

    Two need a key with the scope results. More of them need the perturbed records, and so a key with both scopes, results and reports.

    \b
    Example:
      deniable crosstab https://example.org --survey health smokes party --user ada --password-env PASSWORD
    """
    if len(questions) < 2:
        raise click.UsageError("name at least two questions")
    options = sampled(options)
    with reader(address, options) as client:
        found = client.analysis(client.survey_id or "", reports=len(questions) > 2, **options)
    printed(found.crosstab(*questions), form)


@click.command("compare")
@_ADDRESS
@click.argument("question")
@click.option("--first", metavar="LABEL", required=True, help="The group that is compared.")
@click.option("--second", metavar="LABEL", help="The group whose shares are taken less those of the first.  [default: every other group]")
@click.option("--pairs", is_flag=True, help="Every pair of groups, not only those with the first.")
@who_options
@by_hand_option
@error_options
@form_options
def compare_command(address: str, question: str, first: str, second: str | None, pairs: bool, form: str | None, **options: Any) -> None:
    """Print how groups differ in a question.

    Two groups; or, without --second, all groups and the first one, by the shares of a question and its mean, with intervals that hold for
    all of them together, p-values of each alone and corrected, and a test of all groups at once. Groups of which the server shows
    nothing yet are left out, and named. A key needs the scope results.

    \b
    Example:
      deniable compare https://example.org --survey clinics smokes --first North --second South --user ada --password-env PASSWORD
      deniable compare https://example.org --survey clinics smokes --first North --user ada --password-env PASSWORD
    """
    if first == second:
        raise EstimateError("--second must be another group than --first")
    if pairs and second is not None:
        raise click.UsageError("--pairs is of all groups: leave --second out")
    with reader(address, options) as client:
        reference = client.analysis(client.survey_id or "", group=first, **options)
        if second is not None:
            found: Any = reference.compare(client.analysis(client.survey_id or "", group=second, **options), question)
        else:
            found = reference.compare_groups(_others(client, reference, first, options), question, pairs=pairs)
    printed(found, form)


def _others(client: SurveyClient, reference: Analysis, first: str, options: dict[str, Any]) -> dict[str, Analysis]:
    """All groups but the first, in the survey's order, as far as the server shows them."""
    others = {}
    for group in reference.survey.groups:
        if group == first:
            continue
        try:
            others[group] = client.analysis(reference.survey.id, group=group, **options)
        except RejectedError as error:
            if error.status != 403:  # whoever may see the first group may see this one: it is withheld
                raise
            click.echo(f"{group} is left out: {error}", err=True)
    return others


@click.command("waves")
@_ADDRESS
@click.option("--second", "second_id", metavar="ID", required=True, help="The survey of the second wave, on the same server.")
@who_options
@group_option
@error_options
@form_options
def waves_command(address: str, second_id: str, form: str | None, group: str | None, **options: Any) -> None:
    """Print how the questions that two surveys share have changed.

    Shared are questions with the same id, type and options; the people must be independent samples. With --group, both are those of that
    group. A key needs the scope results, in both surveys.

    \b
    Example:
      deniable waves https://example.org --survey health26 --second health27 --user ada --password-env PASSWORD
    """
    with reader(address, options) as client:
        first, second = (client.analysis(which, group=group, **options) for which in (client.survey_id or "", second_id))
    printed(first.compare_waves(second), form)


@click.command("regress")
@_ADDRESS
@click.argument("formula")
@click.option(
    "--model",
    type=click.Choice(["logit", "linear"]),
    default="logit",
    show_default=True,
    help="What is modelled: the log odds of the outcome, or its mean.",
)
@click.option("--scored", multiple=True, metavar="QUESTION", help="A question that enters as a number, by its scores; may be repeated.")
@who_options
@group_option
@by_hand_option
@error_options
@form_options
def regress_command(address: str, formula: str, model: str, scored: tuple[str, ...], form: str | None, **options: Any) -> None:
    """Print a regression of a survey's questions.

    It is computed from the perturbed records: a key needs the scopes results and reports.

    \b
    Example:
      deniable regress https://example.org --survey health 'smokes ~ party' --user ada --password-env PASSWORD
    """
    with reader(address, options) as client:
        found = client.analysis(client.survey_id or "", reports=True, **options)
    printed(found.regress(formula, model=model, scored=scored), form)
