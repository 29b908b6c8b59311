"""`deniable submit`: the answers in a file, a respondent a row."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from deniable.cli import rejects_file
from deniable.cli.ledger import ledger_option
from deniable.cli.options import cap, key_option, opened_client, outbox_option, survey_option
from deniable.delivery.jobs import SubmissionReport, counted
from deniable.device.sources.file import File
from deniable.survey.total import HIGH

_UNPINNED = (
    "Note: the survey's definition was not pinned. The address has no #digest=…, and there was no --pin, so nothing shows that this "
    "survey is the one that was meant, or the one that others get."
)
_BY_PATH = (
    "Note: what was sent is remembered by the file's path. A copy, or the same file under another name, would be sent again in full, and "
    "counted twice. With --row-key COLUMN, the column of a public identifier, each row counts once whatever file it comes in."
)


@click.command("submit")
@click.argument("address")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@survey_option
@click.option(
    "--max-epsilon",
    metavar="E",
    default=str(HIGH),
    show_default=True,
    callback=cap,
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
    callback=cap,
    help="Send nothing of a person whose sum of epsilons over all surveys would come above this.",
)
@ledger_option
@click.option("--column", "columns", multiple=True, metavar="QUESTION=COLUMN", help="The column of a question, if it is not named like it.")
@click.option("--jsonl", is_flag=True, help="FILE has one JSON object a line.  [default: for .jsonl]")
@click.option(
    "--delimiter", metavar="CHAR", help="What stands between the cells of CSV: a character, or `tab`.  [default: what the header shows]"
)
@click.option("--decimal", metavar="CHAR", help="What stands before the decimals of CSV: `,` where it is no point.")
@click.option(
    "--encoding", metavar="NAME", help="The encoding of a text file, e.g. cp1252.  [default: UTF-8, or what the file is marked as]"
)
@click.option("--sheet", metavar="NAME", help="The sheet of a workbook that has several.")
@click.option(
    "--batch",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="How many rows go in one request.  [default: as many as make half a megabyte]",
)
@click.option("--skip-invalid", is_flag=True, help="Leave out rows with wrong answers, instead of sending nothing.")
@click.option(
    "--rejects",
    metavar="FILE",
    type=click.Path(dir_okay=False, readable=False, writable=True, allow_dash=True),
    help="Write the rows left out, as CSV: row, question, reason.",
)
@click.option(
    "--row-key", metavar="NAME", help="The column with a public identifier of each row: a row counts once, whatever file it comes in."
)
@click.option("--job", metavar="NAME", help="The name that progress is kept under.  [default: FILE's path; none for -]")
@key_option
@outbox_option
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def submit_command(
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
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    sheet: str | None,
    batch: int | None,
    skip_invalid: bool,
    rejects: str | None,
    row_key: str | None,
    job: str | None,
    key: str | None,
    outbox: Path | None,
    as_json: bool,
) -> None:
    """Randomize the answers in FILE and send them, a respondent a row.

    ADDRESS is the survey's link, or the server's address with --survey. FILE is CSV whose first line names the columns, JSON
    lines (.jsonl), Parquet (.parquet), Arrow (.arrow) or a workbook (.xlsx), or - for standard input. Other columns are ignored.

    Stopped or killed, run the same command again: it goes on after the last row that was randomized, and
    no answer is randomized or counted twice. (Standard input needs a --job for that.) A copy of FILE is another file, and is
    sent in full, unless --row-key names a column by which rows are recognised.

    Many rows in one request take a key of the server with the scope submit, in the environment variable
    DENIABLE_KEY. Without one, --batch 1 sends each row by itself.

    \b
    Examples:
      deniable submit 'https://example.org/s/health#digest=9f…' answers.csv
      deniable submit https://example.org --survey health --max-epsilon 'ln 9' answers.csv
      deniable submit https://example.org/s/health --group-column clinic answers.csv
      deniable submit https://example.org/s/health --person-column staff_id answers.csv
      deniable submit https://example.org/s/health --row-key staff_id staff.xlsx
      export-answers | deniable submit https://example.org/s/health --job monday -
    """
    if rejects is not None:
        rejects_file.check(rejects, file)
    _check_persons(person_column)
    if row_key is not None and (job is not None or invitation is not None):
        raise click.UsageError("--row-key goes with neither --job nor --invitation")
    if rejects is not None and not skip_invalid:
        raise click.UsageError("--rejects needs --skip-invalid: without it, a wrong row stops everything")
    if group is not None and group_column is not None:
        raise click.UsageError("give one of --group and --group-column")
    try:
        delimiter = {"tab": "\t"}.get(delimiter or "", delimiter)
        source = File(sys.stdin.buffer if file == "-" else file, encoding, delimiter, sheet, jsonl, decimal)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    account = {"ledger": ledger or True, "person_cap": person_cap} if person_column is not None else {}
    with opened_client(address, survey_id, max_epsilon=max_epsilon, pin=pin, outbox=outbox, key=key, **account) as client:
        report = client.submit_many(
            client.survey_id or "",
            source,
            group=group,
            group_column=group_column,
            invitation=invitation,
            person_column=person_column,
            job=job,
            row_key=row_key,
            columns=_columns(columns),
            batch=batch,
            progress=sys.stderr.isatty(),
            on_invalid="skip" if skip_invalid else "raise",
        )
    if not report.pinned:
        click.echo(_UNPINNED, err=True)
    if not report.resumed and file != "-" and job is None and row_key is None:
        click.echo(_BY_PATH, err=True)
    try:
        if rejects is not None:
            rejects_file.write(rejects, report.rejected)
    finally:  # the rows are sent, and the code to erase them is kept nowhere else
        click.echo(json.dumps(_summary(report)) if as_json else _told(report))


def _columns(written: Sequence[str]) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in written]
    if any(not separator for _, separator, _ in pairs):
        raise click.BadParameter("must be QUESTION=COLUMN", param_hint="--column")
    return {question: column for question, _, column in pairs}


def _check_persons(person_column: str | None) -> None:
    """Raises click.UsageError for options that do nothing without --person-column. DENIABLE_LEDGER only says where a ledger would be."""
    source, typed = click.get_current_context().get_parameter_source, click.core.ParameterSource.COMMANDLINE
    given = [option for option, name in (("--person-cap", "person_cap"), ("--ledger", "ledger")) if source(name) is typed]
    if given and person_column is None:
        need = "needs" if len(given) == 1 else "need"
        raise click.UsageError(
            f"{' and '.join(given)} {need} --person-column: without it, what a person gives away is neither added up nor capped"
        )


def _summary(report: SubmissionReport) -> dict[str, Any]:
    rejected = [found._asdict() for found in report.rejected]
    return {**asdict(report), "rejected": rejected}


def _told(report: SubmissionReport) -> str:
    sent = f"{counted(report.accepted, 'respondent')} accepted in {counted(report.submissions, 'submission')}"
    lines = [f"{sent} to survey {report.survey}."]
    if report.code:
        lines.append(f"To erase it later: deniable withdraw ADDRESS {report.code} (the code is kept nowhere else)")
    if report.resumed:
        lines.append(f"{_were(report.resumed)} dealt with by earlier runs.")
    if rows := len({found.row for found in report.rejected}):
        lines.append(f"{_were(rows)} left out:")
        lines += [f"  {found}" for found in report.rejected[:20]]
        lines += (
            [f"  … and {len(report.rejected) - 20:,} more reasons; --rejects FILE writes them all"] if len(report.rejected) > 20 else []
        )
    return "\n".join(lines)


def _were(rows: int) -> str:
    return f"{counted(rows, 'row')} {'was' if rows == 1 else 'were'}"
