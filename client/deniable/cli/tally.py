"""Tally and estimates of an export, counted by this process or by a Dask cluster: the command `tally`."""

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

from deniable.cli.command import command
from deniable.cli.live import by_hand_option, group_option
from deniable.cli.options import form_options, interval_options, print_result
from deniable.exported import Export
from deniable.extras import missing
from deniable.wire.tally import Tally

if TYPE_CHECKING:
    from distributed import Client


@command("tally")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Count with this Dask cluster, e.g. tcp://10.0.0.5:8786; its workers must see the same DIR.",
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Count with N processes on this machine.  [default: this process]")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the tally to this file, or replace it: JSON, as in the server's API.",
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
    r"""Count an export, and print its estimates.

    DIR is a folder that `deniable-server export` wrote. The same records always give the same tally, bit for bit, even if workers fail
    on the way. Needs deniable[tables] and deniable[estimate]; --scheduler and --workers need deniable[scale], with --scheduler also on
    each worker's machine.

    Examples:
      deniable tally health-export
      deniable tally /shared/health-export -o tally.json \
        --scheduler tcp://10.0.0.5:8786 --csv > health.csv
    """
    if scheduler and workers:
        raise click.UsageError("--scheduler and --workers must not be combined")
    from deniable.estimate.analysis import analyse

    export = Export.open(folder)
    with _cluster(scheduler, workers) as client:
        tally = export.tally(group, by_hand, client)
    description = export.described(group, by_hand)
    results = replace(analyse(export.survey, tally, **interval).results, **description)
    if output:
        output.write_text(_to_json(export, tally, description) + "\n", encoding="utf-8")
    print_result(results, form)


@contextmanager
def _cluster(scheduler: str | None, workers: int | None) -> Iterator[Client | None]:
    """Yields a client of the selected cluster; None to count in this process."""
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


def _to_json(export: Export, tally: Tally, description: dict[str, Any]) -> str:
    pairs = base64.b64encode(tally.to_bytes()).decode()
    return json.dumps({**description, "survey": export.survey.id, "digest": export.survey.digest, "n": tally.n, "pairs": pairs})
