"""Every test in this folder runs on each database; those in its folders are about one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pytest
from tests.kit.servers.release import Days
from tests.server.store.postgresql import PostgresDatabases

from deniable.survey import Survey
from deniable_server.config import Database
from deniable_server.store import open_store
from deniable_server.store.protocol import Store


class Databases(Protocol):
    """Databases of one kind, each named by its url. runs: how often a test of made-up runs may begin with a new one."""

    runs: int

    def new(self) -> str:
        """One that is not there yet, or empty."""

    def restored(self, url: str, stores: Sequence[Store]) -> str:
        """Makes a copy while the stores have it open, closes them, and puts the copy into a place of its own or the same."""

    def discard(self, url: str) -> None:
        """It is needed no more."""


class SqliteFiles:
    """The first is where the tests of the server have theirs."""

    runs = 30

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, 0

    def new(self) -> str:
        self.number += 1
        return f"sqlite:///{self.folder / ('deniable.db' if self.number == 1 else f'deniable{self.number}.db')}"

    def restored(self, url: str, stores: Sequence[Store]) -> str:
        path = Database.at(url).path
        stores[0].backup(self.folder / "backup.db")
        for store in stores:
            store.close()
        (self.folder / "backup.db").replace(path)
        return url

    def discard(self, url: str) -> None:
        for file in self.folder.glob(f"{Database.at(url).path.name}*"):
            file.unlink()


ENGINES: dict[str, Callable[[Path], Databases]] = {"sqlite": SqliteFiles, "postgresql": PostgresDatabases}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def databases(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Databases:
    monkeypatch.setenv("DENIABLE_KEY_FILE", str(tmp_path / "deniable.key"))
    return ENGINES[request.param](tmp_path)


@pytest.fixture
def url(databases: Databases) -> str:
    """Where the store of a test is."""
    return databases.new()


@pytest.fixture
def store(url: str, survey: Survey) -> Iterator[Store]:
    store = open_store(url)
    store.surveys.publish(survey)
    yield store
    store.close()


@pytest.fixture
def days(monkeypatch: pytest.MonkeyPatch) -> Days:
    """The store's clock, which the test sets."""
    return Days(monkeypatch)
