"""Quotas of groups: exact with any number of senders, and no way to find out how many records there are between two tens."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.kit.servers.release import Days, release_people

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.store import open_store
from deniable_server.store.errors import ClosedError, GroupFullError, QuotaError
from deniable_server.store.protocol import Store

Make = Callable[..., Submission]
GROUPS = ["North", "South", "West"]
SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "grouped",
        "title": "T",
        "about": "A.",
        "groups": GROUPS,
        "questions": [{"id": "q", "text": "?", "type": "yes_no", "epsilon": 2}],
    }
)


@pytest.fixture(autouse=True)
def _published(store: Store) -> None:
    store.surveys.publish(SURVEY)


def send(store: Store, submissions: Make, group: str, count: int) -> list[Submission]:
    sent = [submissions(to=SURVEY, group=group) for _ in range(count)]
    for each in sent:
        store.submissions.add("grouped", each)
    return sent


def test_a_group_takes_its_quota_and_no_record_more_and_other_groups_go_on(store: Store, submissions: Make) -> None:
    store.life.set_quotas("grouped", {"North": 10})
    sent = send(store, submissions, "North", 10)
    assert store.life.full_groups("grouped") == ["North"]
    with pytest.raises(ClosedError):
        send(store, submissions, "North", 1)
    assert store.submissions.add("grouped", sent[0]) is False, "a repetition is still acknowledged"
    send(store, submissions, "South", 11)
    store.life.set_quotas("grouped", {"North": 20})
    send(store, submissions, "North", 10)
    assert store.life.full_groups("grouped") == ["North"]


def test_many_senders_at_once_fill_a_group_exactly_whichever_process_takes_their_records(store: Store, url: str, submissions: Make) -> None:
    store.life.set_quotas("grouped", {"North": 20})
    other = open_store(url)

    def attempt(numbered: tuple[int, Submission]) -> bool:
        number, submission = numbered
        try:
            return (store, other)[number % 2].submissions.add("grouped", submission)
        except GroupFullError:
            return False

    with ThreadPoolExecutor(12) as pool:
        accepted = list(pool.map(attempt, enumerate([submissions(to=SURVEY, group="North") for _ in range(60)])))
    other.close()
    assert sum(accepted) == 20


def test_a_release_and_a_restart_change_nothing_about_a_quota(store: Store, url: str, submissions: Make, days: Days) -> None:
    store.life.set_quotas("grouped", {"South": 30})
    send(store, submissions, "South", 25)
    release_people(store)
    again = open_store(url)
    assert again.life.quotas("grouped") == {"South": 30}
    send(again, submissions, "South", 5)
    again.close()
    assert store.life.full_groups("grouped") == ["South"]


def test_a_quota_that_comes_later_counts_what_was_counted_and_what_waits(store: Store, submissions: Make, days: Days) -> None:
    send(store, submissions, "North", 22)
    release_people(store)
    send(store, submissions, "North", 7)
    store.life.set_quotas("grouped", {"North": 30})
    assert store.life.full_groups("grouped") == []
    send(store, submissions, "North", 1)
    assert store.life.full_groups("grouped") == ["North"]


def test_a_person_who_sends_and_withdraws_records_does_not_learn_how_many_others_there_are(store: Store, submissions: Make) -> None:
    store.life.set_quotas("grouped", {"North": 10})
    send(store, submissions, "North", 7)
    for submission in send(store, submissions, "North", 3):
        store.submissions.withdraw("grouped", submission.id)
    assert store.life.full_groups("grouped") == ["North"], "the places are not given back, so nobody can look twice"


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"North": 15}, "quota must be a multiple of 10 from 10, got 15"),
        ({"North": 0}, "quota must be a multiple of 10 from 10, got 0"),
        ({"South": 10}, "quota must not be lowered, got 10 after 20"),
        ({"East": 10}, "group must be one of the survey's"),
    ],
)
def test_a_search_with_changing_quotas_is_refused(store: Store, changes: dict[str, int], rule: str) -> None:
    store.life.set_quotas("grouped", {"South": 20})
    with pytest.raises(QuotaError, match=rule):
        store.life.set_quotas("grouped", changes)
    assert store.life.quotas("grouped") == {"South": 20}


def test_the_accepted_numbers_are_encrypted_and_go_with_the_records(store: Store, submissions: Make, days: Days) -> None:
    store.life.set_quotas("grouped", {"North": 10, "West": 20})
    send(store, submissions, "North", 10)
    store.life.erase("grouped", "2026-12-02")
    assert (store.life.quotas("grouped"), store.life.full_groups("grouped")) == ({}, [])
