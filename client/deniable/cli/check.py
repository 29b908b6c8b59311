"""Validation of survey files, and their odds in numbers of people: the commands `check` and `schema`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from deniable.cli.command import command
from deniable.errors import SurveyError
from deniable.privacy.claims import claim_text, facts_of, protection_of
from deniable.privacy.posterior import NaturalFrequencies, least_protected, odds_in_words, people, posterior_bound
from deniable.privacy.stronger import stronger
from deniable.survey import Survey
from deniable.survey.content import BATCH
from deniable.survey.fallbacks import missing_fallbacks
from deniable.survey.gaps import gaps
from deniable.survey.labels import warnings
from deniable.survey.reachable import unreachable
from deniable.survey.schema import survey_schema
from deniable.survey.total import HIGH
from deniable.survey.undeclared import undeclared
from deniable.wire.six_words import six_words


@command("check")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--n",
    "respondents",
    type=click.IntRange(1),
    metavar="N",
    help="The number of people who will answer; warns of groups that are too small for it.",
)
@click.option("--exact", is_flag=True, help="Print the coins' thresholds, and every digit of epsilon.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, always with every detail.")
def check_command(file: Path, respondents: int | None, exact: bool, as_json: bool) -> None:
    """Check a survey file, and show how well it protects people.

    FILE is YAML or JSON. If it breaks rules, lists all mistakes with their lines; the exit code is 1.

    Otherwise prints what respondents read about their protection, with changes that would make it stronger, and a table of the
    questions: each question's part of the survey's epsilon, and its odds. The odds are two numbers of people: how many of 100 who give
    an answer have it in their record, and how many of 100 who give another answer have the first one there too.

    Notes name texts that a language lacks; respondents read them in the survey's own language. Warnings name questions that are never
    shown, options that look exclusive but are not declared so, texts that show an answer which may be missing, labels of groups that
    look like persons, and more groups than a tenth of N.

    With --exact, the table has instead: k, the number of values that a report can name; d, how many of them it names; keep_threshold: the
    record keeps the respondent's own answer exactly if a random 32-bit number is below it; and the exact epsilon of these integers.

    Examples:
      deniable check survey.yaml
      deniable check survey.yaml --exact
    """
    try:
        survey = Survey.from_file(file)
    except SurveyError as error:
        _print_problems(file, error, as_json)
        raise click.exceptions.Exit(1) from None
    doubts = [
        *unreachable(survey.questions),
        *undeclared(survey.questions),
        *missing_fallbacks(survey.questions),
        *warnings(survey.groups, respondents),
    ]
    if as_json:
        click.echo(json.dumps({**_description(survey), "warnings": doubts}, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join([_overview(survey, exact), *(f"warning: {doubt}" for doubt in doubts)]))


def _print_problems(file: Path, error: SurveyError, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"problems": [asdict(problem) for problem in error.problems]}, indent=2))
        return
    for problem in error.problems:
        position = f"{file}:{problem.line}" if problem.line else f"{file}"
        click.echo(f"{position}: {problem.where}: {problem.message}", err=True)


@command("schema")
def schema_command() -> None:
    """Print the JSON Schema of survey files.

    Editors and other tools use it to check a file while you write.

    Example:
      deniable schema > survey.schema.json
    """
    click.echo(json.dumps(survey_schema(), indent=2))


def _description(survey: Survey) -> dict[str, Any]:
    return {
        "id": survey.id,
        "title": survey.title,
        "digest": survey.digest if survey.is_final else None,
        "words": six_words(survey.digest) if survey.is_final else None,
        "epsilon": survey.epsilon,
        "belief_at_most": float(posterior_bound(survey.odds) / 100),
        "protection": {
            "level": (box := protection_of(survey)).level,
            "respondents_read": list(box.lines),
            "stronger": list(stronger(survey)),
        },
        "least_protected": least_protected(survey.items).id,
        "record_bytes": survey.record.bytes,
        "groups": list(survey.groups),
        "access": survey.access,
        "layout": survey.layout,
        "order": survey.order or None,
        "section_order": survey.section_order or None,
        "release": survey.release,
        "batch": survey.batch,
        "results": survey.results,
        "accept_high_epsilon": survey.accept_high_epsilon,
        "accept_small_batches": survey.accept_small_batches,
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
    """Returns the odds in words, the table of questions, the survey's properties, and notes."""
    total = repr(survey.epsilon) if exact else f"{math.ceil(survey.epsilon * 1e4) / 1e4:.4f}"
    sample = f"ask      {survey.ask} of {len(survey.blocks)} blocks; each part is of the largest epsilon that a record can have"
    properties = [
        f"epsilon  {total} for a whole record",
        *([sample] if survey.ask else []),
        *_fingerprint(survey),
        f"access   {survey.access}",
        f"layout   {survey.layout}",
        *([f"order    {survey.order}: each device draws the order of the questions in each section"] if survey.order else []),
        *([f"order    {survey.section_order}: each device draws the order of the sections"] if survey.section_order else []),
        f"release  {_release(survey)}",
        *(["results  public: a page shows them to everyone"] if survey.results == "public" else []),
        *([f"groups   {', '.join(survey.groups)}"] if survey.groups else []),
    ]
    table = _exact_table(survey) if exact else _odds_table(survey)
    return "\n".join([f"{survey.id}: {survey.title}", "", *_odds(survey), "", *_box(survey), "", *table, "", *properties, *_notes(survey)])


