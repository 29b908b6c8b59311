"""Download of a live survey's publication bundle: the command `bundle`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deniable.cli.command import command
from deniable.cli.live import address_argument, researcher_client, survey_options


@command("bundle")
@address_argument
@survey_options
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The file to write or replace.",
)
@click.option("--only", metavar="FILE", help="Download one file of the bundle instead, such as rows.csv, rows.sav or report.pdf.")
@click.option(
    "--licence",
    type=click.Choice(["cc-by-4.0", "cc0-1.0", "none"]),
    default="cc-by-4.0",
    show_default=True,
    help="The licence that the files name.",
)
def bundle_command(address: str, output: Path, only: str | None, licence: str, **options: Any) -> None:
    """Download a survey's perturbed rows, ready to publish.

    ADDRESS is the survey's link, or the server's address with --survey. The zip has the rows for R, Python, SPSS, Stata and
    spreadsheets, a codebook with the exact odds, every figure, scripts that compute each figure again, charts and a report.
    An API key needs the scope reports.

    Example:
      deniable bundle https://example.org/s/health -o health.zip --user ada
    """
    with researcher_client(address, options) as client:
        client.bundle(client.survey_id or "", output, only=only, licence=licence)
    click.echo(f"{output}: {output.stat().st_size:,} bytes", err=True)
