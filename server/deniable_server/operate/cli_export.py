"""`deniable-server export`: a survey's counted records as files that other machines can count."""

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
@click.option("--parquet", "folder", metavar="DIR", type=click.Path(path_type=Path), required=True, help="The folder to make.")
def export_command(db: Database, survey_id: str, folder: Path) -> None:
    """Write counted records to a folder of Parquet files.

    All of a closed survey; of an open one those whose batch is counted. They stand in the order of their own bytes, without ids, so
    nothing shows which came when, nor which came together. `deniable tally DIR` counts them, on this machine or on many. The server may
    run meanwhile. There is no such folder until all of it is there.

    \b
    Example:
      deniable-server export health --parquet health-export
    """
    with opened(db) as store:
        made = export(store, survey_id, folder)
    n, files = sum(made.sizes.values()), len(made.pieces)
    click.echo(
        f"{folder} has {n:,} record{'' if n == 1 else 's'} of {survey_id}, in {files:,} file{'' if files == 1 else 's'} and a manifest."
    )


def export(store: Store, survey_id: str, folder: Path) -> exported.Export:
    """Makes the folder of the records that are counted now.

    Raises WithheldError where there are too few of them to show anything, what the store raises, and what `exported.write` raises.
    """
    from deniable_server.results.release import rows_of  # which takes longer to load than all other commands

    published = store.surveys.published(survey_id)
    rows = rows_of(store, published.survey)
    return exported.write(folder, published.survey, rows.read(), published.is_open)
