"""Releases: when records of people are counted, by which of several processes, and what a failed release costs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.kit.servers.later import adding
from tests.kit.servers.release import Days
from tests.kit.servers.tallies import count_of, recount_of
from tests.server.store.test_closing import survey_of

from deniable.survey import Survey
from deniable.wire.access_codes import invitation_hash
from deniable.wire.part import Part
from deniable.wire.submission import Submission
from deniable_server.store import open_store
from deniable_server.store.errors import ClosedError, StoreError, UnavailableError
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store
from deniable_server.store.sql import arrivals, intake, release
from deniable_server.store.sql.encryption import Seal

Make = Callable[..., Submission]
BATCH = 10


@pytest.fixture
def send(store: Store, submissions: Make) -> Callable[..., list[Submission]]:
    """Publishes a survey at its first call; adds records of people to it, one by one."""

    def add(survey: Survey, people: int, **fields: Any) -> list[Submission]:
        store.surveys.publish(survey)
        sent = [submissions(to=survey, **fields) for _ in range(people)]
        for one in sent:
            assert store.submissions.add(survey.id, one)
        return sent

    return add


Send = Callable[..., list[Submission]]


def due_of(store: Any, survey_id: str) -> datetime | None:
    with store.database.reading() as connection:
        due = arrivals.of(connection, survey_id).due
    return None if due is None else datetime.fromtimestamp(due, UTC)


# When.


def test_nothing_is_released_before_its_time_and_everything_beyond_a_batch_then(store: Store, send: Send, days: Days) -> None:
    send(survey_of("daily", BATCH), 25)
    due = due_of(store, "daily")
    assert due is not None
    assert days.end(1) < due <= days.end(2)
    assert store.submissions.release_due(due - timedelta(seconds=1)) == []
    assert count_of(store, "daily") == 0
    assert store.submissions.release_due(due) == ["daily"]
    assert (count_of(store, "daily"), store.submissions.waiting("daily")) == (15, {"device": 10, "by_hand": 0})
    assert store.submissions.release_due(days.end(2)) == []
    days.set(2)
    send(survey_of("daily", BATCH), 30)
    assert store.submissions.release_due(days.end(2)) == []
    assert count_of(store, "daily") == 15
    assert store.submissions.release_due(days.end(3)) == ["daily"]
    assert count_of(store, "daily") == recount_of(store, "daily").n == 45


def test_a_survey_with_release_close_releases_nothing_before(store: Store, send: Send, days: Days) -> None:
    send(survey_of("once", BATCH, release="close"), 40)
    assert due_of(store, "once") is None
    for day in range(1, 6):
        assert store.submissions.release_due(days.end(day)) == []
    assert count_of(store, "once") == 0
    store.surveys.set_open("once", False)
    assert count_of(store, "once") == recount_of(store, "once").n == 40


def test_the_second_of_a_release_is_drawn_for_each_survey_and_day(store: Store, send: Send, days: Days) -> None:
    drawn = []
    for number in range(40):
        send(survey_of(f"s{number}", BATCH), 1)
        due = due_of(store, f"s{number}")
        assert due is not None
        drawn.append((due - days.end(1)).total_seconds())
    assert all(0 < second <= 86_400 for second in drawn)
    assert len(set(drawn)) >= 35
    assert min(drawn) < 86_400 / 4  # a chance of 1 in 100,000 to fail, and so the next
    assert max(drawn) > 3 * 86_400 / 4


@pytest.mark.parametrize("order", ["close", "release, then close", "close, open and release", "twice"])
def test_there_is_one_release_a_day_whatever_is_closed_and_opened(store: Store, send: Send, days: Days, order: str) -> None:
    """Otherwise a researcher who closes the survey between two releases would see fewer people's records come than its batch."""
    survey, seen = survey_of("daily", BATCH), [0]
    send(survey, 20)
    days.set(2)
    steps: dict[str, list[Callable[[], object]]] = {
        "close": [lambda: store.surveys.set_open("daily", False)],
        "release, then close": [lambda: store.submissions.release_due(days.end(2)), lambda: store.surveys.set_open("daily", False)],
        "close, open and release": [
            lambda: store.surveys.set_open("daily", False),
            lambda: store.surveys.set_open("daily", True),
            lambda: send(survey, 25),
            lambda: store.submissions.release_due(days.end(2)),
            lambda: store.surveys.set_open("daily", False),
        ],
        "twice": [lambda: store.submissions.release_due(days.end(2)), lambda: send(survey, 25)] * 2,
    }
    for step in steps[order]:
        step()
        seen.append(count_of(store, "daily"))
    assert len(set(seen)) == 2, "the count has changed once"
    days.set(3)
    store.surveys.set_open("daily", False)
    assert store.submissions.release_due(days.end(3)) == []
    waited = 45 if "open" in order else 70 if order == "twice" else 20
    assert count_of(store, "daily") == recount_of(store, "daily").n == waited


