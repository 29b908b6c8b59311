"""Servers on one database count each other, and together grant what one server alone would grant."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import PROGRAM, USER, ServerProcess, reserved
from tests.server.store.conftest import Databases
from tests.server.store.postgresql import server
from tests.server.store.test_kill import bucket, bucket_survey

from deniable.device.entropy import os_words
from deniable_server.identity.passwords import set_password
from deniable_server.store import open_store
from deniable_server.store.protocol import Store
from deniable_server.store.sql.connection import Connection

pytestmark = pytest.mark.slow
PER_SECOND, SECONDS, CLIENTS = 40, 3, 8
PASSWORD = "correct horse battery"


def test_servers_on_a_database_count_each_other_and_not_those_of_another_database(databases: Databases) -> None:
    url = databases.new()
    with closing(open_store(url)) as one, closing(open_store(databases.new())) as elsewhere:
        assert (one.count_servers(), one.count_servers(), elsewhere.count_servers()) == (1, 1, 1)
        with closing(open_store(url)) as two, closing(open_store(url)) as command:
            assert (two.count_servers(), one.count_servers()) == (2, 2)
            assert count_of(command) == 2  # who does not count is not counted
        assert one.count_servers() == 1


def count_of(store: Store) -> int:
    """The holders of the lock, read by a store that does not hold it."""
    connection: Connection
    with store.database.reading() as connection:  # type: ignore[attr-defined]
        own = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        query = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND {own}"
        return int(connection.execute(query).fetchone()[0])


def test_a_server_counts_again_after_the_database_was_lost(databases: Databases) -> None:
    with closing(open_store(databases.new())) as store:
        assert store.count_servers() == 1
        server().stop(signal.SIGQUIT)
        server().start()
        with suppress(Exception):
            store.count_servers()
        assert store.count_servers() == 1


class OneOfSeveral(ServerProcess):
    """A server beside others on one database."""

    def __init__(self, folder: Path, url: str) -> None:
        folder.mkdir()
        self.folder, self.db, self.log, self.command = folder, url, folder / "server.log", (PROGRAM,)  # type: ignore[assignment]
        self._holder = reserved()
        self.port = self._holder.getsockname()[1]
        self.url, self.process = f"http://127.0.0.1:{self.port}", None

    def wait_for(self, words: str) -> None:
        """Waits until its log has some words."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.log.read_text(encoding="utf-8"):
            assert time.monotonic() < deadline, self.log.read_text(encoding="utf-8")
            time.sleep(0.05)


@dataclass
class Flood:
    """Clients of all servers, which send new records without a pause for some seconds."""

    urls: list[str]
    survey: object = field(default_factory=bucket_survey)
    statuses: dict[str, list[int]] = field(default_factory=dict)

    def pour(self) -> float:
        """Sends, and returns the seconds from before the first request to after the last reply."""
        self.statuses = {url: [] for url in self.urls}
        begun = time.monotonic()
        with ThreadPoolExecutor(CLIENTS) as clients:
            list(clients.map(lambda number: self._client(self.urls[number % len(self.urls)], begun), range(CLIENTS)))
        return time.monotonic() - begun

    def _client(self, url: str, begun: float) -> None:
        with httpx.Client(timeout=PATIENCE, headers={"Content-Type": "application/json"}) as http:
            while time.monotonic() < begun + SECONDS:
                body = bucket(self.survey, 0, 0, os_words(4).tobytes()[:15]).to_json()  # type: ignore[arg-type]
                self.statuses[url].append(http.post(f"{url}/api/v1/surveys/buckets/submissions", content=body).status_code)


@pytest.fixture
def two(tmp_path: Path, databases: Databases) -> Iterator[list[OneOfSeveral]]:
    """Two servers that know of each other, with a survey and ada's account."""
    url = databases.new()
    with closing(open_store(url)) as store:
        store.surveys.publish(bucket_survey())
        set_password(store.accounts, USER, PASSWORD)
    servers = [OneOfSeveral(tmp_path / f"server{number}", url) for number in range(2)]
    for each in servers:
        each.start("--most-per-second", str(PER_SECOND))
    for each in servers:
        each.wait_for("servers that share the rate limits: 2")
    yield servers
    for each in servers:
        each.close()


def test_two_servers_under_a_flood_take_no_more_than_the_limit_of_one(two: list[OneOfSeveral]) -> None:
    flood = Flood([each.url for each in two])
    took = flood.pour()
    statuses = [status for each in flood.statuses.values() for status in each]
    assert set(statuses) == {200, 429}
    assert all(429 in each for each in flood.statuses.values())  # each server has reached its part
    assert statuses.count(200) <= PER_SECOND * (1 + took)


def test_two_servers_together_let_nobody_guess_more_passwords_than_one(two: list[OneOfSeveral]) -> None:
    def guesses(url: str) -> int:
        """How many wrong passwords are checked before the server asks to wait."""
        for number in range(20):
            if (
                httpx.get(f"{url}/api/v1/surveys/buckets/results", auth=(USER, f"wrong password {number}"), timeout=PATIENCE).status_code
                == 429
            ):
                return number
        return 20

    assert sum(guesses(each.url) for each in two) <= 5


def test_a_server_has_the_whole_limit_again_after_the_other_was_killed(two: list[OneOfSeveral]) -> None:
    two[1].kill()
    two[0].wait_for("servers that share the rate limits: 1")
