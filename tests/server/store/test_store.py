"""What any store must do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.kit.servers.later import adding
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import count_of, recount_of, tally_of
from tests.server.store.conftest import Databases

from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.record import unpack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store import open_store
from deniable_server.store.errors import ClosedError, ConflictError, PausedError, UnavailableError, UnknownSurveyError
from deniable_server.store.protocol import Store
from deniable_server.store.sql import tallies, wide_tallies, writer

Make = Callable[..., Submission]
SURVEY = """
deniable: 1
batch: 1
accept_small_batches: true
id: study
title: Another study
about: Who asks, and why.
epsilon: ln 3
groups: [North, South]
questions: [{id: q, text: Which?, type: yes_no}]
"""


def same(one: Tally, other: Tally) -> bool:
    return one.n == other.n and bool((one.pairs == other.pairs).all())


def test_a_survey_is_published_once_and_never_changes(store: Store, survey: Survey) -> None:
    assert store.surveys.publish(survey) is False
    changed = Survey.from_dict({**survey.to_dict(), "title": "Another"})
    with pytest.raises(ConflictError, match="never changes"):
        store.surveys.publish(changed)
    assert store.surveys.published("study").survey == survey


def test_an_unknown_survey_is_an_error(store: Store, submissions: Make) -> None:
    for call in (
        lambda: store.surveys.published("nope"),
        lambda: store.submissions.add("nope", submissions()),
        lambda: tally_of(store, "nope"),
        lambda: store.surveys.set_open("nope", False),
    ):
        with pytest.raises(UnknownSurveyError):
            call()


def test_the_same_submission_again_is_counted_once(store: Store, submissions: Make) -> None:
    submission = submissions(3)
    assert store.submissions.add("study", submission) is True
    assert store.submissions.add("study", submission) is False
    assert tally_of(store, "study").n == 3


def test_the_same_id_with_other_bytes_is_a_conflict_and_changes_nothing(store: Store, submissions: Make) -> None:
    submission = submissions(200)
    store.submissions.add("study", submission)
    before = tally_of(store, "study")
    with pytest.raises(ConflictError):
        store.submissions.add("study", submissions(200, id_=submission.id))
    assert same(tally_of(store, "study"), before)


@pytest.mark.parametrize("count", [1, 2])  # a person's record, which waits; a bulk submission, which is counted at once
@pytest.mark.parametrize("change", [{"group": "North"}, {"group": None}, {"mode": "by_hand"}, {"mode": "organisation"}])
def test_the_same_id_with_another_group_or_made_by_hand_is_a_conflict(
    change: dict[str, Any], count: int, store: Store, submissions: Make
) -> None:
    towns, another = (Survey.from_text(SURVEY.replace("id: study", f"id: {name}")) for name in ("towns", "another"))
    submission = submissions(count, to=towns, group="South")
    for survey in (towns, another):
        store.surveys.publish(survey)
    store.submissions.add("towns", submission)
    with pytest.raises(ConflictError):
        store.submissions.add("towns", replace(submission, **change))
    with pytest.raises(ConflictError):
        store.submissions.add("another", submission)
    store.surveys.set_open("towns", False)
    assert store.submissions.counts("towns") == {Part("South"): count}
    assert tally_of(store, "another").n == 0


def test_groups_and_what_was_made_by_hand_are_counted_apart(store: Store, submissions: Make) -> None:
    towns = Survey.from_text(SURVEY.replace("id: study", "id: towns"))
    store.surveys.publish(towns)
    for count, group, mode in ((1, "North", "device"), (20, "South", "organisation"), (300, "North", "by_hand"), (4000, "South", "device")):
        store.submissions.add("towns", submissions(count, to=towns, group=group, mode=mode))
    store.surveys.set_open("towns", False)
    expected = {
        (None, False): 4021,
        ("North", False): 1,
        ("South", False): 4020,
        (None, True): 300,
        ("North", True): 300,
        ("South", True): 0,
    }
    assert {part: tally_of(store, "towns", *part).n for part in expected} == expected
    assert all(same(tally_of(store, "towns", *part), recount_of(store, "towns", *part)) for part in expected)
    assert same(tally_of(store, "towns"), tally_of(store, "towns", "North") + tally_of(store, "towns", "South"))
    assert tally_of(store, "towns", "nobody's").n == 0


def test_one_conflict_does_not_undo_the_others_of_its_commit(store: Store, submissions: Make) -> None:
    taken = submissions()
    store.submissions.add("study", taken)
    outcomes: list[object] = []

    def send(submission: Submission) -> None:
        try:
            outcomes.append(store.submissions.add("study", submission))
        except ConflictError as error:
            outcomes.append(error)

    batch = [submissions(2, id_=taken.id), *(submissions() for _ in range(20))]
    threads = [threading.Thread(target=send, args=[s]) for s in batch]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(outcome is True for outcome in outcomes) == 20
    store.surveys.set_open("study", False)
    assert tally_of(store, "study").n == 21


def test_a_closed_survey_takes_nothing_new_but_still_knows_what_it_has(store: Store, submissions: Make) -> None:
    kept = submissions()
    store.submissions.add("study", kept)
    store.surveys.set_open("study", False)
    with pytest.raises(ClosedError):
        store.submissions.add("study", submissions())
    assert store.submissions.add("study", kept) is False
    store.surveys.set_open("study", True)
    assert store.submissions.add("study", submissions()) is True


def test_the_tally_is_what_the_reports_say(store: Store, survey: Survey, submissions: Make) -> None:
    expected = Tally.empty(7)
    for count in (1, 10, 100, 1):
        submission = submissions(count, mode="organisation")
        store.submissions.add("study", submission)
        expected += Tally.from_bits(unpack(survey, submission.reports, count))
        assert same(tally_of(store, "study"), expected)
    assert same(recount_of(store, "study"), expected)


def test_each_report_is_scanned_once_and_when_it_is_counted(store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    scanned: list[int] = []

    count_records = Tally.from_records

    def counting(records: bytes, bits: int) -> Tally:
        found = count_records(records, bits)
        scanned.append(found.n)
        return found

    monkeypatch.setattr(Tally, "from_records", counting)
    for count in (10, 10, 200, 10):
        store.submissions.add("study", submissions(count))
        assert tally_of(store, "study").n == count_of(store, "study") == sum(scanned)
    assert sum(scanned) == 230


def test_two_processes_that_write_together_count_everything_once(url: str, store: Store, submissions: Make) -> None:
    other = open_store(url)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda number: (store, other)[number % 2].submissions.add("study", submissions(1 + number % 3)), range(60)))
    assert tally_of(store, "study").n == tally_of(other, "study").n == 100
    assert store.submissions.waiting("study") == other.submissions.waiting("study") == {"device": 20, "by_hand": 0}
    other.surveys.set_open("study", False)
    assert tally_of(store, "study").n == tally_of(other, "study").n == 120
    assert same(tally_of(other, "study"), recount_of(store, "study"))
    other.close()


def test_a_wide_survey_has_the_same_tally_and_no_large_row(store: Store, submissions: Make) -> None:
    questions = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(tallies.WIDE + 1)]
    wide = Survey.from_dict(
        {
            "deniable": 1,
            "batch": 1,
            "accept_small_batches": True,
            "id": "wide",
            "title": "T",
            "about": "A.",
            "epsilon": 8,
            "questions": questions,
        }
    )
    store.surveys.publish(wide)
    sent = [submissions(count, to=wide, mode="organisation") for count in (1, 3, 100)]
    for submission in sent:
        store.submissions.add("wide", submission)
    store.submissions.withdraw("wide", sent[1].id)
    expected = sum((Tally.from_bits(unpack(wide, s.reports, s.count)) for s in sent[::2]), Tally.empty(len(questions)))
    assert same(tally_of(store, "wide"), expected)
    assert count_of(store, "wide") == 101
    with store.database.reading() as connection:
        assert connection.execute("SELECT sum(length(pairs)) FROM tallies WHERE survey = 'wide'").fetchone() == (0,)


def test_a_wide_survey_is_counted_once_until_something_changes(
    url: str, store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "WIDE", 1)
    recount, counted = tallies.recount, []

    def counting(connection: Any, survey: Survey, chosen: Any) -> Tally:
        counted.append(survey.id)
        return recount(connection, survey, chosen)

    monkeypatch.setattr(tallies, "recount", counting)
    other = open_store(url)
    sent = [submissions(count, mode="organisation") for count in (3, 1, 200)]
    changes: list[Callable[[], object]] = [
        lambda: store.submissions.add("study", sent[0]),
        lambda: other.submissions.add("study", sent[1]),
        lambda: store.submissions.withdraw("study", sent[0].id),
        lambda: store.submissions.add("study", sent[2]),
        lambda: store.surveys.set_open("study", False),
        lambda: other.submissions.withdraw("study", sent[1].id),
    ]
    for change in changes:
        change()
        with ThreadPoolExecutor(4) as pool:
            told = list(pool.map(lambda _: tally_of(store, "study"), range(8)))
        assert len(counted) <= 1
        wanted = recount_of(store, "study")
        assert all(same(one, wanted) for one in told)
        del counted[:]
    assert wanted.n == 200
    other.close()


def test_tallies_of_wide_surveys_take_no_more_memory_than_they_may(
    store: Store, survey: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "WIDE", 1)
    one = 8 * survey.record.bits**2
    monkeypatch.setattr(wide_tallies, "CACHE_BYTES", 2 * one)
    for number in range(4):
        store.surveys.publish(again := Survey.from_dict({**survey.to_dict(), "id": f"study{number}"}))
        store.submissions.add(again.id, submissions(1, to=again, mode="organisation"))
        assert tally_of(store, again.id).n == 1
    kept = store.submissions._scans._tallies  # type: ignore[attr-defined]
    assert [name for name, _ in kept] == ["study2", "study3"]


def test_what_was_kept_is_there_after_opening_it_again(url: str, store: Store, submissions: Make) -> None:
    store.submissions.add("study", submissions(7))
    again = open_store(url)
    assert tally_of(again, "study").n == 7
    again.close()


def test_a_closed_store_refuses_instead_of_waiting(databases: Databases, submissions: Make, survey: Survey) -> None:
    store = open_store(databases.new())
    store.surveys.publish(survey)
    store.close()
    with pytest.raises(UnavailableError):
        store.submissions.add("study", submissions())


def test_requests_that_wait_together_share_a_commit(store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[int] = []
    commit = store.database.writer._commit

    def counting(batch: list[Any]) -> None:
        commits.append(len(batch))
        commit(batch)

    monkeypatch.setattr(store.database.writer, "_commit", counting)
    begun, hold = threading.Event(), threading.Event()
    blocked = threading.Thread(target=store.database.writer.run, args=[lambda connection: begun.set() or hold.wait()])
    blocked.start()
    begun.wait()  # else a request could share its commit
    threads = [threading.Thread(target=store.submissions.add, args=["study", submissions()]) for _ in range(30)]
    for thread in threads:
        thread.start()
    while store.database.writer._jobs.qsize() < 30:
        time.sleep(0.001)
    hold.set()
    for thread in [blocked, *threads]:
        thread.join()
    assert commits == [1, 30]


def test_an_empty_survey_has_an_empty_tally(store: Store) -> None:
    assert tally_of(store, "study").n == 0
    assert not np.any(tally_of(store, "study").pairs)


def test_what_was_taken_back_while_it_waited_is_not_done_later(store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "WAIT_SECONDS", 0.05)
    begun, hold = threading.Event(), threading.Event()
    blocked = threading.Thread(target=store.database.writer.run, args=[lambda connection: begun.set() or hold.wait()])
    blocked.start()
    begun.wait()
    with pytest.raises(UnavailableError, match="busy"):
        store.submissions.add("study", submissions())
    hold.set()
    blocked.join()
    store.surveys.set_open("study", False)
    assert count_of(store, "study") == recount_of(store, "study").n == 0


def test_adding_without_waiting_tells_later_what_adding_tells(store: Store, submissions: Make) -> None:
    one = submissions()
    other = next(made for made in iter(lambda: submissions(id_=one.id), None) if made.reports != one.reports)  # coins may fall alike
    told = [adding(store, "study", each) for each in (one, one, other, submissions())]
    assert [each.result(60) for each in (told[0], told[1], told[3])] == [True, False, True]
    assert isinstance(told[2].exception(60), ConflictError)
    assert isinstance(adding(store, "nothing", submissions()).exception(60), UnknownSurveyError)
    assert release_people(store) == ["study"]
    assert tally_of(store, "study").n == recount_of(store, "study").n == 2
    store.surveys.pause("study", True)
    assert isinstance(adding(store, "study", submissions()).exception(60), PausedError)
    store.surveys.set_open("study", False)
    assert isinstance(adding(store, "study", submissions()).exception(60), ClosedError)
    assert adding(store, "study", one).result(60) is False


def test_what_is_taken_back_before_its_turn_is_not_kept_and_nobody_hears_of_it(store: Store, submissions: Make) -> None:
    begun, hold, heard = threading.Event(), threading.Event(), list[object]()
    running = store.database.writer.begin(lambda connection: begun.set() or hold.wait())
    begun.wait()
    cancel = store.submissions.add_later("study", submissions(), heard.append)
    assert (running.cancel(), cancel(), cancel()) == (False, True, False)
    hold.set()
    assert running.result(60)
    store.surveys.set_open("study", False)
    assert (count_of(store, "study"), recount_of(store, "study").n, heard) == (0, 0, [])
