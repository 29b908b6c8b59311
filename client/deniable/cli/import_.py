"""Import of XLSForms: the command `import`, which converts a form to a survey file and reports every change."""

from __future__ import annotations

from pathlib import Path

import click

from deniable.cli.command import command
from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.dump import to_yaml
from deniable.survey.gaps import gaps
from deniable.xlsform import read_xlsform


@command("import")
@click.argument("form", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The survey file to write.")
def import_command(form: Path, output: Path) -> None:
    """Convert an XLSForm (ODK, Kobo) to a survey file.

    FORM is .xlsx or .xls. Prints for each row whether it was mapped, changed or refused, and why. Free text is refused, for example:
    an answer that only one person gives cannot be hidden. If the survey file still has mistakes, it is written all the same, and the
    exit code is 1. An existing file is never overwritten. Needs the extra deniable[xlsform].

    Example:
      deniable import form.xlsx -o survey.yaml
    """
    if output.exists():
        raise click.ClickException(f"{output} must be a new file, but it exists")
    imported = read_xlsform(form)
    for line in imported.report:
        click.echo(f"{line.verdict:8} {line.name}: {line.why}")
    if not imported.document["questions"]:
        raise click.ClickException("no question of this form can be randomized; nothing was written")
    with open(output, "x", encoding="utf-8") as file:
        file.write(to_yaml(imported.document))
    click.echo(f"{output} is written. Check it: deniable check {output}")
    try:
        survey = Survey.from_file(output)
    except SurveyError as error:
        click.echo(f"Fix these mistakes in it:\n{error}", err=True)
        raise click.exceptions.Exit(1) from None
    for gap in gaps(survey):
        click.echo(f"note: {gap.sentence()}")
