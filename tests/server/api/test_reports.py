"""The tally and the perturbed records over the API: what the results are computed from, in no order but the records' own."""

from __future__ import annotations

import base64
import io
import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from flask.testing import FlaskClient
from tests.kit.patience import PATIENCE
from tests.kit.servers.release import release_people

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.estimate import analyse
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.record import pack, unpack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.api import reports as spooling
from deniable_server.results import disclosure_control, external_sort
from deniable_server.store import open_store
from deniable_server.store.protocol import Store

AUTH = ("ada", "correct horse battery")
TOWNS = Survey.from_text("""
deniable: 1
batch: 1
accept_small_batches: true
id: towns
title: Towns
about: Who asks, and why.
epsilon: 6
groups: [North, South]
questions:
  - {id: smokes, text: Smokes?, type: yes_no}
  - {id: party, text: Party?, type: choice, options: [Red, Green, Blue]}
  - {id: used, text: Used?, type: multi_choice, options: [tea, coffee]}
""")
SAMPLED = Survey.from_text("""
deniable: 1
batch: 1
accept_small_batches: true
id: sampled
title: Sampled
about: Who asks, and why.
epsilon: 2
ask: 1
questions:
  - {id: smokes, text: Smokes?, type: yes_no}
  - {id: party, text: Party?, type: choice, options: [Red, Green, Blue]}
""")
PARTS = (Part("North"), Part("North", "organisation"), Part("South"), Part("South", "organisation"))
Get = Callable[..., bytes]


def records(n: int, survey: Survey = TOWNS) -> bytes:
    """What n people of all kinds send."""
    rng = np.random.default_rng()
    bits = [randomize(item.channel, rng.integers(0, item.k, n), os_words) for item in survey.items]
    asked = None if survey.ask is None else np.eye(len(survey.questions), dtype=np.bool_)[rng.integers(0, len(survey.questions), n)]
    return pack(survey, bits, asked)


def send(store: Store, reports: bytes, part: Part = PARTS[0], survey: Survey = TOWNS) -> bytes:
    """One submission of these records; gives its id."""
    count = len(reports) // survey.record.bytes
    one = Submission(os.urandom(16), survey.digest, count, reports, part.group, part.mode)
    store.submissions.add(survey.id, one)
    return one.id


def each(reports: bytes, survey: Survey = TOWNS) -> list[bytes]:
    return [reports[at : at + survey.record.bytes] for at in range(0, len(reports), survey.record.bytes)]


@pytest.fixture
def sent(store: Store) -> dict[Part, bytes]:
    """Two groups, of whom some answered through an organisation: the records of each part, which the store has."""
    store.surveys.publish(TOWNS)
    made = {part: records(n) for part, n in zip(PARTS, (300, 40, 200, 7), strict=True)}
    for part, reports in made.items():
        send(store, reports, part)
    return made


@pytest.fixture
def get(client: FlaskClient) -> Get:
    def ask(what: str, survey: str = "towns", status: int = 200) -> bytes:
        reply = client.get(f"/api/v1/surveys/{survey}/{what}", auth=AUTH)
        assert reply.status_code == status, reply.text
        return reply.data

    return ask


def tally_of(reply: Any, survey: Survey = TOWNS) -> Tally:
    return Tally.from_bytes(reply["n"], survey.record.bits, base64.b64decode(reply["pairs"]))


# The tally.


@pytest.mark.parametrize("query", ["", "?group=North", "?group=South", "?group=South&confidence=0.8"])
def test_the_tally_gives_the_results_and_says_of_which_records(
    sent: dict[Part, bytes], client: FlaskClient, store: Store, query: str
) -> None:
    found = client.get(f"/api/v1/surveys/towns/tally{query}", auth=AUTH).get_json()
    expected = client.get(f"/api/v1/surveys/towns/results{query}", auth=AUTH).get_json()
    own = analyse(TOWNS, tally_of(found), confidence=0.8 if "0.8" in query else 0.95).results.to_dict()
    told = {key: found[key] for key in ("survey", "digest", "n", "group", "by_hand", "n_by_hand", "n_organisation", "waiting")}
    assert {**own, **told} == expected
    assert set(found) == {*told, "pairs"}


def test_a_wrong_part_is_told_by_its_rule_on_both_routes(sent: dict[Part, bytes], client: FlaskClient) -> None:
    for what in ("tally", "reports"):
        reply = client.get(f"/api/v1/surveys/towns/{what}?group=West", auth=AUTH)
        assert (reply.status_code, reply.get_json()["detail"]) == (
            400,
            "group must be one of the groups of survey towns: North, South",
        )
        assert "by_hand must be left out" in client.get(f"/api/v1/surveys/towns/{what}?by_hand=1", auth=AUTH).text


# The records.


