"""`deniable bundle`: all that a live survey has to download and to publish."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deniable.cli.live import reader, who_options


@click.command("bundle")
@click.argument("address")
@who_options
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The file to write, or to replace.",
)
@click.option("--only", metavar="FILE", help="One file of the bundle instead of the zip, such as rows.csv, rows.sav or report.docx.")
@click.option(
    "--licence",
    type=click.Choice(["cc-by-4.0", "cc0-1.0", "none"]),
    default="cc-by-4.0",
    show_default=True,
    help="What the files say that others may do with them.",
)
def bundle_command(address: str, output: Path, only: str | None, licence: str, **options: Any) -> None:
    """Download a survey's perturbed rows, ready to be published.

    ADDRESS is the survey's link, or the server's address with --survey. The zip has the rows for R, Python, SPSS, Stata and
    spreadsheets, a codebook with the exact odds, every figure, scripts that compute each figure again, charts and a report.
    A key needs the scope reports.

    \b
    Example:
      deniable bundle https://example.org --survey health -o health.zip --user ada --password-env PASSWORD
    """
    with reader(address, options) as client:
        client.bundle(client.survey_id or "", output, only=only, licence=licence)
    click.echo(f"{output}: {output.stat().st_size:,} bytes", err=True)
