"""`deniable check` and `deniable schema`: is a survey file right, and what do its coins give away?"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.labels import warnings
from deniable.survey.schema import survey_schema
from deniable.survey.total import HIGH


@click.command("check")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--n", "respondents", type=click.IntRange(1), metavar="N", help="How many people will answer: are the groups large enough?")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check_command(file: Path, respondents: int | None, as_json: bool) -> None:
    """Check the survey in FILE (YAML or JSON), and show what its coins give away.

    All mistakes are listed together, with their lines, and the exit code is 1.

    Texts that one of the survey's languages lacks are notes: respondents read them in the survey's own. Labels of groups
    that look like persons, and more groups than a tenth of N, are warnings.

    \b
    For each question: k, its number of categories; d, how many of them a report names;
    keep_threshold, out of 2^32, below which a random word keeps the true one; and the
    exact epsilon that these integers give.

    \b
    Example:
      deniable check survey.yaml
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
        click.echo("\n".join([_overview(survey), *(f"warning: {doubt}" for doubt in doubts)]))


@click.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of survey files, for editors and other tools.

    \b
    Example:
      deniable schema > survey.schema.json
    """
    click.echo(json.dumps(survey_schema(), indent=2))


def _description(survey: Survey) -> dict[str, Any]:
    return {
        "id": survey.id,
        "title": survey.title,
        "digest": survey.digest,
        "epsilon": survey.epsilon,
        "belief_at_most": _belief(survey.epsilon),
        "record_bytes": survey.record.bytes,
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
                "k": q.k,
                "d": q.d,
                "keep_threshold": q.keep_threshold,
                "epsilon": q.epsilon,
                "declared_epsilon": q.declared_epsilon,
            }
            for q in survey.questions
        ],
    }


def _overview(survey: Survey) -> str:
    head = ("question", "type", "k", "d", "keep_threshold", "epsilon")
    rows = [head, *((q.id, q.type, str(q.k), str(q.d), str(q.keep_threshold), repr(q.epsilon)) for q in survey.questions)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    table = [
        "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]
    return "\n".join(
        [
            f"{survey.id}: {survey.title}",
            "",
            *(line.rstrip() for line in table),
            "",
            f"total epsilon  {survey.epsilon!r}",
            f"digest         {survey.digest}",
            f"access         {survey.access}",
            f"layout         {survey.layout}",
            f"batch          {survey.batch}",
            *([f"groups         {', '.join(survey.groups)}"] if survey.groups else []),
            "",
            f"What one whole submission can teach: whoever was 50 % sure of something about a respondent's answers "
            f"can be {_percent(_belief(survey.epsilon))} sure at most after seeing it.",
            *_notes(survey),
        ]
    )


def _notes(survey: Survey) -> list[str]:
    """What a respondent reads in the survey's own language, for want of a translation; and a consent that nothing needs."""
    found = [f"note: {language} has no {where}; it is shown in {survey.language}" for language, where in survey.untranslated]
    if survey.accept_high_epsilon and survey.epsilon <= HIGH:
        found.append(
            f"note: accept_high_epsilon is not needed: the total is at most {HIGH}; without it, a later change that goes above is told"
        )
    return ["", *found] if found else []


def _belief(epsilon: float) -> float:
    """The most that a prior belief of one half can become: e^epsilon / (1 + e^epsilon)."""
    return 1 / (1 + math.exp(-epsilon))


def _percent(share: float) -> str:
    """Rounded up, so that it is a bound; near certainty with the digits that keep it below 100 %."""
    digits = 1 if share < 0.999 else 6
    scale = 10**digits
    return f"{math.ceil(share * 100 * scale - 1e-6) / scale:.{digits}f} %"
