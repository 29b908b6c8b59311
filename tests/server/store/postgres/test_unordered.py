"""No column, system column or place in PostgreSQL's tables shows which record came when; nor do its files keep what was erased."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr
from tests.kit.servers.release import release_people
from tests.server.store.conftest import Databases
from tests.server.store.postgresql import server

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.store import open_store
from deniable_server.store.postgres.server import PostgresServer
from deniable_server.store.protocol import Store
from deniable_server.store.sql import vacuum

pytestmark = pytest.mark.slow
Make = Callable[..., Submission]
PLACES = {
    "xmin": "SELECT id FROM submissions ORDER BY age(xmin) DESC, id",
    "ctid": "SELECT id FROM submissions ORDER BY ctid",
    "rows": "SELECT id FROM submissions",
    "chunks": "SELECT id FROM submissions ORDER BY pg_column_toast_chunk_id(reports), id",
}


def settled(store: Store) -> None:
    """Waits until the tables have been written anew."""
    deadline = time.monotonic() + 120
    while True:
        with store.database.reading() as connection:
            if connection.execute("SELECT due FROM deniable").fetchone() == (0,):
                return
        assert time.monotonic() < deadline
        time.sleep(0.02)


def orders(
    databases: Databases, survey: Survey, make: Callable[[], Submission], wait: Callable[[Store], Any] = settled, number: int = 2
) -> dict[str, float]:
    """Rank correlations with arrival of 60 submissions, averaged over some databases; people's are released at the end."""
    found: dict[str, list[float]] = {name: [] for name in PLACES}
    for _ in range(number):
        store = open_store(databases.new())
        store.surveys.publish(survey)
        sent = [make() for _ in range(60)]
        for submission in sent:
            store.submissions.add(survey.id, submission)
        release_people(store)
        wait(store)
        arrival = {submission.id: number for number, submission in enumerate(sent)}
        with store.database.reading() as connection:
            for name, query in PLACES.items():
                rows = [arrival[id_] for (id_,) in connection.execute(query).fetchall()]
                assert len(rows) >= 50, "up to ten wait"
                found[name].append(float(spearmanr(range(len(rows)), rows).statistic))
        store.close()
    return {name: float(np.mean(values)) for name, values in found.items()}


@pytest.mark.parametrize("count", [1, 3000])  # records in a row of its own, and out of line
def test_nothing_of_a_table_shows_when_a_record_came(
    count: int, databases: Databases, survey: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 0.01)
    batched = Survey.from_dict({**survey.to_dict(), "batch": 10})
    found = orders(databases, batched, lambda: submissions(count, to=batched))
    print(count, {name: round(value, 2) for name, value in found.items()})
    assert max(map(abs, found.values())) < 0.4  # by chance 0.09 in the mean of two


def test_tables_that_are_left_alone_would_be_found_out(
    databases: Databases, survey: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 3600)
    found = orders(databases, survey, lambda: submissions(3000), wait=lambda store: None, number=1)
    assert min(abs(found[name]) for name in ("xmin", "ctid", "chunks")) > 0.9


def test_tables_that_are_only_vacuumed_would_be_found_out(
    databases: Databases, survey: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VACUUM FULL keeps xmin, and CLUSTER does."""

    def cluster(store: Store) -> None:
        with store.database.connect().raw as raw:
            raw.execute("CLUSTER submissions USING submissions_pkey")

    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 3600)
    found = orders(databases, survey, lambda: submissions(2), wait=cluster, number=1)
    assert abs(found["xmin"]) > 0.9
    assert abs(found["ctid"]) < 0.5


def in_files(url: str, sought: list[bytes]) -> int:
    """How many of these can be found in the files of a database, without PostgreSQL's log of writes."""
    server().run("CHECKPOINT")
    name = url.partition("@/")[2].partition("?")[0]
    oid = run_one(f"SELECT oid FROM pg_database WHERE datname = '{name}'")
    content = b"".join(file.read_bytes() for file in (server().folder / "data" / "base" / str(oid)).iterdir())
    return sum(one in content for one in sought)


def run_one(query: str) -> Any:
    import psycopg

    with psycopg.connect(server().url("postgres")) as connection:
        return (connection.execute(query.encode()).fetchone() or [None])[0]


def withdrawn(store: Store, submissions: Make) -> tuple[list[bytes], list[bytes]]:
    """Of 40 submissions every other is withdrawn: bytes of those that stay, and of those that went."""
    sent = [submissions(count) for count in range(400, 440)]
    for submission in sent:
        store.submissions.add("study", submission)
    for submission in sent[::2]:
        store.submissions.withdraw("study", submission.id)
    return [one.reports[:64] for one in sent[1::2]], [one.reports[:64] for one in sent[::2]]


def test_no_byte_of_what_was_withdrawn_stays_in_the_tables_files(store: Store, url: str, submissions: Make) -> None:
    staying, going = withdrawn(store, submissions)
    store.rewrite()
    assert (in_files(url, staying), in_files(url, going)) == (20, 0)


def test_rows_that_are_only_deleted_would_be_found_out(store: Store, url: str, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 3600)
    monkeypatch.setattr(PostgresServer, "rewrite", lambda self: None)
    _, going = withdrawn(store, submissions)
    assert in_files(url, going) > 0


def test_what_somebody_still_reads_is_written_anew_again_later(store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        store.submissions.add("study", submissions())
    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 3600)
    with store.database.reading() as reader:
        assert reader.execute("SELECT count(*) FROM withdrawn").fetchone() == (0,)
        before = reader.execute("SELECT pg_current_snapshot()::text").fetchone()
        assert before is not None
    snapshot = store.database.connect()
    snapshot.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    snapshot.execute("SELECT 1 FROM surveys")
    store.rewrite()
    assert store.database.rewriting._timer is not None
    snapshot.execute("COMMIT")
    snapshot.close()
    store.rewrite()
    settled(store)


def test_no_statistics_have_a_sample_of_a_record(store: Store, url: str, submissions: Make) -> None:
    for number in range(100):
        store.submissions.add("study", submissions(1 + number % 2))
    connection = store.database.connect()
    connection.execute("ANALYZE")
    found = connection.execute("SELECT tablename, attname FROM pg_stats WHERE schemaname = 'public'").fetchall()
    connection.close()
    assert ("submissions", "survey") in found  # it was analysed
    assert ("intake", "survey") in found
    silent = {("submissions", "id"), ("submissions", "key"), ("submissions", "reports"), ("used_codes", "tag")}
    assert not {*silent, ("intake", "sealed"), ("intake", "tag"), ("intake", "part")} & set(found)
