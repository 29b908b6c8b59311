"""Nobody sees fewer than a batch of people's records appear, at a release, at the close, or at any other time.

The attack: all tables, and all that the store tells, of surveys of every size from nobody to four batches.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.kit.servers.release import Days
from tests.server.store.conftest import Databases, SqliteFiles

from deniable.survey import Survey
from deniable.wire.access_codes import invitation_hash
from deniable.wire.part import Part
from deniable.wire.submission import Submission
from deniable_server.store import open_store
from deniable_server.store.life import Settings
from deniable_server.store.protocol import ESTIMATED, Store
from deniable_server.store.sql import batches, intake, release
from deniable_server.store.sql.waiting import PackedRecords, Waiting

Make = Callable[..., Submission]
BATCH = 3
QUESTION = {"id": "q", "text": "?", "type": "yes_no"}
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "open": ({}, {}),
    "in a group": ({"groups": ["North", "South"]}, {"group": "North"}),
    "by hand": ({}, {"mode": "by_hand"}),
    "at the close": ({"release": "close"}, {}),
    "invited": ({"access": "invited"}, {}),
    "invited, daily": ({"access": "invited", "release": "daily"}, {}),
}


def survey_of(name: str, batch: int = BATCH, **keys: Any) -> Survey:
    source = {"deniable": 1, "id": name, "title": "T", "about": "A.", "epsilon": "ln 3", "batch": batch, "questions": [QUESTION]}
    return Survey.from_dict({**source, **({"accept_small_batches": True} if batch < 10 else {}), **keys})


TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename",
}
HIDDEN = ("intake", "used_codes", "arrivals")
"""Tables whose rows are looked at by number only. What they show without the key is tested in `test_intake`."""


@dataclass
class View:
    """What an observer has who copies a database and asks for all that it tells.

    Attributes:
        content: All of it but the numbers of waiting records.
        tens: Waiting records as roles see them.
        hidden: The number of rows of the tables in HIDDEN.
        ids: The numbers of counted records, by submission id.
        codes: The hashes of spent codes.
    """

    content: str
    tens: int
    hidden: list[int]
    ids: dict[bytes, int] = field(default_factory=dict)
    codes: set[bytes] = field(default_factory=set)


def look(store: Store, survey: str, part: Part) -> View:
    """Looks at everything but PostgreSQL's note that the tables are to be rewritten, which goes half a second after a batch came."""
    rows: dict[str, list[Any]] = {}
    with store.database.reading() as connection:
        hidden = [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in HIDDEN]
        for (table,) in connection.execute(TABLES["sqlite" if hasattr(store.database, "path") else "postgresql"]).fetchall():
            if table not in (*HIDDEN, "spans"):
                columns = {"deniable": "version, proof"}.get(table, "*")
                rows[table] = sorted(connection.execute(f"SELECT {columns} FROM {table}").fetchall(), key=repr)
        counted = connection.execute("SELECT id, count FROM submissions WHERE survey = ?", [survey]).fetchall()
        spent = connection.execute("SELECT hash FROM invitations WHERE survey = ? AND spent > 0", [survey]).fetchall()
    own = store.submissions
    replies = [own.counts(survey), own.tally(survey, [part]).to_bytes(), sorted(own.reports(survey, part))]
    replies += [store.invitations.count(survey), store.surveys.published(survey)]
    waiting = own.waiting(survey)
    assert sum(waiting.values()) % 10 == 0
    ids, codes = {bytes(id_): count for id_, count in counted}, {bytes(hash_) for (hash_,) in spent}
    estimated = sum(count for each, count in own.counts(survey).items() if each.mode in ESTIMATED)
    assert sum(span.n for span in store.life.spans(survey)) in (0, waiting["device"] + estimated)
    return View(repr((rows, replies)), sum(waiting.values()), hidden, ids, codes)


def appears(before: View, after: View) -> tuple[int, int]:
    """Returns how many records and spent codes came between two views; nothing else changes unless one of them does."""
    assert set(before.ids) <= set(after.ids)
    assert before.codes <= after.codes
    records = sum(after.ids.values()) - sum(before.ids.values())
    codes = len(after.codes) - len(before.codes)
    assert records or codes or before.content == after.content
    return records, codes


@pytest.fixture
def store(databases: Databases) -> Iterator[Store]:
    store = open_store(databases.new())
    yield store
    store.close()


Seen = dict[str, list[tuple[int, int]]]
"""Pairs of numbers, of records and of codes, by step."""


