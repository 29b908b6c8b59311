"""How a survey's count grew, and how a survey ends: told by whole batches only, and never of fewer than three people."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.kit.servers.release import Days, release_people
from tests.kit.servers.tallies import tally_of
from tests.server.store.conftest import Databases

from deniable.survey import Survey
from deniable.wire.access_codes import invitation_hash
from deniable.wire.part import Part
from deniable.wire.submission import Submission
from deniable_server.store import open_store
from deniable_server.store.errors import ClosedError, PausedError, UnknownSurveyError
from deniable_server.store.life import LEAST, Settings, Span
from deniable_server.store.protocol import Store, estimated
from deniable_server.store.sql import clock, intake, release, spans

Make = Callable[..., Submission]


def survey_of(batch: int = 10, name: str = "life", **keys: object) -> Survey:
    question = {"id": "q", "text": "?", "type": "yes_no", "epsilon": 2}
    source = {"deniable": 1, "id": name, "title": "T", "about": "A.", "batch": batch, "questions": [question], **keys}
    return Survey.from_dict(source | ({"accept_small_batches": True} if batch < 10 else {}))


@contextmanager
def opened(databases: Databases, survey: Survey) -> Iterator[Store]:
    url = databases.new()
    store = open_store(url)
    store.surveys.publish(survey)
    try:
        yield store
    finally:
        store.close()
        databases.discard(url)


def counted(store: Store, survey: Survey) -> int:
    return store.submissions.tally(survey.id, estimated(survey)).n


def reported(store: Store, survey: Survey) -> int:
    """Returns the number of records that everybody with a role may know: counted ones, and waiting ones in steps of ten."""
    return counted(store, survey) + store.submissions.waiting(survey.id)["device"]


# What the spans tell.


def test_a_span_is_a_day_on_which_batches_were_counted(store: Store, submissions: Make, days: Days) -> None:
    survey = survey_of(4)
    store.surveys.publish(survey)
    for day, people in ((1, 7), (2, 1), (2, 4), (5, 4)):
        days.set(day)
        for _ in range(people):
            store.submissions.add("life", submissions(to=survey, mode="organisation"))
    assert store.life.spans("life") == [Span("2026-12-02", "2026-12-02", 8), Span("2026-12-05", "2026-12-05", 4)]
    assert store.life.last_counted() == {"life": "2026-12-05"}
    with pytest.raises(UnknownSurveyError):
        store.life.spans("nothing")


def test_records_of_people_are_in_a_span_by_tens_before_their_release_and_by_number_after_it(
    store: Store, submissions: Make, days: Days
) -> None:
    survey = survey_of(10)
    store.surveys.publish(survey)
    for day, people in ((1, 9), (2, 1), (3, 9), (4, 1), (5, 7)):
        days.set(day)
        for _ in range(people):
            store.submissions.add("life", submissions(to=survey))
    before = [Span("2026-12-02", "2026-12-02", 10), Span("2026-12-04", "2026-12-04", 10)]
    assert store.life.spans("life") == before
    days.set(6)
    assert store.submissions.release_due(days.end(6)) == ["life"]
    assert (counted(store, survey), reported(store, survey)) == (17, 27)
    assert store.life.spans("life") == [*before, Span("2026-12-06", "2026-12-06", 7)]
    days.set(7)
    store.surveys.set_open("life", False)
    assert (counted(store, survey), store.life.spans("life")) == (27, [*before, Span("2026-12-06", "2026-12-06", 7)])


def test_records_made_by_hand_are_in_no_span_and_those_of_an_organisation_are(store: Store, submissions: Make, days: Days) -> None:
    survey = survey_of(1, epsilon="ln 3", questions=COINS)
    store.surveys.publish(survey)
    for mode, n in (("by_hand", 5), ("organisation", 6), *[("by_hand", 1)] * 20):
        store.submissions.add("life", submissions(n, to=survey, mode=mode))
    assert [span.n for span in store.life.spans("life")] == [6]
    assert release_people(store) == ["life"]
    assert [span.n for span in store.life.spans("life")] == [6]


COINS = [{"id": "q", "text": "?", "type": "yes_no"}]


def histories(store: Store, submissions: Make, days: Days, seed: int) -> None:
    """Records come one by one and in bulk, some are withdrawn, some released, and the survey closes; each step keeps the spans' promise."""
    chance = random.Random(seed)
    survey = survey_of(chance.choice((1, 2, 3)), **({"groups": ["a", "b"]} if chance.random() < 0.5 else {}))
    store.surveys.publish(survey)
    sent: list[Submission] = []
    seen_n, seen = 0, store.life.spans("life")
    day = 1
    for _ in range(40):
        what = chance.random()
        if what < 0.7:
            group = chance.choice(survey.groups) if survey.groups else None
            mode = chance.choice(("device", "device", "device", "organisation"))
            sent.append(submissions(chance.choice((1, 1, 1, 1, 4)), to=survey, group=group, mode=mode))
            store.submissions.add("life", sent[-1])
        elif what < 0.85 and sent:
            store.submissions.withdraw("life", sent.pop(chance.randrange(len(sent))).id)
        else:
            day += 1
            days.set(day)
            if chance.random() < 0.5:
                store.submissions.release_due(days.end(day))
        check(store, survey)
        if reported(store, survey) == seen_n:
            assert store.life.spans("life") == seen, "they change with the count only"
        seen_n, seen = reported(store, survey), store.life.spans("life")
    store.surveys.set_open("life", False)
    check(store, survey)