def test_the_reports_are_what_the_tally_counts_part_by_part_and_sorted(sent: dict[Part, bytes], get: Get, client: FlaskClient) -> None:
    assert get("reports") == b"".join(b"".join(sorted(each(sent[part]))) for part in PARTS)
    for query in ("", "?group=South"):
        found = get(f"reports{query}")
        n = len(found) // TOWNS.record.bytes
        tally = client.get(f"/api/v1/surveys/towns/tally{query}", auth=AUTH).get_json()
        assert Tally.from_bits(unpack(TOWNS, found, n)).to_bytes() == tally_of(tally).to_bytes()


def downloads(store: Store, get: Get, orders: Sequence[Sequence[Collection[int]]]) -> set[bytes]:
    """What is downloaded of surveys that got the same records, in other orders and other submissions."""
    people, found = each(records(60)), set()
    for number, order in enumerate(orders):
        survey = Survey.from_dict({**TOWNS.to_dict(), "id": f"towns-{number}"})
        store.surveys.publish(survey)
        for together in order:
            send(store, b"".join(people[i] for i in together), survey=survey)
        release_people(store)
        found.add(get("reports", f"towns-{number}"))
    return found


ORDERS = ([[i] for i in range(60)], [[i] for i in reversed(range(60))], [range(30, 60), range(30)], [range(0, 60, 2), range(1, 60, 2)])


def test_the_order_of_the_reports_shows_neither_when_they_came_nor_together_with_which(store: Store, get: Get) -> None:
    assert len(downloads(store, get, ORDERS)) == 1


def test_reports_in_the_order_of_the_rows_would_be_found_out(store: Store, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disclosure_control, "sorted_records", lambda reports, size: reports)
    assert len(downloads(store, get, ORDERS)) > 1


def looks(store: Store, get: Get, orders: Sequence[Sequence[Collection[int]]]) -> set[tuple[bytes, bytes]]:
    """What somebody downloads who looks before and after some of the same records came, in other orders and other submissions."""
    people, found = each(records(60)), set()
    for number, order in enumerate(orders):
        survey = Survey.from_dict({**TOWNS.to_dict(), "id": f"towns-{number}"})
        store.surveys.publish(survey)
        send(store, b"".join(people[:30]), survey=survey)
        release_people(store)
        before = get("reports", f"towns-{number}")
        for together in order:
            send(store, b"".join(people[30 + i] for i in together), survey=survey)
        release_people(store)
        found.add((before, get("reports", f"towns-{number}")))
    return found


HALVES = ([[i] for i in range(30)], [[i] for i in reversed(range(30))], [range(15, 30), range(15)], [range(30)])


def test_two_looks_show_which_records_are_new_and_nothing_of_their_order(store: Store, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_sort, "AT_ONCE_BYTES", 4)
    ((before, after),) = looks(store, get, HALVES)
    assert (len(each(before)), len(each(after)), after) == (30, 60, b"".join(sorted(each(after))))


def test_runs_that_are_not_merged_would_be_found_out_by_two_looks(store: Store, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        disclosure_control, "sorted_records", lambda reports, size: (b"".join(sorted(run)) for run in _runs(b"".join(reports), size))
    )
    assert len(looks(store, get, HALVES)) > 1


def _runs(packed: bytes, size: int) -> Iterator[list[bytes]]:
    """Yields ten records at a time."""
    return (each(packed[first : first + 10 * size]) for first in range(0, len(packed), 10 * size))


def test_no_id_of_a_submission_is_in_any_form(store: Store, get: Get) -> None:
    store.surveys.publish(TOWNS)
    ids = [send(store, records(1)) for _ in range(20)]
    release_people(store)
    for form in spooling.FORMS:
        found = get(f"reports?form={form}")
        assert len(found) >= 20 * TOWNS.record.bytes
        assert not any(one in found for one in ids)


