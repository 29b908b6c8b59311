"""Commands, metrics and lists take as many SQL statements for 120 surveys as for 60: a slice of the benchmark `tenants`, no clock."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.kit.benchmarks import benchmark

from deniable_server.results import result_cache
from deniable_server.store.byte_cache import ByteCache
from deniable_server.store.sqlite.file import SqliteFile

pytestmark = pytest.mark.slow

tenants = benchmark("tenants")
FEW, MANY = 60, 120  # more than a page of the list has
STEPS = sorted(tenants.STEPS.keys() - {"serve", "post to one", "post in turn"})


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    stores = {number: tmp_path_factory.mktemp(str(number)) for number in (FEW, MANY)}
    for number, folder in stores.items():
        tenants.fill(folder, number)
    return stores


def statements_of(step: str, folder: Path, surveys: int, monkeypatch: pytest.MonkeyPatch) -> int:
    statements: list[str] = []
    connect = SqliteFile.connect

    def connecting(file: SqliteFile) -> sqlite3.Connection:
        connection = connect(file)
        connection.set_trace_callback(statements.append)
        return connection

    with monkeypatch.context() as patched:
        patched.setattr(SqliteFile, "connect", connecting)
        patched.setattr(result_cache, "_values", ByteCache(result_cache.CACHE_BYTES))  # as in a new process
        tenants.STEPS[step](folder, surveys)
    return len(statements)


@pytest.mark.parametrize("step", STEPS)
def test_twice_the_surveys_take_as_many_statements(step: str, folders: dict[int, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (statements_of(step, folders[number], number, monkeypatch) for number in (FEW, MANY))
    assert few > 0
    assert many <= few + 3


def test_posts_to_many_surveys_are_stored(folders: dict[int, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenants, "POSTS", 2 * MANY)
    assert tenants.STEPS["post in turn"](folders[MANY], MANY).cpu > 0
