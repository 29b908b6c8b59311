"""Survey files written by a dialog in the terminal: the command `new`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from deniable.cli.command import command
from deniable.cli.survey_copy import copied_text
from deniable.errors import SurveyError
from deniable.extras import missing
from deniable.survey import Survey
from deniable.survey.comprehension import with_check
from deniable.survey.document import parse
from deniable.survey.dump import to_yaml
from deniable.survey.types import TYPES
from deniable.topics import TOPICS

_TOPICS = [topic.name for topic in TOPICS]


@command("new")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--topic", type=click.Choice(_TOPICS), metavar="TOPIC", help=f"Write a sample survey instead: {', '.join(_TOPICS)}.")
@click.option("--from", "source", metavar="FILE OR LINK", help="Copy a survey file, a downloaded definition or a published survey instead.")
@click.option("--id", "survey_id", metavar="ID", help="The id of the copy; without it, the copy has the id of the original.")
@click.option("--comprehension", is_flag=True, help="Begin with three statements that test whether people understand the protection.")
@click.option(
    "--n", "respondents", type=click.IntRange(1), default=1_000, show_default=True, metavar="N", help="The number of people who may answer."
)
def new_command(
    file: Path,
    topic: str | None,
    source: str | None,
    survey_id: str | None,
    comprehension: bool,
    respondents: int,
) -> None:
    """Write a survey file by answering questions.

    Writes FILE; an existing file is never overwritten. At the end, prints how precise the estimates will be, and offers changes that
    make them more precise. This needs the extra deniable[estimate].

    With --from, the new file has the questions of another survey. A survey file keeps its comments. The digest in a
    link is checked. To publish the copy beside the original, give it another id with --id.

    Examples:
      deniable new survey.yaml --n 800
      deniable new drugs.yaml --topic drugs
      deniable new drugs.yaml --topic drugs --comprehension
      deniable new drugs-2.yaml --from drugs.yaml --id drugs-2
    """
    if file.exists():
        raise click.ClickException(f"{file} must be a new file, but it exists")
    if source and topic:
        raise click.UsageError("--from and --topic must not both be given")
    if survey_id and not source:
        raise click.UsageError("--id must come with --from")
    text = copied_text(source, survey_id) if source else next((sample.text for sample in TOPICS if sample.name == topic), "")
    if not text:
        document = _ask_for_survey()
        text = to_yaml(_improved(with_check(document) if comprehension else document, respondents))
    elif comprehension:
        text = to_yaml(with_check(parse(text).value))
    with open(file, "x", encoding="utf-8") as stream:
        stream.write(text)
    click.echo(f"{file} is written. Check it: deniable check {file}")


_PREFER_NOT = """\
  With “Prefer not to say”, fewer people leave or make up an answer. It is randomized too, so you need more people:
  for yes or no about a fifth more at epsilon ln 9, half more at ln 3. The form for real coins is not available with it."""


def _ask_for_survey() -> dict[str, Any]:
    """Asks until there is a valid survey with at least one question."""
    document: dict[str, Any] = {"deniable": "1"}
    for key, prompt, default in (
        ("id", "Name in its address (a to z, digits, - and _)", None),
        ("title", "Title", None),
        ("about", "Who asks, and why", None),
        ("contact", "Contact", ""),
        ("epsilon", "Epsilon of the whole survey: the smaller, the more private", "ln 9"),
    ):
        _ask_for_text(document, key, prompt, default)
    document["questions"] = []
    while (text := click.prompt("Question (empty to end)", default="", show_default=False).strip()) or not document["questions"]:
        if text and (question := _ask_for_question(document, text)):
            document["questions"].append(question)
    return document


def _ask_for_text(document: dict[str, Any], key: str, prompt: str, default: str | None) -> None:
    """Asks for a text until it is valid."""
    while True:
        text = str(click.prompt(prompt, default=default, show_default=bool(default))).strip()
        problems = _problems({**document, key: text}, key) if text else []
        if not problems:
            document |= {key: text} if text else {}
            return
        click.echo("\n".join(f"  {problem}" for problem in problems))


def _ask_for_question(document: Mapping[str, Any], text: str) -> dict[str, Any] | None:
    """Asks for the properties of a question; prints problems and returns None if they are invalid."""
    kinds = list(TYPES.values())
    for number, kind in enumerate(kinds, 1):
        click.echo(f"  {number}  {kind.title}")
    number = click.prompt("  Kind of answer", type=click.IntRange(1, len(kinds)), default=1)
    name = click.prompt("  Name of its column", default=f"q{len(document['questions']) + 1}")
    help_text = click.prompt("  Help, under the question (empty for none)", default="", show_default=False).strip()
    question: dict[str, Any] = {"id": name, "text": text, **({"help": help_text} if help_text else {}), "type": list(TYPES)[number - 1]}
    for key, schema in kinds[number - 1].required_keys.items():
        question[key] = _ask_for_list(key) if schema["type"] == "array" else click.prompt(f"  {key.capitalize()}: {schema['description']}")
    click.echo(_PREFER_NOT)
    if click.confirm("  May people prefer not to say?", default=True):
        question["required"] = "false"
    position = f"questions[{len(document['questions'])}]"
    problems = _problems({**document, "questions": [*document["questions"], question]}, position)
    if problems:
        click.echo("\n".join([*(f"  {problem}" for problem in problems), "  The question was left out: enter it again."]))
    return None if problems else question


def _ask_for_list(key: str) -> list[str]:
    texts: list[str] = []
    while text := click.prompt(f"  {key.capitalize()}, no. {len(texts) + 1} (empty to end)", default="", show_default=False).strip():
        texts.append(text)
    return texts


def _problems(document: Mapping[str, Any], where: str) -> list[str]:
    """Returns the problems of one key of a document that is not complete yet."""
    try:
        Survey.from_dict(document)
    except SurveyError as error:
        return [f"{problem.where} {problem.message}" for problem in error.problems if problem.where.startswith(where)]
    return []


def _improved(document: dict[str, Any], n: int) -> dict[str, Any]:
    """Prints the precision of the estimates, and applies the changes that the author chooses to improve it."""
    if (error := missing("the precision of the survey", "estimate")) is not None:
        click.echo(f"note: {error}")
        return document
    from deniable.plan.proposals import ROUGH, proposals, verdict, widest

    while True:
        survey = Survey.from_dict(document)
        is_rough = widest(survey, n) > ROUGH
        click.echo(f"{'warning: ' if is_rough else ''}{verdict(survey, n)} either way, for the least precise question")
        changes = proposals(document, n) if is_rough else ()
        for number, change in enumerate(changes, 1):
            click.echo(f"  {number}  {change.words}: {100 * change.half_width:.1f} points")
        if not changes:
            return document
        number = click.prompt("Choose a change (0 for none)", type=click.IntRange(0, len(changes)), default=0)
        if not number:
            return document
        document = parse(to_yaml(changes[number - 1].document)).value