@pytest.mark.parametrize("form", ["arrow", "parquet"])
@pytest.mark.parametrize("rows", [1 << 16, 7])
def test_a_table_has_a_row_a_record_with_all_bits_by_option(
    sent: dict[Part, bytes], get: Get, form: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spooling, "_ROWS", rows)
    table = read(get(f"reports?form={form}"), form)
    packed = get("reports")
    bits = unpack(TOWNS, packed, len(packed) // TOWNS.record.bytes)
    columns = ["smokes=yes", "smokes=no", "party=Red", "party=Green", "party=Blue"]
    columns += ["used[tea]=yes", "used[tea]=no", "used[coffee]=yes", "used[coffee]=no"]
    assert table.column_names == ["group", "mode", *columns]
    sizes = {part: len(each(sent[part])) for part in PARTS}
    assert table["group"].to_pylist() == [part.group for part, n in sizes.items() for _ in range(n)]
    assert table["mode"].to_pylist() == [part.mode for part, n in sizes.items() for _ in range(n)]
    for name, stored in zip(("smokes=yes", "party=Red", "party=Green", "used[tea]=yes", "used[coffee]=yes"), bits.T, strict=True):
        assert table[name].to_pylist() == stored.tolist(), name
    assert {sum(row[2:5]) for row in zip(*(table[name].to_pylist() for name in columns), strict=True)} == {TOWNS.questions[1].d}
    assert all(yes != no for yes, no in zip(table["smokes=yes"].to_pylist(), table["smokes=no"].to_pylist(), strict=True))
    assert table.schema.metadata[b"digest"].decode() == TOWNS.digest


def read(raw: bytes, form: str) -> pa.Table:
    return pa.ipc.open_stream(raw).read_all() if form == "arrow" else pq.read_table(io.BytesIO(raw))


def test_what_somebody_was_not_asked_is_null_in_a_table(store: Store, get: Get) -> None:
    store.surveys.publish(SAMPLED)
    send(store, records(50, SAMPLED), Part(), SAMPLED)
    table = read(get("reports?form=arrow", "sampled"), "arrow")
    asked = [value is not None for value in table["smokes=yes"].to_pylist()]
    assert [value is None for value in table["party=Red"].to_pylist()] == asked
    assert 0 < sum(asked) < 50
    assert "group" not in table.column_names


def test_a_survey_without_records_has_an_empty_file_of_each_form(store: Store, get: Get) -> None:
    store.surveys.publish(TOWNS)
    assert get("reports") == b""
    assert [read(get(f"reports?form={form}"), form).num_rows for form in ("arrow", "parquet")] == [0, 0]


def test_another_form_is_refused_and_says_which_there_are(sent: dict[Part, bytes], get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    assert b"form must be packed, arrow, parquet, or left out" in get("reports?form=csv", status=400)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert b"form=arrow on the server needs the extra tables: pip install" in get("reports?form=arrow", status=501)


def test_records_that_do_not_fit_in_memory_are_sorted_all_the_same(
    sent: dict[Part, bytes], get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = get("reports")
    monkeypatch.setattr(external_sort, "AT_ONCE_BYTES", 16)
    assert get("reports") == whole


# A running server: the file is on its way as fast as somebody takes it, and holds nothing.


@pytest.mark.slow
def test_somebody_who_stops_reading_holds_neither_the_database_nor_memory_and_leaves_no_file(
    make_server: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    server = make_server()
    fill(server.db)
    server.start()
    httpx.get(f"{server.url}/api/v1/surveys/wide/tally", auth=("nobody", "a wrong password"), timeout=PATIENCE)
    before, size = resident(server.process.pid), 800_000 * WIDE.record.bytes
    with httpx.Client(base_url=server.url, timeout=300) as reader, reader.stream("GET", PATH, auth=AUTH) as reply:
        assert int(reply.headers["Content-Length"]) == size
        assert len(next(reply.iter_bytes(1 << 16))) == 1 << 16
        one = Submission(os.urandom(16), WIDE.digest, 1, os.urandom(WIDE.record.bytes))
        posted = httpx.post(f"{server.url}/api/v1/surveys/wide/submissions", content=one.to_json(), headers=JSON, timeout=60)
        assert posted.status_code == 200
        log = server.db.with_name(server.db.name + "-wal")
        while log.stat().st_size:  # it is emptied while somebody is still reading
            time.sleep(0.05)
        assert resident(server.process.pid) - before < 0.8 * size, "no more than some of it was ever in memory"
    server.stop()
    assert [file for file in tmp_path.iterdir() if "deniable-reports" in file.name] == []
    assert "Traceback" not in server.log.read_text()


@pytest.mark.slow
def test_what_a_running_server_sends_is_all_of_it(make_server: Callable[[], Any]) -> None:
    server = make_server()
    fill(server.db, submissions=1)
    server.start()
    found = each(httpx.get(f"{server.url}{PATH}", auth=AUTH, timeout=300).content, WIDE)
    assert len(found) == 100_000
    assert found == sorted(found)
    table = read(httpx.get(f"{server.url}{PATH}?form=arrow", auth=AUTH, timeout=300).content, "arrow")
    assert table.num_rows == 100_000


PATH = "/api/v1/surveys/wide/reports"
JSON = {"Content-Type": "application/json"}
QUESTIONS = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(1000)]
WIDE = Survey.from_dict(
    {
        "deniable": 1,
        "batch": 1,
        "accept_small_batches": True,
        "id": "wide",
        "title": "T",
        "about": "A.",
        "epsilon": 8,
        "questions": QUESTIONS,
    }
)


def fill(db: Path, submissions: int = 8) -> None:
    """Of yes/no questions all bits are possible."""
    store = open_store(db)
    store.surveys.publish(WIDE)
    for _ in range(submissions):
        send(store, os.urandom(100_000 * WIDE.record.bytes), Part(mode="organisation"), WIDE)
    store.close()


def resident(process: int) -> int:
    """Bytes of memory at most so far."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmHWM")]
    return int(line.split()[1]) << 10