def attack(store: Store, make: Make, days: Days, kind: str, total: int) -> Seen:
    """Returns how many records and codes appear when one of the last people answers, on the next day, at the close, and a day later."""
    keys, own = KINDS[kind]
    survey, part = survey_of(f"s{total}", **keys), Part(own.get("group"), own.get("mode", "device"))
    days.set(1)
    store.surveys.publish(survey)
    codes = [os.urandom(15) for _ in range(total)] if survey.access == "invited" else [None] * total
    store.invitations.add(survey.id, [invitation_hash(survey.id, code) for code in codes if code])
    seen: Seen = defaultdict(list)
    before = look(store, survey.id, part)
    for number, code in enumerate(codes, start=1):
        store.submissions.add(survey.id, make(to=survey, invitation=code, **own))
        if number > total - 2 or total == 4 * BATCH:  # the way to the smaller surveys is the same
            after = look(store, survey.id, part)
            seen["arrival"].append(appears(before, after))
            seen["wrong tens"].append((after.tens - number // 10 * 10, 0))
            before = after
    days.set(2)
    steps: list[tuple[str, Callable[[], object]]] = [
        ("next day", lambda: store.submissions.release_due(days.end(2))),
        ("close", lambda: store.surveys.set_open(survey.id, False)),
        ("a day later", lambda: store.submissions.release_due(days.end(3))),
    ]
    for step, act in steps:
        act()
        after = look(store, survey.id, part)
        seen[step].append((sum(after.ids.values()) - sum(before.ids.values()), len(after.codes) - len(before.codes)))
        before = after
    everything = total if total >= BATCH else 0  # fewer than a batch in all stay sealed
    invited = int(survey.access == "invited")
    seen["missing"] = [(everything - len(before.ids), invited * everything - len(before.codes))]
    seen["left"] = [(before.hidden[0] - (total - everything), before.hidden[1] - invited * (total - everything))]
    store.life.erase(survey.id, "2026-12-31")  # else the next survey's observer sees what waits here
    return seen


LEAST = {"arrival": 10**9, "next day": BATCH, "close": BATCH, "a day later": BATCH}
"""The fewest records or codes that may appear; where none is named, there must be none."""


def single_out(store: Store, make: Make, days: Days, kind: str) -> list[tuple[int, str, tuple[int, int]]]:
    """Returns the sizes of surveys in which fewer than a batch appear at some step, or anything with an arrival."""
    found = []
    for total in range(4 * BATCH + 1):
        for step, changes in attack(store, make, days, kind, total).items():
            found += [(total, step, change) for change in changes if any(count and count < LEAST.get(step, 10**9) for count in change)]
    return found


def test_nothing_appears_before_a_release_and_then_a_batch_or_more(store: Store, submissions: Make, days: Days) -> None:
    assert single_out(store, submissions, days, "invited, daily") == []


@pytest.mark.parametrize("kind", KINDS)
def test_that_holds_for_all_that_can_be_sent(tmp_path: Path, submissions: Make, days: Days, kind: str) -> None:
    with closing(open_store(SqliteFiles(tmp_path).new())) as store:  # what a release is does not depend on the database
        assert single_out(store, submissions, days, kind) == []


def test_a_daily_release_leaves_a_batch_behind_and_the_rest_waits_for_another_day(store: Store, submissions: Make, days: Days) -> None:
    expected = {
        0: (0, 0, 0),
        BATCH - 1: (0, 0, 0),
        BATCH: (0, BATCH, 0),
        2 * BATCH - 1: (0, 2 * BATCH - 1, 0),
        2 * BATCH: (BATCH, 0, BATCH),
        4 * BATCH: (3 * BATCH, 0, BATCH),
    }
    for total, records in expected.items():
        seen = attack(store, submissions, days, "open", total)
        assert tuple(seen[step][0][0] for step in ("next day", "close", "a day later")) == records


def any_number_at_the_close(patch: pytest.MonkeyPatch) -> None:
    def without_a_floor(self: release.Releaser, survey: Survey, *, everything: bool, erased_only: bool = False) -> bool:
        counted = self._count(survey, self.intake.waiting(survey, bulk=False), everything=everything)
        self._spend(survey, everything=everything)
        return counted

    patch.setattr(release.Releaser, "_release_people", without_a_floor)


def all_but_one_daily(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        batches, "beyond_a_batch", lambda waiting, batch: [entry for entry, _ in waiting[1:]] if len(waiting) >= 2 * batch else []
    )


def in_batches_as_they_come(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(intake, "is_bulk", lambda part, count: True)


def codes_marked_one_by_one(patch: pytest.MonkeyPatch) -> None:
    add = intake.Intake.add

    def marking(self: intake.Intake, part_key: Any, submission_id: bytes, records: PackedRecords, code: bytes | None) -> None:
        add(self, part_key, submission_id, records, code)
        self.connection.execute("UPDATE invitations SET spent = 1 WHERE hash = ?", [code])

    patch.setattr(intake.Intake, "add", marking)


BREAKS = {
    any_number_at_the_close: {(total, "close", (total, total)) for total in range(1, BATCH)},
    all_but_one_daily: {(total, "missing", (1, 1)) for total in range(2 * BATCH, 4 * BATCH + 1)},
    in_batches_as_they_come: {(total, "arrival", (BATCH, 0)) for total in range(2 * BATCH, 4 * BATCH + 1)},
    codes_marked_one_by_one: {(total, "arrival", (0, 1)) for total in range(1, 4 * BATCH + 1)},
}


@pytest.mark.parametrize("break_", BREAKS)
def test_a_store_that_shows_fewer_would_be_found_out(
    break_: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, submissions: Make, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_(monkeypatch)
    with closing(open_store(SqliteFiles(tmp_path).new())) as store:
        found = set(single_out(store, submissions, days, "invited, daily"))
    assert found & BREAKS[break_]


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
def test_fewer_than_three_batches_of_bulk_submissions_wait(batch: int) -> None:
    for size in {max(1, batch - 1), 1}:
        waiting, most = Waiting(), 0
        for number in range(4 * batch // size + 2):
            waiting.arrived[number.to_bytes(16, "big")] = PackedRecords(size, bytes(size))
            batches.take(batch, waiting)
            most = max(most, waiting.changes)
        assert most <= 3 * (batch - 1)


# Withdrawals, and a number at which a survey closes.


def test_bulk_records_appear_in_batches_whatever_is_withdrawn_meanwhile(store: Store, submissions: Make) -> None:
    survey, part = survey_of("back"), Part(mode="organisation")
    store.surveys.publish(survey)
    before, came = look(store, "back", part), []
    for number in range(24):
        store.submissions.add("back", submissions(to=survey, mode="organisation"))
        if number % 3 == 0 and before.ids:
            store.submissions.withdraw("back", min(before.ids))
        after = look(store, "back", part)
        came.append(len(set(after.ids) - set(before.ids)))
        before = after
    assert set(came) == {0, BATCH}


def test_people_s_records_appear_in_batches_once_a_day_whatever_is_withdrawn_meanwhile(store: Store, submissions: Make, days: Days) -> None:
    survey, part = survey_of("back"), Part()
    store.surveys.publish(survey)
    before, came = look(store, "back", part), []
    for day in range(1, 25):
        days.set(day)
        sent = submissions(to=survey)
        store.submissions.add("back", sent)
        store.submissions.add("back", submissions(to=survey))
        if day % 4 == 0:
            store.submissions.withdraw("back", sent.id)
        if day % 3 == 0 and before.ids:
            store.submissions.withdraw("back", min(before.ids))
        middle = look(store, "back", part)
        assert set(middle.ids) <= set(before.ids)
        for _ in range(2):
            store.submissions.release_due(days.end(day))
        after = look(store, "back", part)
        came.append(len(set(after.ids) - set(before.ids)))
        before = after
    assert set(came) >= {0, BATCH}
    assert all(number == 0 or number >= BATCH for number in came)
    assert sum(came) + BATCH <= 24 * 2 - 6 < sum(came) + 2 * BATCH


@pytest.mark.parametrize("close_at", [9, 10])
def test_a_survey_that_closes_at_a_number_closes_with_the_next_ten(store: Store, submissions: Make, close_at: int) -> None:
    survey = survey_of("full")
    store.surveys.publish(survey)
    store.life.keep("full", Settings(close_at=close_at))
    people = 0
    while store.surveys.published("full").is_open:
        store.submissions.add("full", submissions(to=survey))
        people += 1
    assert people == 10 == store.submissions.counts("full")[Part()]


def test_a_survey_that_closes_at_a_number_of_bulk_records_has_these_and_the_batch_that_waited(store: Store, submissions: Make) -> None:
    survey = survey_of("full")
    store.surveys.publish(survey)
    store.life.keep("full", Settings(close_at=2 * BATCH))
    sent = 0
    while store.surveys.published("full").is_open:
        store.submissions.add("full", submissions(to=survey, mode="organisation"))
        sent += 1
    assert sent == 3 * BATCH == store.submissions.counts("full")[Part(mode="organisation")]


@pytest.mark.parametrize("mode", ["device", "by_hand", "organisation"])
def test_how_many_wait_cannot_be_asked_by_choosing_that_number(store: Store, submissions: Make, mode: str) -> None:
    survey = survey_of("full")
    store.surveys.publish(survey)
    for _ in range(2 * BATCH + 1):
        store.submissions.add("full", submissions(to=survey, mode=mode))
    for number in range(BATCH + 1 if mode == "organisation" else 1, 4 * BATCH):
        store.life.keep("full", Settings(close_at=number))
    assert store.surveys.published("full").is_open
