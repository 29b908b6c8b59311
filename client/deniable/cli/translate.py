"""Files for translators on the command line: the command `translate`, which writes a survey's texts and imports their translations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from deniable.cli.command import command
from deniable.errors import Problem, SurveyError
from deniable.survey import document
from deniable.survey.dump import to_yaml
from deniable.survey.translation import language_problem
from deniable.translation_files.translatable_texts import own_language
from deniable.translation_files.translation_import import import_translations
from deniable.translation_files.translation_tables import read_table, to_csv, to_workbook

_FILE = click.Path(dir_okay=False, path_type=Path)
_PRESENT = click.Path(exists=True, dir_okay=False, path_type=Path)


@command("translate")
@click.argument("survey", type=_PRESENT)
@click.option("--language", metavar="TAG", help="Write the texts for the translator of this language, such as de or pt-BR.")
@click.option("--from", "source", type=_PRESENT, help="Add the translations of this file to the survey.")
@click.option("-o", "--output", type=_FILE, required=True, help="The file to write: a table (.csv, .xlsx), or with --from a survey file.")
def translate_command(survey: Path, language: str | None, source: Path | None, output: Path) -> None:
    """Write a survey's texts for translators, or import translations.

    With --language, writes a table. The translator writes into the column "translation" and changes no other column. A workbook (.xlsx)
    needs the extra deniable[tables].

    With --from, writes a new survey file with the translations and without comments. Prints each row that is not imported, and why; the
    exit code is then 1, and all other rows are imported. An existing file is never overwritten.

    Examples:
      deniable translate survey.yaml --language de -o de.csv
      deniable translate survey.yaml --from de.csv -o survey-de.yaml
    """
    if (language is None) == (source is None):
        raise click.UsageError("name either --language or --from")
    if output.exists():
        raise click.ClickException(f"{output} must be a new file, but it exists")
    value = _value(survey)
    if source is not None:
        _import(value, source, output)
    else:
        _export(value, language or "", output)


def _export(value: Mapping[str, Any], language: str, output: Path) -> None:
    """Writes the texts of a survey file as a table."""
    if broken := language_problem(language):
        raise click.BadParameter(broken, param_hint="--language")
    if language.lower() == own_language(value).lower():
        raise click.BadParameter("must be another language than the survey's own", param_hint="--language")
    raw = to_workbook(value, language) if output.suffix.lower() == ".xlsx" else to_csv(value, language)
    with open(output, "xb") as file:
        file.write(raw)
    click.echo(f"{output} is written")


def _import(value: Mapping[str, Any], source: Path, output: Path) -> None:
    """Writes a survey file with the translations of a table."""
    result = import_translations(value, read_table(source.read_bytes()))
    with open(output, "x", encoding="utf-8") as file:
        file.write(to_yaml(result.document))
    for problem in result.problems:
        click.echo(str(problem), err=True)
    click.echo(f"{output} is written: {result.imported} imported, {result.unchanged} the same already, {result.lacking} lacking")
    if result.problems:
        raise click.exceptions.Exit(1)


def _value(path: Path) -> Mapping[str, Any]:
    """Returns the value of a survey file, which may have mistakes in its rules."""
    source = document.read(path)
    if source.problems:
        raise SurveyError(source.problems)
    if not isinstance(source.value, Mapping):
        raise SurveyError([Problem("file", "must be a survey file")])
    return source.value
