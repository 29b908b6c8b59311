"""`deniable`: check a survey file, send answers, take them back, read results.

Exit codes: 0 done; 1 a problem was found, or somebody said no; 2 wrong usage; 3 not delivered, the outbox keeps it.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import click

from deniable import codes
from deniable.bulk import Report, counted
from deniable.cli_estimate import estimate
from deniable.cli_ledger import ledger_command, ledger_option
from deniable.cli_plan import plan_command
from deniable.cli_verify import verify_command
from deniable.client import SurveyClient, parse_cap
from deniable.errors import DeliveryError, DeniableError, SurveyError
from deniable.labels import warnings
from deniable.link import parse_link
from deniable.outbox import Outbox, default_path
from deniable.posterior import People, least_protected, people, posterior_bound
from deniable.rows import CsvRows, JsonLines, Rejected
from deniable.schema import survey_schema
from deniable.submission import record_bytes
from deniable.survey import Survey
from deniable.total import HIGH

_UNPINNED = (
    "Note: the survey's definition was not pinned. The address has no #digest=…, and there was no --pin, so nothing shows that this "
    "survey is the one that was meant, or the one that others get."
)


class _Commands(click.Group):
    """Turns the errors that are meant into one message and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except DeniableError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(3 if isinstance(error, DeliveryError) else 1)
        except OSError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(1)


def _cap(ctx: click.Context, param: click.Parameter, written: str) -> float:
    try:
        return parse_cap(param.opts[0], written)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _written_code(ctx: click.Context, param: click.Parameter, text: str) -> str:
    try:
        return codes.written(codes.read(text))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


_outbox = click.option(
    "--outbox",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="DENIABLE_OUTBOX",
    show_envvar=True,
    help="The file that keeps perturbed answers until the server has them.  [default: in your data folder]",
)


def _key(ctx: click.Context, param: click.Parameter, variable: str) -> str | None:
    """The key in the environment variable; none where the usual one is not set."""
    key = os.environ.get(variable)
    if key is None and ctx.get_parameter_source(str(param.name)) is not click.core.ParameterSource.DEFAULT:
        raise click.BadParameter(f"the environment variable {variable} is not set")
    return key


_key_option = click.option(
    "--key-env",
    "key",
    metavar="VAR",
    default="DENIABLE_KEY",
    show_default=True,
    callback=_key,
    help="The environment variable that has the server's key, which many rows a request need.",
)
_survey = click.option("--survey", "survey_id", metavar="ID", help="The survey's id, where ADDRESS is a server and not a link.")


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="deniable", prog_name="deniable")
def main() -> None:
    """Surveys whose server cannot learn an answer: every answer is randomized on this machine before it leaves.

    \b
    Exit codes: 0 done; 1 a problem was found, or the server said no; 2 wrong usage;
    3 not delivered, and kept in the outbox (see `deniable resend`).
    """


main.add_command(plan_command)
main.add_command(estimate)
main.add_command(ledger_command)
main.add_command(verify_command)


