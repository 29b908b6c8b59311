"""A survey opens and closes at a minute: entered in a time zone, stored in UTC, and kept to by every submission."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.servers.release import Days

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.operate.upkeep import seconds_to_closing, upkeep
from deniable_server.store.errors import ClosedError, PausedError
from deniable_server.store.life import Settings, SettingsError, revised
from deniable_server.store.moments import in_utc, in_zone, minute, zones
from deniable_server.store.protocol import Store
from deniable_server.store.sql import clock

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca")
SURVEY = Survey.from_dict(
    {"deniable": 1, "id": "timed", "title": "T", "about": "A.", "questions": [{"id": "q", "text": "?", "type": "yes_no", "epsilon": 2}]}
)
HOUR = timedelta(hours=1)


@given(st.datetimes(datetime(2026, 1, 1), datetime(2040, 1, 1)), st.sampled_from(ZONES))
def test_every_local_time_that_occurs_goes_round_and_no_other_is_taken(local: datetime, zone: str) -> None:
    local = local.replace(second=0, microsecond=0)
    offsets = {time.replace(tzinfo=ZoneInfo(zone)).utcoffset() for time in (local - 3 * HOUR, local, local + 3 * HOUR)}
    moments = {(local - offset).replace(tzinfo=UTC) for offset in offsets if offset is not None}
    occurring = sorted(moment for moment in moments if moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) == local)
    if occurring:
        assert in_utc(local, zone, "first") == minute(occurring[0])
        assert in_utc(local, zone, "last") == minute(occurring[-1])
        assert in_zone(in_utc(local, zone, "last"), zone).replace(tzinfo=None) == local
    else:
        with pytest.raises(ValueError, match=r"^must be a time that occurs"):
            in_utc(local, zone, "first")


@pytest.mark.parametrize("zone", ZONES[1:])
def test_minutes_in_utc_rise_over_a_whole_year_and_all_of_them_come_back(zone: str) -> None:
    hours = [datetime(2027, 1, 1, tzinfo=UTC) + number * HOUR for number in range(366 * 24)]
    for before, after in pairwise(hours):
        local = in_zone(minute(after), zone)
        assert in_utc(local.replace(tzinfo=None), zone, "last" if local.fold else "first") == minute(after) > minute(before)


def test_the_hour_that_clocks_skip_is_refused_and_one_that_occurs_twice_is_open_for_both() -> None:
    with pytest.raises(ValueError, match="clocks go forward"):
        in_utc(datetime(2027, 3, 28, 2, 30), "Europe/Berlin", "first")
    twice = datetime(2027, 10, 31, 2, 30)
    assert (in_utc(twice, "Europe/Berlin", "first"), in_utc(twice, "Europe/Berlin", "last")) == ("2027-10-31T00:30Z", "2027-10-31T01:30Z")
    assert {"UTC", "Europe/Berlin"} < zones()


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"closes_at": "2026-01-01T00:00Z"}, "closes_at must be in the future"),
        ({"opens_at": "2999-01-02T00:00Z", "closes_at": "2999-01-02T00:00Z"}, "closes_at must be after opens_at"),
        ({"closes_at": "2999-01-02T00:00Z", "close_on": "2999-01-02"}, "closes_at must be left out beside close_on"),
        ({"closes_at": "2999-01-02T00:00Z", "delete_on": "2999-01-02"}, "delete_on must be a day after the last day for answers"),
    ],
)
def test_minutes_that_contradict_each_other_are_refused(changes: dict[str, str], rule: str) -> None:
    with pytest.raises(SettingsError, match=rule):
        revised(Settings(), "2026-11-26", changes)


@pytest.mark.parametrize("changes", [{"opens_at": "2999-01-02 00:00"}, {"opens_at": "2999-13-02T00:00Z"}, {"zone": "Mars/Olympus"}])
def test_other_forms_are_refused(changes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"must be a (minute|time zone)"):
        Settings(**changes)  # type: ignore[arg-type]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """`at(minute)` sets the store's clock to a minute of a day."""

    def set_clock(text: str) -> None:
        now = datetime.fromisoformat(f"2026-12-01T{text}:59Z")
        monkeypatch.setattr(clock, "now", lambda: now)

    return set_clock


def test_nothing_is_accepted_before_the_opening_and_from_the_closing_on(
    store: Store, submissions: Callable[..., Submission], at: Callable[[str], None]
) -> None:
    at("08:59")
    store.surveys.publish(SURVEY)
    store.life.keep("timed", Settings(opens_at="2026-12-01T09:00Z", closes_at="2026-12-01T18:00Z", zone="Asia/Kathmandu"))
    early = submissions(to=SURVEY)
    published = store.surveys.published("timed")
    assert published.state == "paused"
    assert published.opens is not None
    assert (published.opens.hour, published.opens.minute) == (14, 45)
    with pytest.raises(PausedError):
        store.submissions.add("timed", early)
    at("09:00")
    assert store.surveys.published("timed").state == "open"
    assert store.submissions.add("timed", early) is True
    at("17:59")
    assert store.submissions.add("timed", submissions(to=SURVEY)) is True
    at("18:00")
    assert store.surveys.published("timed").state == "closed"
    with pytest.raises(ClosedError):
        store.submissions.add("timed", submissions(to=SURVEY))
    assert store.submissions.add("timed", early) is False, "a repetition is still acknowledged"


def test_upkeep_closes_it_for_good_at_its_minute_and_is_woken_for_it(
    store: Store, at: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    at("12:00")
    store.surveys.publish(SURVEY)
    store.life.keep("timed", Settings(closes_at="2026-12-01T18:00Z"))
    assert upkeep(store, "2026-12-01") == []
    assert seconds_to_closing(store, clock.now()) == 6 * 3600 - 59
    at("18:00")
    assert seconds_to_closing(store, clock.now()) == 0
    assert store.surveys.published("timed").is_open
    assert upkeep(store, "2026-12-01") == ["timed is closed: its time is over"]
    assert not store.surveys.published("timed").is_open
    assert seconds_to_closing(store, clock.now()) == float("inf")
    store.surveys.set_open("timed", True)
    assert (store.surveys.published("timed").state, store.life.settings("timed").closes_at) == ("open", None)


def test_a_survey_may_open_again_later_and_a_pause_is_kept(store: Store, days: Days) -> None:
    store.surveys.publish(SURVEY)
    store.life.keep("timed", Settings(opens_at="2026-12-03T00:00Z"))
    store.surveys.pause("timed", True)
    days.set(4)
    assert store.surveys.published("timed").state == "paused"
    store.surveys.pause("timed", False)
    assert store.surveys.published("timed").state == "open"