def check(store: Store, survey: Survey) -> None:
    found, n = store.life.spans(survey.id), reported(store, survey)
    assert all(span.n >= LEAST == 3 for span in found), "no span shows what fewer than three people did"
    assert sum(span.n for span in found) == (n if found else 0), "nor by taking the sum from the count"
    assert bool(found) == (n >= LEAST)
    assert all(span.since <= span.until for span in found)
    assert all(one.until <= two.since for one, two in pairwise(found))


@pytest.mark.parametrize("seed", range(12))
def test_no_span_tells_of_fewer_than_three_not_even_by_subtraction(databases: Databases, submissions: Make, days: Days, seed: int) -> None:
    url = databases.new()
    store = open_store(url)
    histories(store, submissions, days, seed)
    store.close()


@pytest.mark.parametrize("broken", ["each day by itself", "what is left is left out"])
def test_spans_of_one_or_two_people_would_be_noticed(
    databases: Databases, submissions: Make, days: Days, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def always(connection: object, survey_id: str, change: int, day: str) -> None:
        if broken == "each day by itself" or change >= LEAST:
            insert = "INSERT INTO spans VALUES (?, ?, ?, ?) ON CONFLICT (survey, since) DO UPDATE SET n = spans.n + excluded.n"
            connection.execute(insert, [survey_id, day, day, change])  # type: ignore[attr-defined]

    monkeypatch.setattr(spans, "note", always)
    noticed = 0
    for seed in range(6):
        store = open_store(databases.new())
        try:
            histories(store, submissions, days, seed)
        except AssertionError:
            noticed += 1
        store.close()
    assert noticed == 6


# What they do not show: on which day of the wait one person answered, and that one record was withdrawn.


def spans_of(
    databases: Databases, submissions: Make, days: Days, arrivals: list[int], withdrawn: bool | None = None, mode: str = "device"
) -> list[Span]:
    """Records come on these days; a release is due at the end of each day; one is withdrawn: a counted one (True), or a waiting one."""
    survey = survey_of(10)
    with opened(databases, survey) as store:
        sent = []
        for day in range(1, max(arrivals) + 1):
            days.set(day)
            for _ in range(arrivals.count(day)):
                sent.append(submissions(to=survey, mode=mode))
                store.submissions.add("life", sent[-1])
            if day < max(arrivals):
                store.submissions.release_due(days.end(day))
        if withdrawn is not None:
            with store.database.reading() as connection:
                there = {bytes(id_) for (id_,) in connection.execute("SELECT id FROM submissions").fetchall()}
            store.submissions.withdraw("life", next(one.id for one in sent if (one.id in there) is withdrawn))
        return store.life.spans("life")


OTHERS = [1, 1, 1, 2, 2, 3, 3, 4] * 2 + [2, 3]


def test_it_does_not_show_on_which_day_one_person_answered(databases: Databases, submissions: Make, days: Days) -> None:
    found = {tuple(spans_of(databases, submissions, days, [*sorted([*OTHERS, own]), 5])) for own in (1, 2, 3, 4)}
    assert found == {(Span("2026-12-02", "2026-12-02", 10), Span("2026-12-05", "2026-12-05", 10))}
    bulk = {tuple(spans_of(databases, submissions, days, [*sorted([*OTHERS, own]), 5], mode="organisation")) for own in (1, 2, 3, 4)}
    assert bulk == {(Span("2026-12-05", "2026-12-05", 10),)}


def test_days_on_which_records_came_would_show_it(
    databases: Databases, submissions: Make, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = intake.Intake.add

    def noted(self: intake.Intake, place: intake.PartKey, *given: object) -> None:
        add(self, place, *given)  # type: ignore[arg-type]
        day = int(clock.today()[-2:])
        arrived[day] = arrived.get(day, 0) + 1

    monkeypatch.setattr(intake.Intake, "add", noted)
    found = []
    for own in (1, 2, 3, 4):
        arrived: dict[int, int] = {}
        spans_of(databases, submissions, days, [*sorted([*OTHERS, own]), 5])
        found.append(arrived)
    assert len({tuple(one.items()) for one in found}) == 4


def test_a_record_that_is_withdrawn_changes_no_span_before_a_batch_of_changes_has_come(
    databases: Databases, submissions: Make, days: Days
) -> None:
    first = Span("2026-12-01", "2026-12-01", 10)
    for withdrawn in (None, True, False):
        assert spans_of(databases, submissions, days, [1] * 20 + [2] * 5, withdrawn, "organisation") == [first]


def test_a_record_of_a_person_that_is_withdrawn_changes_no_span_before_the_next_release(
    databases: Databases, submissions: Make, days: Days
) -> None:
    expected = [Span("2026-12-01", "2026-12-01", 20), Span("2026-12-02", "2026-12-02", 7)]
    for withdrawn in (None, True, False):
        assert spans_of(databases, submissions, days, [1] * 27 + [3] * 5, withdrawn) == expected


def test_what_comes_after_a_restart_is_noted_by_its_own_day(url: str, databases: Databases, submissions: Make, days: Days) -> None:
    survey = survey_of(3)
    for day in (1, 2, 2):
        days.set(day)
        store = open_store(url)
        store.surveys.publish(survey)
        for _ in range(2):
            store.submissions.add("life", submissions(to=survey, mode="organisation"))
        store.close()
    assert [span.since for span in reopened(url)] == ["2026-12-02"]


def reopened(url: str) -> list[Span]:
    store = open_store(url)
    found = store.life.spans("life")
    store.close()
    return found


# A pause.


def test_a_paused_survey_takes_nothing_keeps_what_waits_and_goes_on(store: Store, submissions: Make) -> None:
    survey = survey_of(10)
    store.surveys.publish(survey)
    first = submissions(to=survey)
    store.submissions.add("life", first)
    store.surveys.pause("life", True)
    assert (store.surveys.published("life").is_open, store.surveys.published("life").paused) == (True, True)
    assert store.submissions.add("life", first) is False, "a repetition of what was kept is thanked for"
    later = submissions(to=survey)
    with pytest.raises(PausedError, match="is paused"):
        store.submissions.add("life", later)
    store.surveys.pause("life", False)
    assert store.submissions.add("life", later) is True
    assert not store.surveys.published("life").paused


def polled(
    store: Store, submissions: Make, stop: Callable[[Store], None], go: Callable[[Store], None], people: int = 9, batch: int = 10
) -> list[int]:
    """Returns the counts that a researcher sees who stops the survey after each record, and lets it go on."""
    survey = survey_of(batch)
    store.surveys.publish(survey)
    seen = []
    for _ in range(people):
        store.submissions.add("life", submissions(to=survey))
        stop(store)
        seen.append(tally_of(store, "life").n)
        go(store)
    return seen


def test_a_researcher_who_pauses_after_each_answer_sees_none(store: Store, submissions: Make) -> None:
    pause = lambda on: lambda store: store.surveys.pause("life", on)  # noqa: E731
    assert polled(store, submissions, pause(True), pause(False)) == [0] * 9
    assert store.life.spans("life") == []
    assert store.life.last_counted() == {}


def set_open(is_open: bool) -> Callable[[Store], None]:
    return lambda store: store.surveys.set_open("life", is_open)


def test_a_researcher_who_closes_and_opens_after_each_answer_sees_a_batch_once_a_day(store: Store, submissions: Make, days: Days) -> None:
    assert polled(store, submissions, set_open(False), set_open(True), 30) == [0] * 9 + [10] * 21
    days.set(2)
    set_open(False)(store)
    assert tally_of(store, "life").n == 30


@pytest.mark.parametrize("broken", ["a batch of one", "at any time of a day"])
def test_a_researcher_who_sees_each_answer_at_the_close_would_be_noticed(
    store: Store, submissions: Make, days: Days, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    if broken == "at any time of a day":
        monkeypatch.setattr(release, "_may_release", lambda *_: True)
    seen = polled(store, submissions, set_open(False), set_open(True), batch=1)
    assert seen == ([1] * 9 if broken == "a batch of one" else list(range(1, 10)))


def test_a_closed_survey_is_not_paused_and_a_paused_one_can_be_closed(store: Store, submissions: Make) -> None:
    survey = survey_of(10)
    store.surveys.publish(survey)
    store.submissions.add("life", submissions(to=survey, mode="organisation"))
    store.surveys.pause("life", True)
    store.surveys.set_open("life", False)
    assert tally_of(store, "life").n == 1
    assert not store.surveys.published("life").paused
    for paused in (True, False):
        with pytest.raises(ClosedError):
            store.surveys.pause("life", paused)
    with pytest.raises(UnknownSurveyError):
        store.surveys.pause("nothing", True)


# The end: at a count, and of the records.


def test_a_survey_closes_with_the_batch_that_makes_its_count_and_counts_all_that_waits(store: Store, submissions: Make) -> None:
    survey = survey_of(4, groups=["North", "South"])
    store.surveys.publish(survey)
    store.life.keep("life", Settings(close_at=8))
    store.submissions.add("life", submissions(to=survey, group="South", mode="organisation"))
    for number in range(12):
        assert store.surveys.published("life").is_open, number
        store.submissions.add("life", submissions(to=survey, group="North", mode="organisation"))
    assert not store.surveys.published("life").is_open
    assert store.submissions.counts("life") == {Part("North", "organisation"): 12, Part("South", "organisation"): 1}
    with pytest.raises(ClosedError):
        store.submissions.add("life", submissions(to=survey, group="South"))
    check(store, survey)


def test_a_count_that_is_there_already_closes_at_once_and_one_made_by_hand_does_not_count(store: Store, submissions: Make) -> None:
    survey = survey_of(1, epsilon="ln 3", questions=COINS)
    store.surveys.publish(survey)
    store.submissions.add("life", submissions(9, to=survey, mode="by_hand"))
    store.life.keep("life", Settings(close_at=5))
    store.submissions.add("life", submissions(4, to=survey))
    assert store.surveys.published("life").is_open
    store.life.keep("life", Settings(close_at=4))
    assert not store.surveys.published("life").is_open


def test_a_survey_that_is_opened_again_forgets_when_it_was_to_close(store: Store, submissions: Make) -> None:
    survey = survey_of(1)
    store.surveys.publish(survey)
    store.life.keep("life", Settings(close_at=1, close_on="2026-12-24", archived=True, least=7))
    store.submissions.add("life", submissions(to=survey, mode="organisation"))
    assert not store.surveys.published("life").is_open
    store.surveys.set_open("life", True)
    assert store.life.settings("life") == Settings(least=7)
    assert store.submissions.add("life", submissions(to=survey))
    assert store.surveys.published("life").is_open


def test_settings_are_kept_whole_and_others_have_none(store: Store, url: str) -> None:
    store.surveys.publish(survey_of())
    wanted = Settings(0.05, 1000, 50, "2026-12-24", 400, archived=True, delete_on="2027-01-31")
    assert store.life.settings("life") == Settings()
    store.life.keep("life", wanted)
    assert store.life.settings("life") == wanted
    assert store.life.all_settings() == {"life": wanted}
    assert [(one.id, one.title, one.is_open) for one in store.surveys.headings()] == [("life", "T", True), ("study", "A study", True)]
    store.life.keep("life", replace(wanted, deleted_on="2026-01-01"))
    assert store.life.settings("life").deleted_on is None, "nobody says so but who deletes"
    for ask in (store.life.settings, lambda name: store.life.keep(name, Settings())):
        with pytest.raises(UnknownSurveyError):
            ask("nothing")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"half_width": 0.0}, "half_width must be from 0.001 to 0.5, got 0.0"),
        ({"half_width": float("nan")}, "half_width"),
        ({"least": 0}, "least must be a whole number from 1"),
        ({"expected": -1}, "expected must be"),
        ({"close_at": 10**10}, "close_at must be"),
        ({"close_on": "24.12.2026"}, "close_on must be a day, YYYY-MM-DD, got '24.12.2026'"),
        ({"delete_on": "20261224"}, "delete_on must be a day"),
        ({"close_on": "2026-12-24", "delete_on": "2026-12-24"}, "delete_on must be after close_on"),
    ],
)
def test_settings_that_make_no_sense_are_told(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Settings(**wrong)  # type: ignore[arg-type]


def test_what_is_deleted_is_gone_but_for_the_definition(store: Store, submissions: Make) -> None:
    survey, other = survey_of(3, access="invited", release="daily"), survey_of(3, "other")
    for each in (survey, other):
        store.surveys.publish(each)
    codes = [os.urandom(15) for _ in range(8)]
    store.invitations.add("life", [invitation_hash("life", code) for code in codes])
    sent = [submissions(to=survey, invitation=code) for code in codes]
    for one in sent:
        store.submissions.add("life", one)
    for _ in range(7):
        store.submissions.add("other", submissions(to=other, mode="organisation"))
        store.submissions.add("other", submissions(to=other))
    assert release_people(store) == ["life", "other"]
    assert (counted(store, survey), counted(store, other), store.invitations.count("life")) == (5, 7, (8, 5))
    for one in sent[:2]:
        store.submissions.withdraw("life", one.id)
    store.life.erase("life", "2026-12-31")
    store.life.erase("life", "2027-12-31")
    assert store.life.settings("life").deleted_on == "2026-12-31"
    assert store.surveys.published("life").survey.is_same_as(survey)
    assert not store.surveys.published("life").is_open
    assert (store.submissions.counts("life"), store.life.spans("life"), store.invitations.count("life")) == ({}, [], (0, 0))
    assert list(store.submissions.reports("life", Part(None))) == []
    with store.database.reading() as connection:
        for table in ("intake", "used_codes", "submissions", "tallies", "invitations"):
            assert connection.execute(f"SELECT count(*) FROM {table} WHERE survey = 'life'").fetchone() == (0,), table
    assert release_people(store) == []
    with pytest.raises(ClosedError):
        store.submissions.add("life", sent[-1])
    with pytest.raises(ClosedError, match="deleted on 2026-12-31"):
        store.surveys.set_open("life", True)
    for _ in range(2):
        store.submissions.add("other", submissions(to=other, mode="organisation"))
    assert (tally_of(store, "other").n, counted(store, other)) == (10, 10), "those of another survey are left alone"
    store.surveys.set_open("other", False)
    assert counted(store, other) == 7 + 7 + 2


def test_deleted_records_are_in_no_byte_of_the_file(tmp_path: Path, submissions: Make) -> None:
    path = tmp_path / "gone.db"
    survey = survey_of(3, questions=[{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(200)], epsilon=8)
    store = open_store(path)
    store.surveys.publish(survey)
    sent = [submissions(to=survey, mode=mode) for mode in ("organisation", "device") for _ in range(12)]
    for one in sent:
        store.submissions.add("life", one)
    with store.database.reading() as connection:  # type: ignore[attr-defined]
        waiting = [bytes(cell) for row in connection.execute("SELECT tag, sealed FROM intake").fetchall() for cell in row]

    def found() -> tuple[int, int]:
        """Returns how many records can be read in the files, and how many cells of waiting ones."""
        content = b"".join(file.read_bytes() for file in path.parent.glob("gone.db*"))
        return sum(one.id in content or one.reports in content for one in sent), sum(cell in content for cell in waiting)

    store.rewrite()
    assert found() == (9, 2 * (3 + 12))
    store.life.erase("life", "2026-12-31")
    store.close()
    assert found() == (0, 0)