def test_two_releases_a_day_would_be_noticed(store: Store, send: Send, days: Days, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "_may_release", lambda *_: True)
    with pytest.raises(AssertionError, match="once"):
        test_there_is_one_release_a_day_whatever_is_closed_and_opened(store, send, days, "close, open and release")


def test_a_closed_survey_that_had_a_release_on_the_day_releases_the_rest_when_it_is_due(store: Store, send: Send, days: Days) -> None:
    send(survey_of("daily", BATCH), 25)
    days.set(2)
    assert store.submissions.release_due(days.end(2)) == ["daily"]
    store.surveys.set_open("daily", False)
    assert (count_of(store, "daily"), store.submissions.waiting("daily")["device"]) == (15, 10)
    due = due_of(store, "daily")
    assert due is not None
    assert days.end(2) < due <= days.end(3)
    assert store.submissions.release_due(due) == ["daily"]
    assert (count_of(store, "daily"), due_of(store, "daily")) == (25, None)


@pytest.mark.parametrize("rule", ["close", "daily"])
def test_fewer_than_a_batch_stay_sealed_at_the_close_and_are_released_with_others(store: Store, send: Send, days: Days, rule: str) -> None:
    survey = survey_of("few", BATCH, release=rule, groups=["North", "South"])
    send(survey, 5, group="North")
    send(survey, 4, group="South", mode="by_hand")
    for day in (1, 2, 3):
        days.set(day)
        store.surveys.set_open("few", False)
        store.submissions.release_due(days.end(day))
        assert store.submissions.counts("few") == {}
    store.surveys.set_open("few", True)
    assert count_of(store, "few") == 0
    send(survey, 1, group="South")
    store.surveys.set_open("few", False)
    assert store.submissions.counts("few") == {Part("North"): 5, Part("South", "by_hand"): 4, Part("South"): 1}


def test_a_survey_with_release_close_is_opened_again_only_if_nothing_was_released(store: Store, send: Send, submissions: Make) -> None:
    survey = survey_of("once", BATCH, release="close")
    sent = send(survey, 9)
    store.submissions.add("once", submissions(30, to=survey))
    store.surveys.set_open("once", False)
    assert count_of(store, "once") == 30  # a bulk submission says nothing about a person
    store.surveys.set_open("once", True)
    send(survey, 1)
    store.surveys.set_open("once", False)
    assert count_of(store, "once") == 40
    for _ in range(2):
        with pytest.raises(ClosedError, match=r"its records are shown since .*, once and all together"):
            store.surveys.set_open("once", True)
        assert not store.surveys.published("once").is_open
        store.submissions.withdraw("once", sent.pop().id)
        store.surveys.set_open("once", False)
    assert count_of(store, "once") == recount_of(store, "once").n == 38


def test_a_survey_that_has_its_number_of_records_releases_them_once_and_for_good(store: Store, send: Send) -> None:
    survey = survey_of("full", BATCH, access="invited", release="close")
    store.surveys.publish(survey)
    store.life.keep("full", Settings(close_at=20))
    codes = [bytes([number]) * 15 for number in range(20)]
    store.invitations.add("full", [invitation_hash("full", code) for code in codes])
    for number, code in enumerate(codes):
        assert (store.surveys.published("full").is_open, count_of(store, "full")) == (True, 0), number
        send(survey, 1, invitation=code)
    assert not store.surveys.published("full").is_open
    assert (count_of(store, "full"), store.invitations.count("full")) == (20, (20, 20))
    with pytest.raises(ClosedError):
        store.surveys.set_open("full", True)


