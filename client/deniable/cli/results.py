"""Results of a live survey: the commands `surveys`, `results`, `watch`, `crosstab`, `compare`, `waves`, `correlate` and `answered`."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import click

from deniable.cli.command import command
from deniable.cli.live import LiveSurvey, account_options, by_hand_option, credentials, group_option, live_command, sample_option
from deniable.cli.options import error_options, interval_options, server_client
from deniable.errors import EstimateError

among_option = click.option(
    "--among", metavar="QUESTION=ANSWER", help="Estimate the other questions among people with this true answer: smokes=yes."
)


@live_command("results", among_option, group_option, by_hand_option, sample_option, interval_options)
def results_command(survey: LiveSurvey, among: str | None) -> Any:
    r"""Print a survey's estimates and intervals.

    ADDRESS is the survey's link, or the server's address with --survey. An API key needs the scope results. With --among, each figure is
    estimated as in a cross table, since no answer of a person is known.

    Examples:
      deniable results https://example.org/s/health --user ada --csv > health.csv
      deniable results https://example.org/s/health --user ada \
        --among smokes=yes
    """
    if among is not None:
        from deniable.estimate.tables.subpopulation import AnswerFilter

        analysis = survey.analysis()
        people = AnswerFilter.parse(analysis.survey, among)
        return analysis.among(people.question, people.option)
    if "sample" in survey.selection:
        return survey.analysis().results
    return survey.client.results(survey.id, **survey.selection)


@live_command("watch")
def watch_command(survey: LiveSurvey) -> Any:
    """Show a survey's progress.

    Prints the number of counted records, the precision they give, the date of the precision you want, and warnings of the
    method's checks. An API key needs the scope results.

    Example:
      deniable watch https://example.org/s/health --user ada
    """
    return survey.client.progress(survey.id)


@command("surveys")
@click.argument("url", metavar="ADDRESS")
@account_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def surveys_command(url: str, as_json: bool, **options: Any) -> None:
    """List the surveys you may see.

    These are the surveys where your account has a role, or the surveys of your API key. Prints a line for each, separated by tabs: id,
    state (open, paused or closed) and title. ADDRESS is the server's.

    Example:
      deniable surveys https://example.org --user ada
    """
    with server_client(url, **credentials(options)) as client:
        surveys = client.surveys()
        if as_json:
            click.echo(json.dumps([asdict(survey) for survey in surveys], ensure_ascii=False, indent=1))
        else:
            for survey in surveys:
                click.echo(f"{survey.id}\t{survey.state}\t{survey.title}")


def _check_number_of_questions(ctx: click.Context, param: click.Parameter, questions: tuple[str, ...]) -> tuple[str, ...]:
    if len(questions) < 2:
        raise click.UsageError("name at least two questions")
    return questions


@live_command(
    "crosstab",
    click.argument("questions", nargs=-1, required=True, metavar="QUESTION QUESTION [QUESTION]...", callback=_check_number_of_questions),
    click.option("--answered", is_flag=True, help="Print shares among people who answered all of these questions."),
    group_option,
    by_hand_option,
    sample_option,
    error_options,
)
def crosstab_command(survey: LiveSurvey, questions: tuple[str, ...], answered: bool) -> Any:
    """Estimate a cross table of two or more questions.

    Prints joint shares. For two questions an API key needs the scope results. More questions are estimated from the perturbed records,
    which takes both scopes, results and reports.

    Example:
      deniable crosstab https://example.org/s/health smokes party --user ada
    """
    return survey.analysis(reports=len(questions) > 2).crosstab(*questions, answered=answered)


@live_command(
    "compare",
    click.argument("question"),
    click.option("--first", metavar="LABEL", required=True, help="The group to compare others with."),
    click.option("--second", metavar="LABEL", help="The other group.  [default: every other group]"),
    click.option("--pairs", is_flag=True, help="Compare every pair of groups, not only pairs with the first."),
    by_hand_option,
    error_options,
)
def compare_command(survey: LiveSurvey, question: str, first: str, second: str | None, pairs: bool) -> Any:
    r"""Compare groups in a question.

    Prints the difference of each share and of the mean: the second group less the first. Without --second, each other group is compared
    with the first, with simultaneous intervals, p-values with and without correction, and a test of all groups at once. Groups with
    too few records are left out, and named. An API key needs the scope results.

    Examples:
      deniable compare https://example.org/s/clinics smokes --first A --user ada
      deniable compare https://example.org/s/clinics smokes \
        --first A --second B --user ada
    """
    if first == second:
        raise EstimateError("--second must be another group than --first")
    if pairs and second is not None:
        raise click.UsageError("--pairs compares all groups: leave --second out")
    reference = survey.analysis(group=first)
    if second is not None:
        return reference.compare(survey.analysis(group=second), question)
    others = survey.analyses([group for group in reference.survey.groups if group != first])
    return reference.compare_groups(others, question, pairs=pairs)


@live_command(
    "waves",
    click.option(
        "--second",
        "later",
        metavar="ID",
        required=True,
        multiple=True,
        help="The survey of the next wave, on the same server; may be repeated.",
    ),
    click.option("--times", metavar="T,T,…", help="The times of three waves or more, such as 2024,2025,2026.  [default: 1,2,3]"),
    click.option("--less", metavar="LABEL", help="Subtract this group's change from --group's: a difference in differences."),
    group_option,
    error_options,
)
def waves_command(survey: LiveSurvey, later: tuple[str, ...], times: str | None, less: str | None) -> Any:
    r"""Estimate changes between waves.

    A wave is a survey; its respondents must be an independent sample. Compares questions with the same id, type and options. Two waves
    give changes; three or more give the trend of each share and mean. An API key needs the scope results in all these surveys.

    Examples:
      deniable waves https://example.org/s/health26 --second health27 --user ada
      deniable waves https://example.org/s/health26 --second health27 \
        --group North --less South --user ada
    """
    group = survey.selection["group"]
    if less is not None and (group is None or group == less or len(later) > 1):
        raise click.UsageError("--less needs another group in --group, and one --second")
    if times is not None and len(later) < 2:
        raise click.UsageError("--times needs three waves or more: give --second twice or more")
    numbers = None if times is None else _parse_times(times)
    ids = [survey.id, *later]
    first, *others = (survey.analysis(wave) for wave in ids)
    if less is None:
        return first.trend(*others, times=numbers) if numbers or len(others) > 1 else first.compare_waves(others[0])
    from deniable.estimate.tables import compare_changes

    before, after = (survey.analysis(wave, group=less) for wave in ids)
    return compare_changes(before.compare_waves(after), first.compare_waves(others[0]), (less, str(group)))


def _parse_times(text: str) -> list[float]:
    try:
        times = [float(time) for time in text.split(",")]
        if not all(map(math.isfinite, times)):
            raise ValueError
        return times
    except ValueError:
        raise click.BadParameter(f"must be numbers with commas between them, got {text!r}", param_hint="--times") from None


@live_command(
    "correlate",
    click.argument("first", metavar="QUESTION"),
    click.argument("second", metavar="QUESTION"),
    group_option,
    by_hand_option,
    sample_option,
    error_options,
)
def correlate_command(survey: LiveSurvey, first: str, second: str) -> Any:
    """Estimate the correlation of two questions' scores.

    Prints Pearson's correlation of the true answers, among people who answered both questions. Yes scores 1, no 0. A number that is
    rounded at random has no correlation. An API key needs the scope results.

    Example:
      deniable correlate https://example.org/s/health mood sleep --user ada
    """
    return survey.analysis().correlation(first, second)


@live_command("answered", click.argument("question"), group_option, by_hand_option, sample_option, error_options)
def answered_command(survey: LiveSurvey, question: str) -> Any:
    """Estimate shares among people who answered a question.

    For a question that people may skip. If a condition hides the question from some people: shares among people who were shown it, and
    among people who answered it. An API key needs the scope results.

    Example:
      deniable answered https://example.org/s/health often --user ada
    """
    analysis = survey.analysis()
    is_conditional = any(item.id == question and item.show_if for item in analysis.survey.questions)
    return analysis.among_shown(question) if is_conditional else analysis.answered(question)
