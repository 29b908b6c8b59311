"""Command `deniable-server export`: export of a survey's counted records, to files that other machines can count."""

from __future__ import annotations

from pathlib import Path

import click

from deniable import exported
from deniable_server.config import Database
from deniable_server.operate.cli_database import database, opened
from deniable_server.store.protocol import Store


@click.command("export")
@database
@click.argument("survey_id")
@click.option("--parquet", "folder", metavar="DIR", type=click.Path(path_type=Path), required=True, help="The folder to create.")
def export_command(db: Database, survey_id: str, folder: Path) -> None:
    """Write counted records to a folder of Parquet files.

    Exports all records of a closed survey, and the counted batches of an open one. They are sorted by their bytes and have no ids, so
    nothing shows when they came, or which of them came together. `deniable tally DIR` counts them, on one machine or many. The server
    may run meanwhile. The folder appears only when it is complete.

    Example:
      deniable-server export health --parquet health-export
    """
    with opened(db, writing=False) as store:
        exported_files = export(store, survey_id, folder)
    n, files = sum(exported_files.sizes.values()), len(exported_files.pieces)
    click.echo(
        f"{folder} has {n:,} record{'' if n == 1 else 's'} of {survey_id}, in {files:,} file{'' if files == 1 else 's'} and a manifest."
    )


def export(store: Store, survey_id: str, folder: Path) -> exported.Export:
    """Writes the records that are counted now to a folder.

    Raises:
        WithheldError: There are too few records to show anything.
        StoreError: The store fails.
        OSError: The folder cannot be written.
    """
    from deniable_server.results.disclosure_control import labelled_rows  # takes longer to load than all other commands

    published = store.surveys.published(survey_id)
    rows = labelled_rows(store, published.survey)
    return exported.write(folder, published.survey, rows.read(), published.is_open)