@main.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--n", "respondents", type=click.IntRange(1), metavar="N", help="How many people will answer: are the groups large enough?")
@click.option("--exact", is_flag=True, help="Show the coins' thresholds, and epsilon to the last digit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, which always has both.")
def check(file: Path, respondents: int | None, exact: bool, as_json: bool) -> None:
    """Check the survey in FILE (YAML or JSON), and show how well it protects respondents.

    All mistakes are listed together, with their lines, and the exit code is 1.

    Texts that one of the survey's languages lacks are notes: respondents read them in the survey's own. Labels of groups
    that look like persons, and more groups than a tenth of N, are warnings.

    \b
    For each question: its part of the survey's epsilon, and its odds: how many of 100 people who
    give an answer have it in their record, and how many of 100 who give another one do.

    \b
    With --exact instead: k, its number of categories; d, how many of them a report names;
    keep_threshold: the respondent's own answer is recorded if, and only if, a random 32-bit number
    is below it; and the exact epsilon that these integers give.

    \b
    Examples:
      deniable check survey.yaml
      deniable check survey.yaml --exact
    """
    try:
        survey = Survey.from_file(file)
    except SurveyError as error:
        if as_json:
            click.echo(json.dumps({"problems": [asdict(problem) for problem in error.problems]}, indent=2))
        else:
            for problem in error.problems:
                at = f"{file}:{problem.line}" if problem.line else f"{file}"
                click.echo(f"{at}: {problem.where}: {problem.message}", err=True)
        raise click.exceptions.Exit(1) from None
    doubts = list(warnings(survey.groups, respondents))
    if as_json:
        click.echo(json.dumps({**_description(survey), "warnings": doubts}, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join([_overview(survey, exact), *(f"warning: {doubt}" for doubt in doubts)]))


@main.command()
def schema() -> None:
    """Print the JSON Schema of survey files, for editors and other tools.

    \b
    Example:
      deniable schema > survey.schema.json
    """
    click.echo(json.dumps(survey_schema(), indent=2))


@main.command()
@click.argument("address")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@_survey
@click.option(
    "--max-epsilon",
    metavar="E",
    default=str(HIGH),
    show_default=True,
    callback=_cap,
    help="Send nothing if a submission would give away more, e.g. 2 or 'ln 9'.",
)
@click.option("--pin", metavar="DIGEST", help="Send nothing unless the survey has this digest (`deniable check` prints it).")
@click.option("--group", metavar="LABEL", help="The group of all rows, where the survey has groups.  [default: the link's]")
@click.option("--group-column", metavar="NAME", help="The column that names each row's group.")
@click.option("--invitation", metavar="CODE", help="The code of the only row, where the survey takes invitations.  [default: the link's]")
@click.option("--person-column", metavar="NAME", help="The column with each person's key: what they give away is added up in the ledger.")
@click.option(
    "--person-cap",
    metavar="E",
    default=str(HIGH),
    show_default=True,
    callback=_cap,
    help="Send nothing of a person whose sum over all surveys would come above this.",
)
@ledger_option
@click.option("--column", "columns", multiple=True, metavar="QUESTION=COLUMN", help="The column of a question, if it is not named like it.")
@click.option("--jsonl", is_flag=True, help="FILE has one JSON object a line.  [default: for .jsonl]")
@click.option("--batch", type=click.IntRange(1, 100_000), default=10_000, show_default=True, help="Rows a request.")
@click.option("--skip-invalid", is_flag=True, help="Leave out rows with wrong answers, instead of sending nothing.")
@click.option(
    "--rejects", type=click.File("w", encoding="utf-8", lazy=False), help="Write the rows left out, as CSV: row, question, reason."
)
@click.option("--job", help="The name that progress is kept under.  [default: FILE's path; none for -]")
@_key_option
@_outbox
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def submit(
    address: str,
    file: str,
    survey_id: str | None,
    max_epsilon: float,
    pin: str | None,
    group: str | None,
    group_column: str | None,
    invitation: str | None,
    person_column: str | None,
    person_cap: float,
    ledger: Path | None,
    columns: Sequence[str],
    jsonl: bool,
    batch: int,
    skip_invalid: bool,
    rejects: IO[str] | None,
    job: str | None,
    key: str | None,
    outbox: Path | None,
    as_json: bool,
) -> None:
    """Randomize the answers in FILE and send them, a respondent a row.

    ADDRESS is the survey's link, or the server's address with --survey. FILE is CSV in UTF-8 whose first line
    names the columns, JSON lines, or - for standard input. Other columns are ignored.

    Stopped or killed, run the same command again: it goes on behind the last row that was randomized, and
    no answer is randomized or counted twice. (Standard input needs a --job for that.)

    Many rows a request need a key of the server with the scope submit, in the environment variable
    DENIABLE_KEY. Without one, --batch 1 sends each row by itself.

    \b
    Examples:
      deniable submit 'https://example.org/s/health#digest=9f…' answers.csv
      deniable submit https://example.org --survey health --max-epsilon 'ln 9' answers.csv
      deniable submit https://example.org/s/health --group-column clinic answers.csv
      deniable submit https://example.org/s/health --person-column staff_id answers.csv
      export-answers | deniable submit https://example.org/s/health --job monday -
    """
    if rejects and not skip_invalid:
        raise click.UsageError("--rejects needs --skip-invalid: without it, a wrong row stops everything")
    if group is not None and group_column is not None:
        raise click.UsageError("give one of --group and --group-column")
    account = {"ledger": ledger or True, "person_cap": person_cap} if person_column is not None else {}
    with _client(address, survey_id, max_epsilon=max_epsilon, pin=pin, outbox=outbox, key=key, **account) as client:
        report = client.submit_many(
            client.survey_id or "",
            _source(file, jsonl),
            group=group,
            group_column=group_column,
            invitation=invitation,
            person_column=person_column,
            job=job,
            columns=_columns(columns),
            batch=batch,
            progress=sys.stderr.isatty(),
            on_invalid="skip" if skip_invalid else "raise",
        )
    if not report.pinned:
        click.echo(_UNPINNED, err=True)
    if rejects:
        _write_rejects(rejects, report.rejected)
    click.echo(json.dumps(_summary(report)) if as_json else _told(report))


@main.command()
@click.argument("address")
@click.argument("code", callback=_written_code)
@_survey
@_outbox
def withdraw(address: str, code: str, survey_id: str | None, outbox: Path | None) -> None:
    """Erase a submission: CODE is what its sender was shown, such as 4TRV-8HZ0-….

    ADDRESS is the survey's link, or the server's address with --survey. Closed surveys too. The server takes the submission out of its
    counts, and does not say whether it had it.

    \b
    Example:
      deniable withdraw https://example.org/s/health 4TRV-8HZ0-Q5WX-1N7C-KD3M-9PAE-60GB
    """
    with _client(address, survey_id, outbox=outbox) as client:
        client.withdraw(client.survey_id or "", code)
    click.echo("If a submission was kept under this code, it is erased now and taken out of the counts.")


@main.command()
@_outbox
@_key_option
@click.option("--refused", is_flag=True, help="Also send again what the server turned down before, for want of a key say.")
@click.option("--server", "only", metavar="URL", help="Only what waits for this server; a key needs it where there are several.")
def resend(outbox: Path | None, key: str | None, refused: bool, only: str | None) -> None:
    """Send what waits in the outbox: the bytes of the first attempt, never randomized again.

    \b
    Example:
      deniable resend
    """
    path = outbox or default_path()
    if not path.exists():
        click.echo(f"Nothing waits: there is no outbox at {path}.")
        return
    box = Outbox(path)
    try:
        urls = box.urls()
    finally:
        box.close()
    urls = [url for url in urls if only is None or url == only.rstrip("/")]
    if not urls:
        click.echo("Nothing waits.")
    if key is not None and len(urls) > 1:
        raise click.UsageError(f"a key is one server's, and these have something waiting: {', '.join(urls)}; name one with --server")
    code = 0
    for url in urls:
        with _server(url, outbox=path, key=key) as client:
            try:
                result = client.resend(refused=refused)
            except DeliveryError as error:
                click.echo(f"Error: {error}", err=True)
                code = 3
                continue
        click.echo(f"{url}: {counted(result.delivered, 'submission')} delivered, {len(result.refused):,} turned down by the server.")
        for kept in result.refused:
            click.echo(f"  {kept.survey}, {counted(kept.count, 'respondent')}: {kept.reason}", err=True)
            code = code or 1
    raise click.exceptions.Exit(code)


@main.command()
@click.argument("address")
@_survey
@click.option("--user", required=True, help="The researcher's name.")
@click.option("--password-env", metavar="VAR", help="The environment variable that has the password.  [default: ask]")
@click.option("--group", metavar="LABEL", help="Of this group only, where the survey has groups.")
@click.option("--by-hand", is_flag=True, help="Of those who tossed coins themselves; they are in no other results.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals, between 0 and 1.")
@click.option("--method", default="feldman-cousins", show_default=True, help="Of the intervals.")
@click.option("--target", type=click.Choice(["population", "respondents"]), default="population", show_default=True)
@click.option("--table", "form", flag_value="table", help="Print a table.  [default]")
@click.option("--csv", "form", flag_value="csv", help="Print CSV.")
@click.option("--json", "form", flag_value="json", help="Print JSON.")
def results(address: str, survey_id: str | None, user: str, password_env: str | None, form: str | None, **options: Any) -> None:
    """Print a survey's estimates and intervals.

    ADDRESS is the survey's link, or the server's address with --survey.

    \b
    Example:
      deniable results https://example.org --survey health --user ada --password-env PASSWORD --csv > health.csv
    """
    password = os.environ.get(password_env) if password_env else click.prompt("Password", hide_input=True, err=True)
    if password is None:
        raise click.BadParameter(f"the environment variable {password_env} is not set", param_hint="--password-env")
    with _client(address, survey_id, auth=(user, password)) as client:
        found = client.results(client.survey_id or "", **options)
    forms: dict[str, Callable[[], str]] = {"table": found.to_table, "csv": found.to_csv, "json": found.to_json}
    click.echo(forms[form or "table"]().rstrip("\r\n"))


def _server(url: str, **options: Any) -> SurveyClient:
    try:
        return SurveyClient(url, **options)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _client(address: str, survey_id: str | None, **options: Any) -> SurveyClient:
    """A client for a link, or for a server and a survey id; its `survey_id` is set."""
    is_link = survey_id is None or "/s/" in address
    try:
        if is_link:
            parse_link(address)
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


def _source(file: str, jsonl: bool) -> CsvRows | JsonLines:
    kind = JsonLines if jsonl or Path(file).suffix.lower() in (".jsonl", ".ndjson") else CsvRows
    return kind(io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="") if file == "-" else file)


