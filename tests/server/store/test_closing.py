"""Whoever looks at everything before and after each arrival, and before and after the close, sees a batch of records come, or more.

The attack: all tables, and all that the store tells, of surveys of every size from nobody to four batches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.server.store.conftest import Databases, SqliteFiles

from deniable.survey import Survey
from deniable.wire.access_codes import invitation_hash
from deniable.wire.part import Part
from deniable.wire.submission import Submission
from deniable_server.store import open_store
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store
from deniable_server.store.sql import batches
from deniable_server.store.sql.waiting import PackedRecords, Waiting

Make = Callable[..., Submission]
BATCH = 3
QUESTION = {"id": "q", "text": "?", "type": "yes_no"}
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "open": ({}, {}),
    "in a group": ({"groups": ["North", "South"]}, {"group": "North"}),
    "by hand": ({}, {"mode": "by_hand"}),
    "invited": ({"access": "invited"}, {}),
}


def survey_of(name: str, batch: int = BATCH, **keys: Any) -> Survey:
    source = {"deniable": 1, "id": name, "title": "T", "about": "A.", "epsilon": "ln 3", "batch": batch, "questions": [QUESTION]}
    return Survey.from_dict({**source, **keys})


TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename",
}


@dataclass
class View:
    """What somebody has who takes all of a database and asks for all that it tells. ids: records that are there; codes: those spent."""

    told: str
    ids: dict[bytes, int] = field(default_factory=dict)
    codes: set[bytes] = field(default_factory=set)


def look(store: Store, survey: str, part: Part) -> View:
    """At everything but the bytes of what is sealed, which are others each time; their number is looked at.

    And but for PostgreSQL's note that the tables are to be written anew, which goes half a second after a batch came, whoever looks.
    """
    rows: dict[str, list[Any]] = {}
    with store.database.reading() as connection:
        for (table,) in connection.execute(TABLES["sqlite" if hasattr(store.database, "path") else "postgresql"]).fetchall():
            listed = {"intake": "survey, label, mode, length(sealed)", "deniable": "version, proof"}.get(table, "*")
            rows[table] = sorted(connection.execute(f"SELECT {listed} FROM {table}").fetchall(), key=repr)
        kept = connection.execute("SELECT id, count FROM submissions WHERE survey = ?", [survey]).fetchall()
        spent = connection.execute("SELECT hash FROM invitations WHERE survey = ? AND spent > 0", [survey]).fetchall()
    own = store.submissions
    said = [own.counts(survey), own.tally(survey, [part]).to_bytes(), sorted(own.reports(survey, part))]
    said += [store.invitations.count(survey), store.life.spans(survey), store.surveys.published(survey)]
    return View(repr((rows, said)), {bytes(id_): count for id_, count in kept}, {bytes(hash_) for (hash_,) in spent})


def appears(before: View, after: View) -> tuple[int, int]:
    """How many records and how many spent codes came between two views; nothing else changes unless one of them does."""
    assert set(before.ids) <= set(after.ids)
    assert before.codes <= after.codes
    records = sum(after.ids.values()) - sum(before.ids.values())
    codes = len(after.codes) - len(before.codes)
    assert records or codes or before.told == after.told
    return records, codes


@pytest.fixture
def store(databases: Databases) -> Iterator[Store]:
    store = open_store(databases.new())
    yield store
    store.close()


def attack(store: Store, make: Make, kind: str, total: int) -> list[tuple[int, int]]:
    """`total` people answer, and the survey is closed: how many records and codes appear with each of the last ones, and with the close."""
    keys, own = KINDS[kind]
    survey, part = survey_of(f"s{total}", **keys), Part(own.get("group"), own.get("mode", "device"))
    store.surveys.publish(survey)
    codes = [os.urandom(15) for _ in range(total)] if survey.access == "invited" else [None] * total
    store.invitations.add(survey.id, [invitation_hash(survey.id, code) for code in codes if code])
    seen = []
    for number, code in enumerate(codes):
        if total in (number + 1, 4 * BATCH):  # the way to the smaller surveys is the same
            seen.append(look(store, survey.id, part))
        store.submissions.add(survey.id, make(to=survey, invitation=code, **own))
    seen.append(look(store, survey.id, part))
    store.surveys.set_open(survey.id, False)
    closed = look(store, survey.id, part)
    assert (len(closed.ids), len(closed.codes)) == (total, total if survey.access == "invited" else 0), "nobody is lost"
    last = len(closed.ids) - len(seen[-1].ids), len(closed.codes) - len(seen[-1].codes)
    return [*(appears(before, after) for before, after in pairwise(seen)), last]


def single_out(store: Store, make: Make, kind: str) -> list[tuple[int, tuple[int, int]]]:
    """The sizes of surveys in which fewer than a batch appear though there are as many, with how many records and codes do."""
    found = []
    for total in range(4 * BATCH + 1):
        least = min(total, BATCH)  # of fewer than a batch in all, all appear at the close: there is nobody else to come with
        found += [(total, change) for change in attack(store, make, kind, total) if any(0 < count < least for count in change)]
    return found


def test_whatever_appears_appears_in_a_batch_or_with_all_that_there_are(store: Store, submissions: Make) -> None:
    assert single_out(store, submissions, "invited") == []


@pytest.mark.parametrize("kind", KINDS)
def test_that_holds_for_all_that_can_be_sent(tmp_path: Path, submissions: Make, kind: str) -> None:
    with closing(open_store(SqliteFiles(tmp_path).new())) as store:  # what a batch is does not depend on the database
        assert single_out(store, submissions, kind) == []


def test_a_close_that_counts_a_rest_would_be_found_out(tmp_path: Path, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of_it(survey: Survey, waiting: Waiting) -> Waiting | None:
        if waiting.changes < survey.batch:
            return None
        due = Waiting(waiting.arrived, waiting.withdrawn, waiting.codes)
        waiting.arrived, waiting.withdrawn, waiting.codes = {}, [], set()
        return due

    monkeypatch.setattr(batches, "take", all_of_it)
    with closing(open_store(SqliteFiles(tmp_path).new())) as store:
        found = {(total, change) for total, change in single_out(store, submissions, "invited")}
    assert found == {(total, (total % BATCH,) * 2) for total in range(BATCH, 4 * BATCH) if total % BATCH}


# Submissions of several records, which only a key may send.


def come(store: Store, make: Make, survey: Survey, counts: Sequence[int]) -> list[int]:
    """How many small records appear with each submission, and with the close; those of a whole batch appear at once."""
    store.surveys.publish(survey)
    part, found = Part(mode="organisation"), []
    before = look(store, survey.id, part)
    for count in counts:
        sent = make(count, to=survey, mode="organisation")
        store.submissions.add(survey.id, sent)
        after = look(store, survey.id, part)
        whole = {sent.id: count} if count >= survey.batch else {}
        assert after.ids.items() >= whole.items()
        found.append(sum(after.ids.values()) - sum(before.ids.values()) - sum(whole.values()))
        before = after
    store.surveys.set_open(survey.id, False)
    assert sum(look(store, survey.id, part).ids.values()) == sum(counts)
    return [*found, sum(counts) - sum(before.ids.values())]


ROWS = [  # records of each submission, with a batch of four; how many small ones appear with each, and with the close
    ([1, 100, 1, 1, 100, 1, 1], [0, 0, 0, 0, 0, 0, 0, 5]),  # a job does not take the rest along, which would then be alone
    ([1] * 7 + [50, 1, 1, 1], [0] * 7 + [0, 4, 0, 0, 6]),
    ([3, 3, 3], [0, 0, 0, 9]),  # no two parts of a batch each
    ([3, 3, 3, 3, 3], [0, 0, 0, 6, 0, 9]),
    ([100, 2], [0, 0, 2]),  # fewer than a batch that came in parts of one: all of them, at the close
]


def test_submissions_of_a_batch_are_counted_at_once_and_others_wait_for_their_like(store: Store, submissions: Make) -> None:
    for number, (counts, expected) in enumerate(ROWS):
        assert come(store, submissions, survey_of(f"rows{number}", 4), counts) == expected


@pytest.mark.parametrize("batch", [1, 2, 3, 10, 100])
def test_no_more_wait_than_a_survey_says(batch: int) -> None:
    for access, size in (("open", max(1, batch - 1)), ("open", 1), ("invited", 1)):
        survey, waiting = survey_of("many", batch, access=access), Waiting()
        most = 0
        for number in range(4 * batch // size + 2):
            waiting.arrived[number.to_bytes(16, "big")] = PackedRecords(size, bytes(size))
            batches.take(survey, waiting)
            most = max(most, waiting.changes)
        assert most <= survey.most_waiting
    assert survey_of("many", batch).most_waiting == 3 * (batch - 1)


# Withdrawals, a number at which a survey closes, and files of a version that kept no batch back.


def test_records_appear_in_batches_whatever_is_withdrawn_meanwhile(store: Store, submissions: Make) -> None:
    survey, part = survey_of("back"), Part()
    store.surveys.publish(survey)
    before, came = look(store, "back", part), []
    for number in range(24):
        store.submissions.add("back", submissions(to=survey))
        if number % 3 == 0 and before.ids:
            store.submissions.withdraw("back", min(before.ids))
        after = look(store, "back", part)
        came.append(len(set(after.ids) - set(before.ids)))
        before = after
    assert set(came) == {0, BATCH}


def test_a_survey_that_closes_at_a_number_has_that_number(store: Store, submissions: Make) -> None:
    survey = survey_of("full")
    store.surveys.publish(survey)
    store.life.keep("full", Settings(close_at=3 * BATCH))
    people = 0
    while store.surveys.published("full").is_open:
        store.submissions.add("full", submissions(to=survey))
        people += 1
    assert people == 3 * BATCH == store.submissions.counts("full")[Part()]


def test_how_many_wait_cannot_be_asked_by_choosing_that_number(store: Store, submissions: Make) -> None:
    survey = survey_of("full")
    store.surveys.publish(survey)
    for _ in range(2 * BATCH + 1):
        store.submissions.add("full", submissions(to=survey))
    for number in range(BATCH + 1, 3 * BATCH):
        store.life.keep("full", Settings(close_at=number))
    assert store.surveys.published("full").is_open


def test_what_waited_in_a_smaller_room_waits_in_one_of_today_in_every_part_at_once(
    databases: Databases, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, survey = databases.new(), survey_of("old", groups=["North", "South"])

    def rooms() -> set[int]:
        with store.database.reading() as connection:
            return {size for (size,) in connection.execute("SELECT length(sealed) FROM intake").fetchall()}

    with monkeypatch.context() as older:
        older.setattr(Survey, "most_waiting", BATCH - 1)
        with closing(open_store(url)) as store:
            store.surveys.publish(survey)
            for _ in range(2):
                store.submissions.add("old", submissions(to=survey, group="North"))
            (before,) = rooms()
    with closing(open_store(url)) as store:
        (after,) = rooms()
        assert after > before
        store.surveys.set_open("old", False)
        assert store.submissions.counts("old") == {Part("North"): 2}
