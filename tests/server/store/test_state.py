"""The state of the counts: the same while nothing that is released changes, and never the same again after a change."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest
from tests.kit.servers.release import Days, release_people
from tests.server.store.conftest import Databases
from tests.server.store.test_closing import survey_of

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.store import open_store
from deniable_server.store.errors import UnknownSurveyError
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store
from deniable_server.store.sql import tallies

Make = Callable[..., Submission]


@pytest.fixture
def daily(store: Store) -> Survey:
    survey = survey_of("daily", release="daily")
    store.surveys.publish(survey)
    return survey


def send(store: Store, survey: Survey, submissions: Make, people: int) -> list[Submission]:
    sent = [submissions(to=survey) for _ in range(people)]
    for one in sent:
        store.submissions.add(survey.id, one)
    return sent


def test_arrivals_and_withdrawals_do_not_change_it_before_they_are_released(store: Store, daily: Survey, submissions: Make) -> None:
    empty = store.submissions.state(daily.id)
    assert empty == ()
    sent = send(store, daily, submissions, 25)
    store.submissions.withdraw(daily.id, sent.pop().id)
    store.surveys.pause(daily.id, True)
    store.surveys.pause(daily.id, False)
    store.life.keep(daily.id, Settings(least=5))
    assert store.submissions.state(daily.id) == empty
    assert release_people(store) == [daily.id]
    released = store.submissions.state(daily.id)
    assert released != empty
    for one in sent:
        store.submissions.withdraw(daily.id, one.id)
        assert store.submissions.state(daily.id) == released, "withdrawn records leave together, at a release"


def test_each_change_of_the_counts_changes_it_and_no_state_comes_again(
    store: Store, daily: Survey, submissions: Make, days: Days, survey: Survey
) -> None:
    states = [store.submissions.state(daily.id)]

    def expect_change() -> None:
        state = store.submissions.state(daily.id)
        assert state not in states
        states.append(state)

    bulk = submissions(12, to=daily, mode="organisation")
    store.submissions.add(daily.id, bulk)
    expect_change()
    send(store, daily, submissions, 25)
    release_people(store)
    expect_change()
    n = store.submissions.tally(daily.id, store.submissions.counts(daily.id)).n
    store.submissions.withdraw(daily.id, bulk.id)
    store.submissions.add(daily.id, submissions(12, to=daily, mode="organisation"))
    assert store.submissions.tally(daily.id, store.submissions.counts(daily.id)).n == n, "as many records, but others"
    expect_change()
    store.surveys.set_open(daily.id, False)
    days.set(9)
    release_people(store)
    expect_change()
    state = states[-1]
    store.submissions.add(survey.id, submissions(3))
    assert store.submissions.state(daily.id) == state, "that of another survey is its own"
    store.life.erase(daily.id, "2026-12-24")
    assert store.submissions.state(daily.id) == ()


def test_it_outlives_rewriting_and_a_restart_and_follows_the_records_into_a_copy(
    databases: Databases, submissions: Make, survey: Survey
) -> None:
    url = databases.new()
    store = open_store(url)
    store.surveys.publish(survey)
    store.submissions.add(survey.id, submissions(3))
    state = store.submissions.state(survey.id)
    store.rewrite()
    assert store.submissions.state(survey.id) == state
    with closing(open_store(databases.restored(url, [store]))) as copy:
        assert copy.submissions.state(survey.id) == state
        copy.submissions.add(survey.id, submissions(3))
        assert copy.submissions.state(survey.id) != state


def test_the_control_fixed_keys_of_tallies_would_be_found(
    store: Store, daily: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fixed:
        @staticmethod
        def randbits(_: int) -> int:
            return 7

    monkeypatch.setattr(tallies, "secrets", Fixed)
    for _ in range(2):
        store.submissions.add(daily.id, submissions(12, to=daily, mode="organisation"))
        assert store.submissions.state(daily.id) == (7,)


def test_an_unknown_survey_has_none(store: Store) -> None:
    with pytest.raises(UnknownSurveyError):
        store.submissions.state("nowhere")
