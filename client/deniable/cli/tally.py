"""`deniable tally`: the tally of an export and the estimates that follow from it, counted by this process or by a cluster."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.live import by_hand_option, group_option
from deniable.cli.options import form_options, interval_options, printed
from deniable.exported import Export
from deniable.extras import missing
from deniable.wire.tally import Tally

if TYPE_CHECKING:
    from distributed import Client


@click.command("tally")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--scheduler", metavar="ADDRESS", help="Of a Dask cluster whose workers see DIR at the same path, such as tcp://10.0.0.5:8786."
)
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Count with N processes on this machine.  [default: with this one]"
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the tally to this file, too, or replace it: JSON, as a server's API gives it.",
)
@group_option
@by_hand_option
@interval_options
@form_options
def tally_command(
    folder: Path,
    scheduler: str | None,
    workers: int | None,
    output: Path | None,
    group: str | None,
    by_hand: bool,
    form: str | None,
    **interval: Any,
) -> None:
    """Count an export, and print the estimates.

    DIR is what `deniable-server export` wrote. The same records give the same tally, bit for bit, whoever counts them, and however many
    workers end on the way. Needs deniable[tables] and deniable[estimate]; --scheduler and --workers need deniable[scale], the former on
    each worker's machine, too.

    \b
    Examples:
      deniable tally health-export
      deniable tally /shared/health-export --scheduler tcp://10.0.0.5:8786 -o tally.json --csv > health.csv
    """
    if scheduler and workers:
        raise click.UsageError("--scheduler and --workers must not be given together")
    from deniable.estimate.analysis import analyse

    export = Export.open(folder)
    with _cluster(scheduler, workers) as client:
        counted = export.tally(group, by_hand, client)
    described = export.described(group, by_hand)
    found = replace(analyse(export.survey, counted, **interval).results, **described)
    if output:
        output.write_text(_written(export, counted, described) + "\n", encoding="utf-8")
    printed(found, form)


@contextmanager
def _cluster(scheduler: str | None, workers: int | None) -> Iterator[Client | None]:
    """A client of the cluster that somebody asked for, None where nobody did."""
    if scheduler is None and workers is None:
        yield None
        return
    if error := missing("a cluster", "scale"):
        raise error
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        if workers:
            local = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.ERROR)
            scheduler = stack.enter_context(local).scheduler_address
        yield stack.enter_context(Client(scheduler))


def _written(export: Export, tally: Tally, described: dict[str, Any]) -> str:
    pairs = base64.b64encode(tally.to_bytes()).decode()
    return json.dumps({**described, "survey": export.survey.id, "digest": export.survey.digest, "n": tally.n, "pairs": pairs})