def test_how_many_wait_is_known_in_steps_of_ten_by_mode(store: Store, send: Send, submissions: Make) -> None:
    survey = survey_of("steps", BATCH)
    store.surveys.publish(survey)
    for number in range(1, 22):
        send(survey, 1)
        send(survey, 1, mode="by_hand")
        store.submissions.add("steps", submissions(2, to=survey))  # a bulk submission is no person's
        assert store.submissions.waiting("steps") == {"device": number // 10 * 10, "by_hand": number // 10 * 10}


# By which process.


@pytest.fixture
def two(url: str, store: Store) -> Iterator[tuple[Store, Store]]:
    with closing(open_store(url)) as other:
        yield store, other


def test_only_one_of_two_processes_performs_a_release_and_nothing_is_lost_or_counted_twice(
    two: tuple[Store, Store], submissions: Make, days: Days
) -> None:
    survey = survey_of("daily", BATCH)
    two[0].surveys.publish(survey)
    sent, done = [submissions(to=survey) for _ in range(120)], list[list[str]]()
    for day in range(1, 5):
        days.set(day)
        own = sent[30 * (day - 1) : 30 * day]
        with ThreadPoolExecutor(6) as pool:
            assert all(pool.map(lambda n, own=own: two[n % 2].submissions.add("daily", own[n]), range(30)))  # type: ignore[misc]
            repeated = pool.submit(lambda own=own: [two[1].submissions.add("daily", one) for one in own])  # type: ignore[misc]
            now = days.end(day + 1)
            released = list(pool.map(lambda n, now=now: two[n % 2].submissions.release_due(now), range(6)))  # type: ignore[misc]
            done.append([survey_id for each in released for survey_id in each])
            assert repeated.result() == [False] * 30
    assert done == [["daily"]] * 4
    for one in two:
        assert count_of(one, "daily") == recount_of(one, "daily").n == 110
    days.set(9)
    two[1].surveys.set_open("daily", False)
    with two[0].database.reading() as connection:  # type: ignore[attr-defined]
        ids = [bytes(id_) for (id_,) in connection.execute("SELECT id FROM submissions").fetchall()]
    assert sorted(ids) == sorted(one.id for one in sent)
    assert count_of(two[0], "daily") == recount_of(two[1], "daily").n == 120


def test_a_code_admits_one_record_in_all_processes_together(two: tuple[Store, Store], submissions: Make) -> None:
    survey = survey_of("staff", BATCH, access="invited")
    two[0].surveys.publish(survey)
    codes = [bytes([number]) * 15 for number in range(12)]
    two[0].invitations.add("staff", [invitation_hash("staff", code) for code in codes])

    def answer(number: int) -> bool:
        try:
            return two[number % 2].submissions.add("staff", submissions(to=survey, invitation=codes[number // 4]))
        except StoreError:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(answer, range(48))) == 12
    two[1].surveys.set_open("staff", False)
    assert (count_of(two[0], "staff"), two[0].invitations.count("staff")) == (12, (12, 12))


# What a failed release costs.


def damage(store: Any, survey_id: str) -> None:
    """Makes one waiting record of a survey unreadable."""
    damaged = bytes(60)
    with closing(store.database.connect()) as connection:
        connection.execute("UPDATE intake SET sealed = ? WHERE survey = ?", [damaged, survey_id])


def test_a_release_that_fails_costs_no_acknowledged_record(store: Any, send: Send, submissions: Make, days: Days) -> None:
    good, bad = survey_of("a", BATCH), survey_of("b", BATCH)
    send(good, 20)
    send(bad, 20)
    damage(store, "b")
    begun, hold = threading.Event(), threading.Event()
    store.database.writer.begin(lambda connection: begun.set() or hold.wait(60))
    assert begun.wait(60)
    first = adding(store, "a", submissions(to=good))
    released = store.database.writer.begin(lambda connection: store.database.releases.release_due(days.end(2)))
    last = adding(store, "a", submissions(to=good))
    hold.set()
    assert isinstance(released.exception(60), UnavailableError)
    stored = sum(one.exception(60) is None for one in (first, last))
    store.surveys.set_open("a", False)
    assert count_of(store, "a") == recount_of(store, "a").n == 20 + stored
    assert sum(span.n for span in store.life.spans("a")) == 20 + stored


# Tags.


def test_tags_of_the_same_id_and_code_are_others_with_each_key_survey_and_purpose() -> None:
    one, other = Seal("a" * 40), Seal("b" * 40)
    id_, code = bytes(range(16)), bytes(range(32))
    tags = {intake.tag(one, id_), intake.tag(other, id_), intake.tag(one, bytes(16))}
    tags |= {intake.code_tag(seal, survey, content) for seal in (one, other) for survey in ("s", "t") for content in (code, id_)}
    assert len(tags) == 3 + 8
    assert {len(tag) for tag in tags} == {16}
    assert intake.tag(one, id_) == intake.tag(Seal("a" * 40), id_)


def test_the_same_record_has_another_tag_on_another_server(tmp_path: Path, submissions: Make) -> None:
    survey, tags = survey_of("daily", BATCH), []
    submission = submissions(to=survey)
    for name in ("one.db", "other.db"):
        with closing(open_store(tmp_path / name)) as store:
            store.surveys.publish(survey)
            store.submissions.add("daily", submission)
            with store.database.reading() as connection:  # type: ignore[attr-defined]
                tags += [bytes(tag) for (tag,) in connection.execute("SELECT tag FROM intake").fetchall()]
    assert len(set(tags)) == 2