def _columns(written: Sequence[str]) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in written]
    if any(not separator for _, separator, _ in pairs):
        raise click.BadParameter("must be QUESTION=COLUMN", param_hint="--column")
    return {question: column for question, _, column in pairs}


def _write_rejects(file: IO[str], rejected: Sequence[Rejected]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(Rejected._fields)
    writer.writerows(rejected)


def _summary(report: Report) -> dict[str, Any]:
    rejected = [found._asdict() for found in report.rejected]
    return {**asdict(report), "rejected": rejected}


def _told(report: Report) -> str:
    sent = f"{counted(report.accepted, 'respondent')} accepted in {counted(report.submissions, 'submission')}"
    lines = [f"{sent} to survey {report.survey}."]
    if report.code:
        lines.append(f"To erase it later: deniable withdraw ADDRESS {report.code} (the code is kept nowhere else)")
    if report.resumed:
        lines.append(f"{_were(report.resumed)} dealt with by an earlier run.")
    if rows := len({found.row for found in report.rejected}):
        lines.append(f"{_were(rows)} left out:")
        lines += [f"  {found}" for found in report.rejected[:20]]
        lines += (
            [f"  … and {len(report.rejected) - 20:,} more reasons; --rejects FILE writes them all"] if len(report.rejected) > 20 else []
        )
    return "\n".join(lines)


def _were(rows: int) -> str:
    return f"{counted(rows, 'row')} {'was' if rows == 1 else 'were'}"


def _description(survey: Survey) -> dict[str, Any]:
    return {
        "id": survey.id,
        "title": survey.title,
        "digest": survey.digest,
        "epsilon": survey.epsilon,
        "belief_at_most": float(posterior_bound(survey.odds) / 100),
        "least_protected": least_protected(survey.items).id,
        "record_bytes": record_bytes(survey),
        "groups": list(survey.groups),
        "access": survey.access,
        "layout": survey.layout,
        "batch": survey.batch,
        "accept_high_epsilon": survey.accept_high_epsilon,
        "untranslated": [{"language": language, "where": where} for language, where in survey.untranslated],
        "questions": [
            {
                "id": q.id,
                "type": q.type,
                "part": q.epsilon / survey.epsilon,
                "people": people(q.channel)._asdict(),
                "k": q.k,
                "d": q.d,
                "keep_threshold": q.keep_threshold,
                "epsilon": q.epsilon,
                "declared_epsilon": q.declared_epsilon,
            }
            for q in survey.questions
        ],
    }


def _overview(survey: Survey, exact: bool) -> str:
    total = repr(survey.epsilon) if exact else f"{math.ceil(survey.epsilon * 1e4) / 1e4:.4f}"
    facts = [
        f"epsilon  {total} for a whole record",
        *(
            [f"ask      {survey.ask} of {len(survey.blocks)} blocks; the parts are of the most that one record can hold"]
            if survey.ask
            else []
        ),
        f"digest   {survey.digest}",
        f"access   {survey.access}",
        f"layout   {survey.layout}",
        f"batch    {survey.batch}",
        *([f"groups   {', '.join(survey.groups)}"] if survey.groups else []),
    ]
    table = _coins(survey) if exact else _protection(survey)
    return "\n".join([f"{survey.id}: {survey.title}", "", *_least_protected(survey), "", *table, "", *facts, *_notes(survey)])


def _least_protected(survey: Survey) -> list[str]:
    """The odds of the question that is hidden least, and what a record can teach, in people of 100."""
    item = least_protected(survey.items)
    of, own, other = people(item.channel)
    named = "in their record" if item.d == 1 else f"among the {item.d} of {item.k} that their record names"
    whole, alone = posterior_bound(survey.odds), posterior_bound(max(question.odds for question in survey.questions))
    asked = " ".join(item.text.split())
    return [
        f"The least protected question is {item.id}: {asked}" if len(survey.items) > 1 else f"{item.id}: {asked}",
        f"Of {of:,} people who give an answer, {own:,} have it {named}; of {of:,} who give another, {other:,} have that one there.",
        "Whoever can only guess 50:50 whether something about a respondent is true can become, by seeing the whole record,",
        f"{whole}% sure of it at most{f', and {alone}% by one answer alone' if len(survey.questions) > 1 else ''}.",
    ]


def _protection(survey: Survey) -> list[str]:
    """Each question's part of epsilon, and its odds in people."""
    head = ("question", "type", "part", "recorded, if given", "recorded, if not")
    return _aligned([head, *((q.id, q.type, f"{q.epsilon / survey.epsilon:.1%}", *_in_words(people(q.channel))) for q in survey.questions)])


def _in_words(found: People) -> tuple[str, str]:
    return f"{found.own:,} of {found.of:,}", f"{found.other:,} of {found.of:,}"


def _coins(survey: Survey) -> list[str]:
    """Each question's thresholds and the epsilon that they give, to the last digit."""
    head = ("question", "type", "k", "d", "keep_threshold", "epsilon")
    return _aligned([head, *((q.id, q.type, str(q.k), str(q.d), str(q.keep_threshold), repr(q.epsilon)) for q in survey.questions)])


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns side by side, the first two to the left, the numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]


def _notes(survey: Survey) -> list[str]:
    """What a respondent reads in the survey's own language, for want of a translation; and a consent that nothing needs."""
    found = [f"note: {language} has no {where}; it is shown in {survey.language}" for language, where in survey.untranslated]
    if survey.accept_high_epsilon and survey.epsilon <= HIGH:
        found.append(
            f"note: accept_high_epsilon is not needed: the total is at most {HIGH}; without it, a later change that goes above is told"
        )
    return ["", *found] if found else []
