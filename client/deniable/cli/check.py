"""`deniable check` and `deniable schema`: is a survey file right, and what do its coins give away?"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from deniable.errors import SurveyError
from deniable.privacy.posterior import NaturalFrequencies, least_protected, odds_in_words, people, posterior_bound
from deniable.survey import Survey
from deniable.survey.gaps import gaps
from deniable.survey.labels import warnings
from deniable.survey.reachable import unreachable
from deniable.survey.schema import survey_schema
from deniable.survey.total import HIGH
from deniable.survey.undeclared import undeclared
from deniable.wire.six_words import six_words


@click.command("check")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--n",
    "respondents",
    type=click.IntRange(1),
    metavar="N",
    help="How many people will answer: warns of groups that are too small for it.",
)
@click.option("--exact", is_flag=True, help="Show the coins' thresholds, and epsilon to the last digit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, which always has all of it.")
def check_command(file: Path, respondents: int | None, exact: bool, as_json: bool) -> None:
    """Check a survey file, and show how well it protects respondents.

    FILE is YAML or JSON. All mistakes are listed together, with their lines, and the exit code is 1.

    Texts that one of the survey's languages lacks are notes: respondents read them in the survey's own. Questions that nobody is
    ever shown, options that look exclusive and are not declared, labels of groups that look like persons, and more groups than a
    tenth of N, are warnings.

    For each question: its part of the survey's epsilon, and its odds: how many of 100 people who give an answer have it in
    their record, and how many of 100 who give another one do.

    With --exact instead: k, the number of things that a report can name; d, how many of them it names; keep_threshold: the respondent's
    own answer is recorded if, and only if, a random 32-bit number is below it; and the exact epsilon that these integers give.

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
    doubts = [*unreachable(survey.questions), *undeclared(survey.questions), *warnings(survey.groups, respondents)]
    if as_json:
        click.echo(json.dumps({**_description(survey), "warnings": doubts}, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join([_overview(survey, exact), *(f"warning: {doubt}" for doubt in doubts)]))


@click.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of survey files.

    With it, editors and other tools check a file while it is written.

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
        "words": six_words(survey.digest),
        "epsilon": survey.epsilon,
        "belief_at_most": float(posterior_bound(survey.odds) / 100),
        "least_protected": least_protected(survey.items).id,
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
                "part": q.epsilon / survey.epsilon,
                "people": people(q.channel)._asdict(),
                **q.channel.published,
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
        f"words    {six_words(survey.digest)}, at the foot of the survey's first page: to compare",
        f"access   {survey.access}",
        f"layout   {survey.layout}",
        f"batch    {survey.batch}",
        *([f"groups   {', '.join(survey.groups)}"] if survey.groups else []),
    ]
    table = _coins(survey) if exact else _protection(survey)
    return "\n".join([f"{survey.id}: {survey.title}", "", *_least_protected(survey), "", *table, "", *facts, *_notes(survey)])


def _least_protected(survey: Survey) -> list[str]:
    """The odds of the question, or option of several, that is hidden least, and what a record can teach, in people of 100."""
    item = least_protected(survey.items)
    whole, alone = posterior_bound(survey.odds), posterior_bound(max(question.odds for question in survey.questions))
    asked = " ".join(item.text.split())
    return [
        f"What the coins hide least is {item.id}: {asked}" if len(survey.items) > 1 else f"{item.id}: {asked}",
        f"{odds_in_words(item)}.",
        "Whoever can only guess 50:50 whether something about a respondent is true can become, by seeing the whole record,",
        f"{whole}% sure of it at most{f', and {alone}% by one answer alone' if len(survey.questions) > 1 else ''}.",
    ]


def _protection(survey: Survey) -> list[str]:
    """Each question's part of epsilon, and its odds in people."""
    head = ("question", "type", "part", "recorded, if given", "recorded, if not")
    return _aligned([head, *((q.id, q.type, f"{q.epsilon / survey.epsilon:.1%}", *_in_words(people(q.channel))) for q in survey.questions)])


def _in_words(frequencies: NaturalFrequencies) -> tuple[str, str]:
    return f"{frequencies.own:,} of {frequencies.of:,}", f"{frequencies.other:,} of {frequencies.of:,}"


def _coins(survey: Survey) -> list[str]:
    """Each question's thresholds and the epsilon that they give, to the last digit."""
    head = ("question", "type", "k", "d", "keep_threshold", "epsilon")
    return _aligned(
        [head, *((q.id, q.type, str(len(q.recorded)), str(q.d), str(q.keep_threshold), repr(q.epsilon)) for q in survey.questions)]
    )


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns side by side, the first two to the left, the numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]


def _notes(survey: Survey) -> list[str]:
    """What a respondent reads in the survey's own language, for want of a translation; and a consent that nothing needs."""
    found = [f"note: {gap.sentence()}" for gap in gaps(survey)]
    found += [f"note: {language} has no {where}; it is shown in {survey.language}" for language, where in survey.untranslated]
    if survey.accept_high_epsilon and survey.epsilon <= HIGH:
        found.append(
            f"note: accept_high_epsilon is not needed: the total is at most {HIGH}; without it, a later change that goes above is told"
        )
    return ["", *found] if found else []
