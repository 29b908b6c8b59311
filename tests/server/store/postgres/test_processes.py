"""Several web processes on one database, killed at any moment, and the database crashing beside them: everything is counted once."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from tests.kit.breaks import broken_server
from tests.kit.servers.later import adding
from tests.kit.servers.process import ServerProcess, reserved
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import recount_of, tally_of
from tests.server.store.conftest import Databases
from tests.server.store.postgresql import server
from tests.server.store.test_kill import SENT, Load, bucket, bucket_survey, counts

from deniable.wire.tally import Tally
from deniable_server.store import open_store

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("DENIABLE_KILLS", 3))
WEB, CLIENTS = (4, 6) if KILLS >= 50 else (2, 3)
CRASHES = 5  # every so many kills the database crashes too


class Web(ServerProcess):
    """A web process beside others."""

    def __init__(self, folder: Path, url: str, variant: str) -> None:
        folder.mkdir()
        self.folder, self.db, self.log = folder, url, folder / "server.log"  # type: ignore[assignment]
        self.command = [sys.executable, str(Path(broken_server.__file__)), variant]
        self._holder = reserved()
        self.port = self._holder.getsockname()[1]
        self.url, self.process = f"http://127.0.0.1:{self.port}", None


@dataclass
class Spread(Load):
    """Clients that try another process each time."""

    urls: list[str] = field(default_factory=list)

    def deliver(self, http: httpx.Client, what: str, body: bytes) -> None:
        while True:
            try:
                if http.post(f"{random.choice(self.urls)}/api/v1/surveys/buckets/{what}", content=body).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.01)


@pytest.fixture
def webs(tmp_path: Path, databases: Databases) -> Iterator[Callable[[str], list[Web]]]:
    """Makes web processes of a variant on one new database."""
    made: list[Web] = []

    def make(variant: str) -> list[Web]:
        url = databases.new()
        made.extend(Web(tmp_path / f"web{number}", url, variant) for number in range(WEB))
        return made

    yield make
    for web in made:
        web.close()


def kill_under_load(webs: list[Web], kills: int, crashes: bool) -> tuple[Load, Tally, Tally]:
    """What was acknowledged, the tally once the survey is closed, and the recount."""
    survey, url = bucket_survey(), str(webs[0].db)
    with closing(open_store(url)) as store:
        store.surveys.publish(survey)
    for web in webs:
        web.start()
    load = Spread(webs[0].url, survey, urls=[web.url for web in webs])
    threads = [threading.Thread(target=load.client, daemon=True) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    other = open_store(url)
    for number in range(kills):
        load.wait_for(SENT * (number + 1))
        if number % CRASHES == 1:
            release_people(other)
        victim = random.choice(webs)
        victim.kill()
        if crashes and number % CRASHES == 0:
            server().stop(signal.SIGQUIT)
            server().start()
        victim.start()
    load.wait_for(SENT * (kills + 1))
    load.ending.set()
    for thread in threads:
        thread.join()
    for web in webs:
        web.stop()
    other.close()
    with closing(open_store(url)) as store:
        store.surveys.set_open("buckets", False)
        release_people(store)  # it may have had a release on this day
        return load, tally_of(store, "buckets"), recount_of(store, "buckets")


def in_one_file(load: Load, file: Path) -> Tally:
    """The tally of the same records in a store on SQLite, which nobody kills."""
    with closing(open_store(file)) as store:
        store.surveys.publish(load.survey)
        told = [adding(store, "buckets", bucket(load.survey, *place, os.urandom(15))) for place in load.acknowledged]
        assert all(each.result(60) for each in told)
        store.surveys.set_open("buckets", False)
        return tally_of(store, "buckets")


def test_kills_of_web_processes_and_crashes_of_the_database_lose_nothing_and_count_nothing_twice(
    webs: Callable[[str], list[Web]], tmp_path: Path
) -> None:
    load, tally, recount = kill_under_load(webs("right"), KILLS, crashes=True)
    print(f"{KILLS} kills of {WEB} web processes, {-(-KILLS // CRASHES)} of the database")
    print(f"{len(load.acknowledged):,} acknowledged, {len(load.withdrawn):,} withdrawn, {tally.n:,} counted")
    assert set(counts(load.acknowledged, tally)) == {1}
    assert set(counts(load.withdrawn, tally)) == {0}
    assert tally.n == recount.n == len(load.acknowledged)
    assert (tally.pairs == recount.pairs).all()
    assert (tally.pairs == in_one_file(load, tmp_path / "one.db").pairs).all()


def test_processes_that_acknowledge_before_they_commit_are_found_out(webs: Callable[[str], list[Web]]) -> None:
    load, tally, _ = kill_under_load(webs("acknowledge-before-commit")[:1], 4, crashes=False)
    assert counts(load.acknowledged, tally).count(0) > 0
