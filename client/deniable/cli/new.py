"""`deniable new`: a survey file from questions and answers in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from deniable.errors import SurveyError
from deniable.extras import missing
from deniable.survey import Survey
from deniable.survey.document import parse
from deniable.survey.dump import to_yaml
from deniable.survey.types import TYPES
from deniable.topics import TOPICS


@click.command("new")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--topic", type=click.Choice([topic.name for topic in TOPICS]), help="Begin with a survey about this, and ask no questions.")
@click.option(
    "--n", "respondents", type=click.IntRange(1), default=1_000, show_default=True, metavar="N", help="How many people may answer."
)
def new_command(file: Path, topic: str | None, respondents: int) -> None:
    """Write a new survey file by answering questions.

    FILE is made; one that is there is never written over. What the survey will tell is said at the end, with what would make it
    tell more; that needs the extra deniable[estimate].

    \b
    Examples:
      deniable new survey.yaml --n 800
      deniable new drugs.yaml --topic drugs
    """
    if file.exists():
        raise click.ClickException(f"{file} must be a new file: it is there already")
    text = next((one.text for one in TOPICS if one.name == topic), "")
    if not text:
        document = _improved(_asked(), respondents)
        text = to_yaml(document)
    with open(file, "x", encoding="utf-8") as out:
        out.write(text)
    click.echo(f"{file} is written. See it with: deniable check {file}")


_PREFER_NOT = """\
  “Prefer not to say” keeps people from leaving, or from making an answer up. It is randomized too, which takes more people:
  for yes or no about a fifth at epsilon ln 9, half at ln 3. A form for two coins of one's own is there only without it."""


def _asked() -> dict[str, Any]:
    """Asks until there is a valid survey of one question or more."""
    document: dict[str, Any] = {"deniable": "1"}
    for key, words, usual in (
        ("id", "Name in its address (a to z, digits, - and _)", None),
        ("title", "Title", None),
        ("about", "Who asks, and why", None),
        ("contact", "Contact", ""),
        ("epsilon", "Epsilon of the whole survey: the smaller, the more private", "ln 9"),
    ):
        _fill(document, key, words, usual)
    document["questions"] = []
    while (text := click.prompt("Question (empty to end)", default="", show_default=False).strip()) or not document["questions"]:
        if text and (question := _question(document, text)):
            document["questions"].append(question)
    return document


def _fill(document: dict[str, Any], key: str, words: str, usual: str | None) -> None:
    """Asks for one text until it is right."""
    while True:
        written = str(click.prompt(words, default=usual, show_default=bool(usual))).strip()
        rules = _rules({**document, key: written}, key) if written else []
        if not rules:
            document |= {key: written} if written else {}
            return
        click.echo("\n".join(f"  {rule}" for rule in rules))


def _question(document: Mapping[str, Any], text: str) -> dict[str, Any] | None:
    """Asks for the rest of a question; None where that is not right, which is said."""
    kinds = list(TYPES.values())
    for number, kind in enumerate(kinds, 1):
        click.echo(f"  {number}  {kind.title}")
    chosen = click.prompt("  Kind of answer", type=click.IntRange(1, len(kinds)), default=1)
    name = click.prompt("  Name of its column", default=f"q{len(document['questions']) + 1}")
    help_text = click.prompt("  Help, under the question (empty for none)", default="", show_default=False).strip()
    question: dict[str, Any] = {"id": name, "text": text, **({"help": help_text} if help_text else {}), "type": list(TYPES)[chosen - 1]}
    for key, schema in kinds[chosen - 1].required_keys.items():
        question[key] = _list(key) if schema["type"] == "array" else click.prompt(f"  {key.capitalize()}: {schema['description']}")
    click.echo(_PREFER_NOT)
    if click.confirm("  May people prefer not to say?", default=True):
        question["required"] = "false"
    place = f"questions[{len(document['questions'])}]"
    rules = _rules({**document, "questions": [*document["questions"], question]}, place)
    if rules:
        click.echo("\n".join([*(f"  {rule}" for rule in rules), "  The question was left out: ask it again."]))
    return None if rules else question


def _list(key: str) -> list[str]:
    found: list[str] = []
    while written := click.prompt(f"  {key.capitalize()}, no. {len(found) + 1} (empty to end)", default="", show_default=False).strip():
        found.append(written)
    return found


def _rules(document: Mapping[str, Any], where: str) -> list[str]:
    """What is wrong with one part of a document that is not complete yet."""
    try:
        Survey.from_dict(document)
    except SurveyError as error:
        return [f"{one.where} {one.message}" for one in error.problems if one.where.startswith(where)]
    return []


def _improved(document: dict[str, Any], n: int) -> dict[str, Any]:
    """Says what the survey will tell, and takes what would make it tell more, as long as its author wants that."""
    if (error := missing("what the survey will tell", "estimate")) is not None:
        click.echo(f"note: {error}")
        return document
    from deniable.plan.proposals import ROUGH, proposals, verdict, widest

    while True:
        survey = Survey.from_dict(document)
        rough = widest(survey, n) > ROUGH
        click.echo(f"{'warning: ' if rough else ''}{verdict(survey, n)} either way, for the least precise")
        offered = proposals(document, n) if rough else ()
        for number, one in enumerate(offered, 1):
            click.echo(f"  {number}  {one.words}: {100 * one.half_width:.1f} points")
        if not offered:
            return document
        chosen = click.prompt("Take one of them? (0 for none)", type=click.IntRange(0, len(offered)), default=0)
        if not chosen:
            return document
        document = parse(to_yaml(offered[chosen - 1].document)).value
