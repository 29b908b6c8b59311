"""The daily release by the scheduled tasks: once when it is due, at most once a UTC day, and whatever the clock does."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.kit.surveys import STUDY, submission

from deniable.survey import Survey
from deniable_server.operate.upkeep import keep_up
from deniable_server.store.errors import UnavailableError
from deniable_server.store.protocol import Store
from deniable_server.store.sql import clock

DAILY = Survey.from_text(STUDY.replace("id: study", "id: daily").replace("batch: 1", "batch: 5"))
FINAL = Survey.from_text(STUDY.replace("id: study", "id: final").replace("batch: 1", "batch: 5\nrelease: close"))
BEGIN = datetime(2026, 12, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)


class Upkeep:
    """The scheduled tasks of a store whose clock a test sets: each look is at the next of some moments."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store, self.now = store, BEGIN
        monkeypatch.setattr(clock, "now", lambda: self.now)
        monkeypatch.setattr(clock, "today", lambda: self.now.date().isoformat())

    def looks(self, moments: Iterable[datetime], survey: str = "daily") -> list[int]:
        """Runs the tasks at these moments, in this order. Returns the number of counted records after each."""
        remaining, counts = iter(moments), list[int]()
        self.now = next(remaining)

        def wait(seconds: float) -> bool:
            assert seconds <= 3601, "a clock that a person sets is read again within the hour"
            counts.append(sum(self.store.submissions.counts(survey).values()))
            later = next(remaining, None)
            self.now = later or self.now
            return later is None

        keep_up(self.store, lambda *_: 200, lambda: self.now, wait)
        return counts

    def arrive(self, n: int, survey: Survey = DAILY) -> None:
        for _ in range(n):
            self.store.submissions.add(survey.id, submission(survey))


@pytest.fixture
def upkeep(store: Store, monkeypatch: pytest.MonkeyPatch) -> Upkeep:
    """The tasks on 1 December, when twelve people have answered each of two surveys."""
    upkeep = Upkeep(store, monkeypatch)
    for survey in (DAILY, FINAL):
        store.surveys.publish(survey)
        upkeep.arrive(12, survey)
    return upkeep


def hours(day: datetime) -> list[datetime]:
    """Returns each hour of a day."""
    return [day.replace(hour=0) + timedelta(hours=hour) for hour in range(24)]


def due(tmp_path: Path) -> datetime | None:
    """Returns when the next release is due."""
    with closing(sqlite3.connect(tmp_path / "deniable.db")) as read:
        ((second,),) = read.execute("SELECT due FROM arrivals WHERE survey = 'daily'").fetchall()
    return None if second is None else datetime.fromtimestamp(second, UTC)


def test_what_is_due_is_released_once_on_the_next_day_and_a_batch_stays_behind(upkeep: Upkeep, tmp_path: Path) -> None:
    assert upkeep.looks(hours(BEGIN)) == [0] * 24
    drawn = due(tmp_path)
    assert drawn is not None
    assert drawn.date() == (BEGIN + DAY).date()
    counts = upkeep.looks([drawn - timedelta(seconds=1), drawn, *hours(BEGIN + DAY)[drawn.hour + 1 :]])
    assert counts[:2] == [0, 7]
    assert set(counts[1:]) == {7}


def test_there_is_one_release_a_day_however_many_people_answer_meanwhile(upkeep: Upkeep, tmp_path: Path) -> None:
    drawn = due(tmp_path)
    assert drawn is not None
    assert upkeep.looks([drawn]) == [7]
    upkeep.arrive(20)
    again = due(tmp_path)
    assert again is not None
    assert again.date() == drawn.date() + DAY
    assert set(upkeep.looks([drawn, again - timedelta(seconds=1)])) == {7}
    assert upkeep.looks([again, again + timedelta(hours=1)]) == [27, 27]


def test_a_server_that_was_off_for_days_performs_one_release_when_it_starts(upkeep: Upkeep) -> None:
    assert upkeep.looks([BEGIN + 5 * DAY, BEGIN + 5 * DAY + timedelta(hours=1)]) == [7, 7]


def test_a_clock_that_goes_back_releases_nothing_again(upkeep: Upkeep, tmp_path: Path) -> None:
    drawn = due(tmp_path)
    assert drawn is not None
    assert upkeep.looks([drawn]) == [7]
    upkeep.now = BEGIN
    upkeep.arrive(20)
    assert set(upkeep.looks([*hours(BEGIN), *hours(BEGIN - DAY)])) == {7}
    assert upkeep.looks([drawn, drawn + timedelta(minutes=1), drawn - timedelta(minutes=1), drawn]) == [7] * 4
    assert upkeep.looks([drawn + 2 * DAY, drawn - DAY, drawn + 2 * DAY]) == [27] * 3


def test_the_control_a_release_at_each_look_is_noticed(upkeep: Upkeep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that forgets when the next release is due."""
    from deniable_server.store.sql import arrivals

    drawn, real = due(tmp_path), arrivals.due
    assert drawn is not None
    monkeypatch.setattr(arrivals, "due", lambda connection, now: {*real(connection, now), "daily"})
    monkeypatch.setattr("deniable_server.store.sql.release._may_release", lambda *_: True)
    assert upkeep.looks([BEGIN]) == [7]
    upkeep.arrive(20)
    assert upkeep.looks([BEGIN, BEGIN]) == [27, 27]


def test_a_survey_that_is_released_at_its_close_has_no_daily_release(upkeep: Upkeep, store: Store) -> None:
    assert set(upkeep.looks([BEGIN + number * DAY for number in range(5)], "final")) == {0}
    store.surveys.set_open("final", False)
    assert sum(store.submissions.counts("final").values()) == 12


def test_a_release_that_fails_is_tried_again_and_happens_once(
    upkeep: Upkeep, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, release, failures = due(tmp_path), store.submissions.release_due, iter([True, True])
    assert drawn is not None

    def fails_twice(now: datetime) -> list[str]:
        if next(failures, False):
            raise UnavailableError("the disk does not answer")
        return release(now)

    monkeypatch.setattr(store.submissions, "release_due", fails_twice)
    assert upkeep.looks([drawn + timedelta(minutes=minute) for minute in range(5)]) == [0, 0, 7, 7, 7]