def _fingerprint(survey: Survey) -> list[str]:
    """Returns the digest and its words, once they are fixed."""
    if not survey.is_final:
        return ["digest   fixed at publication: the server adds its key for invitation codes"]
    return [
        f"digest   {survey.digest}",
        f"words    {six_words(survey.digest)} (compare with the foot of the survey's first page)",
    ]


def _release(survey: Survey) -> str:
    """Returns when a server shows respondents' records, and how many together."""
    when = "close: all together when the survey closes" if survey.release == "close" else "daily: once a day at most"
    return f"{when}, at least {survey.batch} at a time"


def _odds(survey: Survey) -> list[str]:
    """Returns the odds of the least protected question, and the bound on a posterior after one record."""
    item = least_protected(survey.items)
    text = " ".join(item.label.split())
    record, answer = posterior_bound(survey.odds), posterior_bound(max(question.odds for question in survey.questions))
    certainty = (
        f"{record}% sure from the whole record, or {answer}% from one answer"
        if len(survey.questions) > 1
        else f"{record}% sure from the record"
    )
    return [
        f"Least protected question: {item.id}, “{text}”" if len(survey.items) > 1 else f"{item.id}: {text}",
        f"{odds_in_words(item)}.",
        f"Someone who starts at 50:50 about a respondent can become at most {certainty}.",
    ]


def _box(survey: Survey) -> list[str]:
    """Returns what respondents read about their protection, and what would make it stronger."""
    return [
        "Respondents read:",
        *(f"  {line}" for line in protection_of(survey).lines),
        *(f"stronger: {change}" for change in stronger(survey)),
    ]


def _odds_table(survey: Survey) -> list[str]:
    """Returns a table of each question's part of epsilon, and its odds in people."""
    header = ("question", "type", "part", "recorded, if given", "recorded, if not")
    rows = [(q.id, q.type, f"{q.epsilon / survey.epsilon:.1%}", *_in_people(people(q.channel))) for q in survey.questions]
    return _aligned([header, *rows])


def _in_people(frequencies: NaturalFrequencies) -> tuple[str, str]:
    return f"{frequencies.own:,} of {frequencies.of:,}", f"{frequencies.other:,} of {frequencies.of:,}"


def _exact_table(survey: Survey) -> list[str]:
    """Returns a table of each question's thresholds and their exact epsilon."""
    header = ("question", "type", "k", "d", "keep_threshold", "epsilon")
    rows = [(q.id, q.type, str(len(q.recorded)), str(q.d), str(q.keep_threshold), repr(q.epsilon)) for q in survey.questions]
    return _aligned([header, *rows])


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the lines of a table: the first two columns aligned to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]


def _notes(survey: Survey) -> list[str]:
    """Returns notes on missing translations and on an unnecessary consent to a high epsilon."""
    notes = [f"note: {gap.sentence()}" for gap in gaps(survey)]
    notes += [f"note: {language} has no {where}; it is shown in {survey.language}" for language, where in survey.untranslated]
    if survey.accept_high_epsilon and survey.epsilon <= HIGH:
        notes.append(
            f"note: accept_high_epsilon is not needed: the total is at most {HIGH}. Without it, a later rise above {HIGH} is an error"
        )
    if survey.accept_small_batches and survey.batch >= BATCH:
        notes.append(f"note: accept_small_batches is not needed: batch is at least {BATCH}")
    if survey.batch < BATCH:
        notes.append(
            f"warning: batch {survey.batch} shows records in smaller numbers than {BATCH}: {claim_text('clients', facts_of(survey))}"
        )
    return ["", *notes] if notes else []
