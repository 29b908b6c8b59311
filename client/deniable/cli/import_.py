"""`deniable import`: a survey file from an XLSForm, with a report."""

from __future__ import annotations

from pathlib import Path

import click

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.dump import to_yaml
from deniable.survey.gaps import gaps
from deniable.xlsform import read_xlsform


@click.command("import")
@click.argument("form", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The survey file to be made.")
def import_command(form: Path, output: Path) -> None:
    """Make a survey file of an XLSForm, as ODK and Kobo have them.

    FORM is .xlsx or .xls. What was mapped, changed and refused is said for each row, and why: there is no free text, for one, since an
    answer that nobody else gives cannot be hidden. The file is made also where something in it is still to be mended, and the exit
    code is 1 then. One that is there is never written over. Needs the extra deniable[xlsform].

    \b
    Example:
      deniable import form.xlsx -o survey.yaml
    """
    if output.exists():
        raise click.ClickException(f"{output} must be a new file: it is there already")
    imported = read_xlsform(form)
    for line in imported.report:
        click.echo(f"{line.verdict:8} {line.name}: {line.why}")
    if not imported.document["questions"]:
        raise click.ClickException("no question of this form can be asked behind coins: nothing was written")
    with open(output, "x", encoding="utf-8") as out:
        out.write(to_yaml(imported.document))
    click.echo(f"{output} is written. See it with: deniable check {output}")
    try:
        survey = Survey.from_file(output)
    except SurveyError as error:
        click.echo(f"To be mended in it:\n{error}", err=True)
        raise click.exceptions.Exit(1) from None
    for gap in gaps(survey):
        click.echo(f"note: {gap.sentence()}")
