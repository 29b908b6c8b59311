"""Several processes count what one counts, bit for bit, and go on where some of them are killed."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickletools
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import dask.bag
import distributed
import numpy as np
import pytest
from click.testing import CliRunner
from dask.delayed import delayed
from distributed import Client, LocalCluster
from tests.client.exported.conftest import NORTH, SIZE, SOUTH, TOWNS, Make
from tests.kit.patience import wait_for

from deniable.cli import main
from deniable.errors import ExportError, SubmissionError
from deniable.exported import cluster, tally_of
from deniable.wire.part import Part
from deniable.wire.tally import Tally

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Of three workers, each a process with one thread. They are forked from one that has loaded all they need."""
    multiprocessing.set_forkserver_preload(["distributed.nanny", "deniable.exported", "pyarrow.parquet"])
    told = {"distributed.worker.multiprocessing-method": "forkserver", "distributed.worker.memory.terminate": False}
    with (
        dask.config.set(told),
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address="127.0.0.1:0") as local,
        Client(local) as client,
    ):
        yield client


def bits(tally: Tally) -> tuple[int, bytes]:
    return tally.n, tally.to_bytes()


def test_several_processes_count_what_one_does(client: Client, make: Make) -> None:
    export = make()
    for chosen in ((None, False), (NORTH, False), (SOUTH, True), (NORTH, True)):
        assert bits(export.tally(*chosen, client=client)) == bits(export.tally(*chosen))


def held_back(path: Path) -> Path:
    """Puts a pipe in the place of a file: whoever reads it waits. The file is beside it."""
    path.rename(path.with_suffix(".whole"))
    os.mkfifo(path)
    return path


def opened(pipe: Path) -> int:
    """A handle that has a reader of the pipe wait for what is written, 0 where nobody is reading it yet."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return 0


def reads(pid: int, pipe: Path) -> bool:
    """Whether a process has the pipe open. Whatever else it has may be closed while this looks."""
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            if handle.readlink() == pipe:
                return True
    return False


def test_two_workers_that_are_killed_in_the_middle_change_nothing(client: Client, make: Make) -> None:
    export, pids = make(), list(client.run(os.getpid).values())
    expected = bits(export.tally())
    pipes = [held_back(export.folder / piece.name) for piece in export.pieces[7:9]]
    handles = [0, 0]

    def in_the_middle() -> bool:
        handles[:] = [handle or opened(pipe) for handle, pipe in zip(handles, pipes, strict=True)]
        return all(handles) and all(any(reads(pid, pipe) for pid in pids) for pipe in pipes)

    with ThreadPoolExecutor() as threads:
        found = threads.submit(export.tally, client=client)
        wait_for(in_the_middle, "two workers in the middle of a piece")
        killed = [pid for pid in pids if any(reads(pid, pipe) for pipe in pipes)]
        assert len(killed) == 2
        assert not found.done()
        for pipe in pipes:
            pipe.with_suffix(".whole").replace(pipe)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        assert bits(found.result()) == expected
    assert not set(killed) & set(client.run(os.getpid).values())
    for handle in handles:
        os.close(handle)


def twice(tallies: Sequence[Tally]) -> Tally:
    """The first of some counted once more: what a worker that came back might add."""
    return sum(tallies, tallies[0])


def not_a_sum(tallies: Sequence[Tally]) -> Tally:
    return Tally(sum(one.n for one in tallies), np.maximum.reduce([one.pairs for one in tallies]))


def test_the_control_a_piece_counted_twice_is_refused_and_what_is_no_sum_gives_other_bits(
    client: Client, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    export = make()
    monkeypatch.setattr(cluster, "_add", not_a_sum)
    assert bits(export.tally(client=client)) != bits(export.tally())
    monkeypatch.setattr(cluster, "_add", twice)
    with pytest.raises(ExportError, match="must have the 437 records of its manifest"):
        export.tally(client=client)


def test_the_command_prints_the_same_wherever_it_is_counted(client: Client, make: Make) -> None:
    command = ["tally", str(make().folder), "--group", NORTH, "--json"]
    here, there = (CliRunner().invoke(main, [*command, *more]) for more in ([], ["--scheduler", client.scheduler.address]))
    assert (here.exit_code, here.output) == (there.exit_code, there.output)
    assert json.loads(here.output)["n"] == 341


def test_workers_of_this_machine_are_as_many_as_asked_for_and_listen_to_it_alone(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """In threads here: processes take seconds to start, and the other tests have some."""
    asked: list[dict[str, Any]] = []

    def local(**options: Any) -> LocalCluster:
        asked.append(options)
        return LocalCluster(**options, processes=False)

    command = ["tally", str(make().folder)]
    here = CliRunner().invoke(main, command)
    monkeypatch.setattr(distributed, "LocalCluster", local)
    there = CliRunner().invoke(main, [*command, "--workers", "2"])
    assert (here.exit_code, here.output) == (there.exit_code, there.output) == (0, here.output)
    assert (asked[0]["n_workers"], asked[0]["threads_per_worker"], asked[0]["dashboard_address"]) == (2, 1, "127.0.0.1:0")


def test_what_is_wrong_on_a_worker_is_told_as_it_is_here(client: Client, make: Make) -> None:
    export = make()
    (export.folder / "records-00004.parquet").write_bytes(b"other bytes")
    with pytest.raises(ExportError, match=r"records-00004\.parquet: its SHA-256 must be "):
        export.tally(client=client)
    with pytest.raises(SubmissionError, match="padding"):
        tally_of(TOWNS, [delayed(b"\xff" * SIZE)])


def test_a_bag_or_delayed_records_anywhere_are_counted_by_the_cluster(client: Client, sent: Mapping[Part, bytes]) -> None:
    expected = bits(Tally.from_records(b"".join(sent.values()), TOWNS.record.bits))
    for records in (dask.bag.from_sequence(sent.values(), npartitions=3), [delayed(bytes)(one) for one in sent.values()]):
        assert bits(tally_of(TOWNS, records)) == expected
    assert bits(tally_of(TOWNS, [])) == bits(Tally.empty(TOWNS.record.bits))


def test_a_worker_gets_a_path_the_definition_and_nothing_else(make: Make) -> None:
    export, asked = make(), []

    class Cluster:
        def compute(self, graph: Any) -> Any:
            asked.append(dict(graph.__dask_graph__()))
            raise InterruptedError

    with pytest.raises(InterruptedError):
        export.tally(client=Cluster())  # type: ignore[arg-type]
    named = {str(argument) for operation, argument, _ in pickletools.genops(cloudpickle.dumps(asked[0])) if isinstance(argument, str)}
    ours = {name for name in named if name.startswith("deniable")}
    assert ours == {"deniable.exported.cluster", "deniable.exported.pieces", "deniable.wire.part"}
    assert {"_tally_piece", "_add", "Piece", "Part"} <= named
