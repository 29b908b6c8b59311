"""Import of forms: the command `import`, which converts a form to a survey file and reports every change."""

from __future__ import annotations

from pathlib import Path

import click

from deniable.cli.command import command
from deniable.errors import SurveyError
from deniable.forms import ImportedForm, map_form, read_foreign
from deniable.forms.mending import read_decisions, to_text
from deniable.survey import Survey
from deniable.survey.dump import to_yaml
from deniable.survey.gaps import gaps

_FILE = click.Path(dir_okay=False, path_type=Path)
_PRESENT = click.Path(exists=True, dir_okay=False, path_type=Path)


@command("import")
@click.argument("form", type=_PRESENT)
@click.option("-o", "--output", type=_FILE, help="The survey file to write.")
@click.option("--questions-to", type=_FILE, help="Write what you can decide about the form to this file, and no survey.")
@click.option("--answers", type=_PRESENT, help="The file of --questions-to, with your decisions.")
def import_command(form: Path, output: Path | None, questions_to: Path | None, answers: Path | None) -> None:
    """Convert a form of another system to a survey file.

    FORM is an XLSForm of ODK, Kobo or SurveyCTO (.xlsx, .xls; needs the extra deniable[xlsform]), a LimeSurvey survey (.lss, .lsq) or
    a Qualtrics survey (.qsf). Prints for each row whether it was mapped, changed or refused, and why. Free text is refused, for
    example: an answer that only one person gives cannot be hidden. If the survey file still has mistakes, it is written all the same,
    and the exit code is 1. An existing file is never overwritten.

    Example:
      deniable import form.xlsx --questions-to decisions.yaml
      deniable import form.xlsx --answers decisions.yaml -o survey.yaml
    """
    if (output is None) == (questions_to is None):
        raise click.UsageError("name either --output or --questions-to")
    for path in (output, questions_to):
        if path is not None and path.exists():
            raise click.ClickException(f"{path} must be a new file, but it exists")
    imported = _import(form, answers)
    if questions_to is not None:
        return _write_questions(form, questions_to, imported)
    for line in imported.report:
        click.echo(f"{line.verdict:8} {line.name}: {line.why}")
    if not imported.document["questions"]:
        raise click.ClickException("no question of this form can be randomized; nothing was written")
    assert output is not None
    with open(output, "x", encoding="utf-8") as file:
        file.write(to_yaml(imported.document))
    click.echo(f"{output} is written. Check it: deniable check {output}")
    return _check(output)


def _import(form: Path, answers: Path | None) -> ImportedForm:
    """Returns a form as a survey, with the decisions of a mending file."""
    foreign = read_foreign(form.read_bytes(), form.stem)
    imported = map_form(foreign)
    if answers is None:
        return imported
    return map_form(foreign, read_decisions(answers.read_text(encoding="utf-8-sig"), imported.mendings))


def _write_questions(form: Path, path: Path, imported: ImportedForm) -> None:
    """Writes a mending file."""
    if not imported.mendings:
        click.echo("There is nothing to decide: import the form.")
        return
    with open(path, "x", encoding="utf-8") as file:
        file.write(to_text(form.name, imported.mendings))
    click.echo(f"{path} is written, with {len(imported.mendings)} questions. Then: deniable import {form} --answers {path} -o survey.yaml")


def _check(path: Path) -> None:
    """Prints the mistakes of a survey file, and what its translations lack."""
    try:
        survey = Survey.from_file(path)
    except SurveyError as error:
        click.echo(f"Fix these mistakes in it:\n{error}", err=True)
        raise click.exceptions.Exit(1) from None
    for gap in gaps(survey):
        click.echo(f"note: {gap.sentence()}")
