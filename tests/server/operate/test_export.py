"""`deniable-server export` and `deniable tally`: the figures of an export are the server's own, and its order says nothing."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Sequence
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from tests.kit.servers.release import release_people
from tests.server.api.test_reports import ORDERS, PARTS, TOWNS, each, records, send

from deniable.cli import main as sdk
from deniable.exported import Export
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable_server.operate import cli_export
from deniable_server.operate.cli import main as server
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store

COINS = Survey.from_dict(
    {
        "deniable": 1,
        "id": "coins",
        "title": "T",
        "about": "A.",
        "groups": ["North", "South"],
        "batch": 10,
        "epsilon": "ln 27",
        "questions": [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(3)],
    }
)


def run(command: click.Command, *words: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(command, [str(word) for word in words])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.output


@pytest.fixture
def db(store: Store, tmp_path: Path) -> Path:
    """Of a survey with groups, of which some answered through an organisation and some with coins; ten of each part of people wait."""
    store.surveys.publish(COINS)
    for part, n in ((Part("North"), 42), (Part("North", "organisation"), 1000), (Part("South"), 31), (Part("South", "by_hand"), 20)):
        if part.mode == "organisation":
            send(store, os.urandom(n).translate(bytes(byte & 0xE0 for byte in range(256))), part, COINS)
        else:
            for _ in range(n):
                send(store, records(1, COINS), part, COINS)
    assert release_people(store) == ["coins"]
    return tmp_path / "deniable.db"


@pytest.mark.parametrize("closed", [False, True])
def test_what_an_export_says_is_word_for_word_what_the_server_says(db: Path, store: Store, tmp_path: Path, closed: bool) -> None:
    if closed:
        store.surveys.set_open("coins", False)
    told = run(server, "export", "coins", "--parquet", tmp_path / "out", "--db", db)
    counts = store.submissions.counts("coins")
    assert counts[Part("North")] == (42 if closed else 32)
    assert told == f"{tmp_path / 'out'} has {sum(counts.values()):,} records of coins, in 1 file and a manifest.\n"
    assert Export.open(tmp_path / "out").sizes == counts
    for words in ([], ["--group", "North"], ["--group", "South", "--by-hand"], ["--by-hand", "--confidence", "0.8", "--csv"]):
        shown, waiting = (
            run(server, "results", "coins", "--db", db, *words),
            f" · {10 if '--by-hand' in words else 20} or more wait for their release",
        )
        assert (waiting in shown) == (not closed and "--csv" not in words)
        assert run(sdk, "tally", tmp_path / "out", *words) == shown.replace(waiting, "")


def test_the_tally_is_written_as_the_api_gives_it(db: Path, store: Store, tmp_path: Path, client: FlaskClient) -> None:
    run(server, "export", "coins", "--parquet", tmp_path / "out", "--db", db)
    run(sdk, "tally", tmp_path / "out", "--group", "North", "-o", tmp_path / "tally.json")
    reply = client.get("/api/v1/surveys/coins/tally?group=North", auth=("ada", "correct horse battery"))
    tally = reply.get_json()
    assert tally.pop("waiting") == 20  # an export has no records that wait, and cannot know how many do
    assert json.loads((tmp_path / "tally.json").read_text()) == tally


def test_an_export_does_not_show_which_records_came_when_or_together(store: Store, tmp_path: Path) -> None:
    assert len(exports(store, tmp_path, ORDERS)) == 1


def test_an_export_in_the_order_of_the_rows_would_be_found_out(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable_server.results.disclosure_control.sorted_records", lambda reports, size: reports)
    assert len(exports(store, tmp_path, ORDERS)) > 1


def exports(store: Store, folder: Path, orders: Sequence[Sequence[Sequence[int]]]) -> set[tuple[bytes, ...]]:
    """All files but the manifest, whose survey is another one, of surveys that got the same records in other orders and submissions."""
    people, found = each(records(60)), set()
    for number, order in enumerate(orders):
        survey = Survey.from_dict({**TOWNS.to_dict(), "id": f"towns-{number}"})
        store.surveys.publish(survey)
        for together in order:
            send(store, b"".join(people[i] for i in together), survey=survey)
        release_people(store)
        export = cli_export.export(store, survey.id, folder / str(number))
        found.add(tuple((export.folder / piece.name).read_bytes() for piece in export.pieces))
    return found


def test_no_id_and_no_record_that_waits_is_in_an_export(store: Store, tmp_path: Path) -> None:
    survey = Survey.from_dict({**TOWNS.to_dict(), "batch": 8, "accept_small_batches": True})
    store.surveys.publish(survey)
    ids = [send(store, records(1), PARTS[0], survey) for _ in range(20)]
    assert release_people(store) == ["towns"]
    folder = cli_export.export(store, "towns", tmp_path / "out").folder
    assert Export.open(folder).sizes == {PARTS[0]: 12}
    stored = (
        b"".join(path.read_bytes() for path in folder.iterdir())
        + repr(pq.read_table(folder / "records-00000.parquet").to_pylist()).encode()
    )
    assert not any(one in stored or one.hex().encode() in stored or base64.urlsafe_b64encode(one)[:-2] in stored for one in ids)


def test_what_cannot_be_exported_is_told_in_one_line(db: Path, store: Store, tmp_path: Path) -> None:
    assert "no survey with this id is published here" in run(server, "export", "none", "--parquet", tmp_path / "out", "--db", db, code=1)
    (tmp_path / "there").mkdir()
    assert "must be a new folder: it exists already" in run(server, "export", "coins", "--parquet", tmp_path / "there", "--db", db, code=1)
    store.life.keep("coins", Settings(least=30_000))
    assert "estimates are shown from 30,000 records on" in run(server, "export", "coins", "--parquet", tmp_path / "out", "--db", db, code=1)
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_counted_is_told_in_one_line(tmp_path: Path) -> None:
    assert "with a manifest.json" in run(sdk, "tally", tmp_path, code=1)
    assert "must not be combined" in run(sdk, "tally", tmp_path, "--workers", "2", "--scheduler", "tcp://x:1", code=2)
