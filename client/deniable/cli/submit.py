"""Submission of the answers in a file with one row for each respondent: the command `submit`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from deniable.cli import rejects_file
from deniable.cli.command import command
from deniable.cli.ledger import ledger_option
from deniable.cli.options import key_option, outbox_option, parse_cap, survey_client, survey_option
from deniable.delivery.jobs import SubmissionReport, counted
from deniable.device.sources.file import File
from deniable.sdk.client import SurveyClient
from deniable.survey.content import BATCH
from deniable.survey.total import HIGH

_UNPINNED = (
    "Note: the survey's definition was not pinned. Without #digest=… in the address, or --pin, nothing shows that this survey is the "
    "one you mean, or the one that others get."
)
_ROWS = ("group", "group_column", "invitation", "person_column", "job", "row_key", "batch")
"""Options about the rows, as `SurveyClient.submit_many` takes them."""

_BY_PATH = (
    "Note: progress is saved by the file's path. A copy of the file, or the same file under another name, would be sent again in full and "
    "counted twice. With --row-key COLUMN, a column of public identifiers, each row counts once in any file."
)


@command("submit")
@click.argument("address")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@survey_option
@click.option(
    "--max-epsilon",
    metavar="E",
    default=str(HIGH),
    show_default=True,
    callback=parse_cap,
    help="Send nothing if a submission has a larger epsilon than this, e.g. 2 or 'ln 9'.",
)
@click.option(
    "--min-batch",
    metavar="N",
    type=int,
    default=BATCH,
    show_default=True,
    help="Send nothing if the survey may show fewer records than this together.",
)
@click.option(
    "--min-group",
    metavar="N",
    type=int,
    default=BATCH,
    show_default=True,
    help="Send nothing if the survey may show a group with fewer records than this.",
)
@click.option("--pin", metavar="DIGEST", help="Send nothing unless the survey has this digest (`deniable check` prints it).")
@click.option("--group", metavar="LABEL", help="The group of all rows, if the survey has groups.  [default: the link's]")
@click.option("--group-column", metavar="NAME", help="The column with each row's group.")
@click.option("--invitation", metavar="CODE", help="The invitation code of a file with one row.  [default: the link's]")
@click.option("--person-column", metavar="NAME", help="The column with each person's key; the ledger adds up their privacy loss.")
@click.option(
    "--person-cap",
    metavar="E",
    default=str(HIGH),
    show_default=True,
    callback=parse_cap,
    help="Send nothing of a person whose total epsilon in all surveys would exceed this.",
)
@ledger_option
@click.option("--column", "columns", multiple=True, metavar="QUESTION=COLUMN", help="The column of a question, if their names differ.")
@click.option("--jsonl", is_flag=True, help="Read one JSON object a line.  [default: for .jsonl]")
@click.option("--delimiter", metavar="CHAR", help="The delimiter of CSV: a character, or `tab`.  [default: detected in the header]")
@click.option("--decimal", metavar="CHAR", help="The decimal separator of CSV, such as `,`.  [default: a point]")
@click.option("--encoding", metavar="NAME", help="The encoding of a text file, e.g. cp1252.  [default: UTF-8, or as the file is marked]")
@click.option("--sheet", metavar="NAME", help="The sheet of a workbook with several sheets.")
@click.option(
    "--batch",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="The number of rows in one request.  [default: as many as fit into half a megabyte]",
)
@click.option("--skip-invalid", is_flag=True, help="Leave out rows with invalid answers, instead of sending nothing.")
@click.option(
    "--rejects",
    metavar="FILE",
    type=click.Path(dir_okay=False, readable=False, writable=True, allow_dash=True),
    help="Write the rejected rows to this file, as CSV: row, question, reason.",
)
@click.option("--row-key", metavar="NAME", help="The column with a public identifier of each row; a row counts once, in any file.")
@click.option("--job", metavar="NAME", help="The name under which progress is saved.  [default: FILE's path; none for -]")
@key_option
@outbox_option
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def submit_command(address: str, file: str, skip_invalid: bool, rejects: str | None, as_json: bool, **options: Any) -> None:
    r"""Randomize and send the answers in a file.

    ADDRESS is the survey's link, or the server's address with --survey. FILE has one row for each respondent: CSV whose first line names
    the columns, JSON lines (.jsonl), Parquet (.parquet), Arrow (.arrow), a workbook (.xlsx), or - for standard input. Columns that
    belong to no question are ignored.

    If the command was interrupted, run the same command again: it resumes after the last randomized row, and no answer is randomized or
    counted twice. (Standard input needs a --job for that.) A copy of FILE counts as another file and is sent in full, unless --row-key
    names a column that identifies rows.

    To send many rows in one request, you need an API key with the scope submit, in the environment variable DENIABLE_KEY. Without a
    key, --batch 1 sends each row in a request of its own.

    Examples:
      deniable submit 'https://example.org/s/health#digest=9f…' answers.csv
      deniable submit https://example.org/s/health --max-epsilon 'ln 9' a.csv
      deniable submit https://example.org/s/health --group-column clinic a.csv
      deniable submit https://example.org/s/health --person-column staff_id a.csv
      deniable submit https://example.org/s/health --row-key staff_id staff.xlsx
      export-answers | deniable submit https://example.org/s/health --job monday -
    """
    if rejects is not None:
        rejects_file.check(rejects, file)
        if not skip_invalid:
            raise click.UsageError("--rejects needs --skip-invalid: without it, an invalid row stops everything")
    _check_combinations(options)
    source = _source(file, options)
    with _client(address, options) as client:
        report = client.submit_many(
            client.survey_id or "",
            source,
            columns=_parse_columns(options["columns"]),
            progress=sys.stderr.isatty(),
            on_invalid="skip" if skip_invalid else "raise",
            **{name: options[name] for name in _ROWS},
        )
    if not report.pinned:
        click.echo(_UNPINNED, err=True)
    if not report.resumed and file != "-" and options["job"] is None and options["row_key"] is None:
        click.echo(_BY_PATH, err=True)
    try:
        if rejects is not None:
            rejects_file.write(rejects, report.rejected)
    finally:  # the rows are sent, and their withdrawal code is stored nowhere else
        click.echo(json.dumps(_summary(report)) if as_json else _in_words(report))


def _check_combinations(options: Mapping[str, Any]) -> None:
    """Raises click.UsageError for options that exclude each other, or that do nothing without another option."""
    if options["row_key"] is not None and (options["job"] is not None or options["invitation"] is not None):
        raise click.UsageError("--row-key must not be combined with --job or --invitation")
    if options["group"] is not None and options["group_column"] is not None:
        raise click.UsageError("give one of --group and --group-column")
    source, typed = click.get_current_context().get_parameter_source, click.core.ParameterSource.COMMANDLINE
    # only typed options: DENIABLE_LEDGER may be set without --person-column
    dependent = [option for option, name in (("--person-cap", "person_cap"), ("--ledger", "ledger")) if source(name) is typed]
    if dependent and options["person_column"] is None:
        need = "needs" if len(dependent) == 1 else "need"
        raise click.UsageError(
            f"{' and '.join(dependent)} {need} --person-column: without it, a person's privacy loss is neither added up nor capped"
        )


def _source(file: str, options: Mapping[str, Any]) -> File:
    delimiter = {"tab": "\t"}.get(options["delimiter"] or "", options["delimiter"])
    format_options = {name: options[name] for name in ("encoding", "sheet", "jsonl", "decimal")}
    try:
        return File(sys.stdin.buffer if file == "-" else file, delimiter=delimiter, **format_options)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _client(address: str, options: Mapping[str, Any]) -> SurveyClient:
    arguments = {name: options[name] for name in ("max_epsilon", "min_batch", "min_group", "pin", "outbox", "key")}
    if options["person_column"] is not None:
        arguments |= {"ledger": options["ledger"] or True, "person_cap": options["person_cap"]}
    return survey_client(address, options["survey_id"], **arguments)


def _parse_columns(texts: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    if any(not separator for _, separator, _ in pairs):
        raise click.BadParameter("must be QUESTION=COLUMN", param_hint="--column")
    return {question: column for question, _, column in pairs}


def _summary(report: SubmissionReport) -> dict[str, Any]:
    return {**asdict(report), "rejected": [row._asdict() for row in report.rejected]}


def _in_words(report: SubmissionReport) -> str:
    sent = f"{counted(report.accepted, 'respondent')} accepted in {counted(report.submissions, 'submission')}"
    lines = [f"{sent} to survey {report.survey}."]
    if report.code:
        lines.append(f"To erase it later: deniable withdraw ADDRESS {report.code} (the code is stored nowhere else)")
    if report.resumed:
        lines.append(f"{_rows_were(report.resumed)} processed by earlier runs.")
    if rows := len({row.row for row in report.rejected}):
        lines.append(f"{_rows_were(rows)} left out:")
        lines += [f"  {row}" for row in report.rejected[:20]]
        lines += (
            [f"  … and {len(report.rejected) - 20:,} more problems; --rejects FILE lists them all"] if len(report.rejected) > 20 else []
        )
    return "\n".join(lines)


def _rows_were(rows: int) -> str:
    return f"{counted(rows, 'row')} {'was' if rows == 1 else 'were'}"
