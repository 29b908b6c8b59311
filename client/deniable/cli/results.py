"""`deniable surveys`, `results`, `watch`, `crosstab`, `compare`, `waves`, `correlate` and `answered`: what a live survey says."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.live import account, account_options, by_hand_option, group_option, reader, sample_option, sampled, who_options
from deniable.cli.options import error_options, form_options, interval_options, printed, server_client
from deniable.errors import EstimateError, RejectedError
from deniable.sdk.client import SurveyClient

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
@click.option("--answered", is_flag=True, help="Shares among those who answered all of these questions, instead of all people.")
@error_options
@form_options
def crosstab_command(address: str, questions: tuple[str, ...], answered: bool, form: str | None, **options: Any) -> None:
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
    printed(found.crosstab(*questions, answered=answered), form)


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
@click.option(
    "--second",
    "later",
    metavar="ID",
    required=True,
    multiple=True,
    help="The survey of the next wave, on this server; may be repeated.",
)
@click.option("--times", metavar="T,T,…", help="When three waves or more were, such as 2024,2025,2026.  [default: 1,2,3]")
@click.option("--less", metavar="LABEL", help="Take the change in this group off that in --group: a difference in differences.")
@who_options
@group_option
@error_options
@form_options
def waves_command(
    address: str, later: tuple[str, ...], times: str | None, less: str | None, form: str | None, group: str | None, **options: Any
) -> None:
    """Print how the questions that several surveys share have changed.

    Shared are questions with the same id, type and options; the people must be independent samples. Of two waves, the changes; of three or
    more, the trend of each share and mean. With --group, all are those of that group. A key needs the scope results, in all surveys.

    \b
    Example:
      deniable waves https://example.org --survey health26 --second health27 --user ada --password-env PASSWORD
      deniable waves https://example.org --survey health26 --second health27 --group North --less South --user ada
    """
    if less is not None and (group is None or group == less or len(later) > 1):
        raise click.UsageError("--less needs another group in --group, and one --second")
    if times is not None and len(later) < 2:
        raise click.UsageError("--times is of three waves or more: give --second twice or more")
    when = None if times is None else _times(times)
    with reader(address, options) as client:
        names = [client.survey_id or "", *later]
        first, *others = (client.analysis(which, group=group, **options) for which in names)
        if less is None:
            found: Any = first.trend(*others, times=when) if when or len(others) > 1 else first.compare_waves(others[0])
        else:
            before, after = (client.analysis(which, group=less, **options) for which in names)
            found = _compared(first.compare_waves(others[0]), before.compare_waves(after), (less, str(group)))
    printed(found, form)


def _compared(changed: Any, reference: Any, names: tuple[str, str]) -> Any:
    from deniable.estimate.tables import compare_changes

    return compare_changes(reference, changed, names)


def _times(written: str) -> list[float]:
    try:
        when = [float(time) for time in written.split(",")]
        if not all(map(math.isfinite, when)):
            raise ValueError
        return when
    except ValueError:
        raise click.BadParameter(f"must be numbers with commas between them, got {written!r}", param_hint="--times") from None


@click.command("correlate")
@_ADDRESS
@click.argument("first", metavar="QUESTION")
@click.argument("second", metavar="QUESTION")
@who_options
@group_option
@by_hand_option
@sample_option
@error_options
@form_options
def correlate_command(address: str, first: str, second: str, form: str | None, **options: Any) -> None:
    """Print the correlation of two questions' scores.

    It is Pearson's, of the true answers of those who answered both; of yes and no, yes counts as 1. A number that is rounded at random has
    none. A key needs the scope results.

    \b
    Example:
      deniable correlate https://example.org --survey health mood sleep --user ada --password-env PASSWORD
    """
    options = sampled(options)
    with reader(address, options) as client:
        found = client.analysis(client.survey_id or "", **options)
    printed(found.correlation(first, second), form)


@click.command("answered")
@_ADDRESS
@click.argument("question")
@who_options
@group_option
@by_hand_option
@sample_option
@error_options
@form_options
def answered_command(address: str, question: str, form: str | None, **options: Any) -> None:
    """Print the shares among those who answered a question.

    For a question that need not be answered. Of one that is shown only after some answers to another question: among those who were shown
    it, and among those who answered it. A key needs the scope results.

    \b
    Example:
      deniable answered https://example.org --survey health often --user ada --password-env PASSWORD
    """
    options = sampled(options)
    with reader(address, options) as client:
        found = client.analysis(client.survey_id or "", **options)
    branching = any(one.id == question and one.show_if for one in found.survey.questions)
    printed(found.among_shown(question) if branching else found.answered(question), form)
