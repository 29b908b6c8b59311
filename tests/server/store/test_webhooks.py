"""Webhooks and what waits for them, on every database."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deniable_server.store import open_store
from deniable_server.store.errors import ConflictError, UnknownSurveyError
from deniable_server.store.protocol import Store
from deniable_server.store.webhooks import MOST, Message, ReceiverState, Webhook

HOOK = Webhook("wh_1", "study", "https://example.org/in?token=kanary", ("count.daily", "survey.closed"), "2026-01-01")
NEW, LATER = ReceiverState(True, False, 0), ReceiverState(True, True, 12)
MESSAGES = [Message("msg_2", "wh_1", '{"n":12}', 0, 100), Message("msg_1", "wh_1", "{}", 0, 200)]


@pytest.fixture
def hooked(store: Store) -> Store:
    store.webhooks.add(HOOK, b"s" * 32, NEW)
    return store


def test_a_webhook_is_kept_with_what_its_receiver_knows(hooked: Store, url: str) -> None:
    other = replace(HOOK, id="wh_0", events=("precision.reached",))
    hooked.webhooks.add(other, b"t" * 32, LATER)
    again = open_store(url)
    try:
        assert again.webhooks.all() == [(other, LATER), (HOOK, NEW)]
        assert again.webhooks.of_survey("study") == [other, HOOK]
        assert [again.webhooks.secret(each) for each in ("wh_0", "wh_1", "wh_2")] == [b"t" * 32, b"s" * 32, None]
    finally:
        again.close()
    assert "kanary" not in repr(HOOK)


def test_it_is_of_a_survey_that_is_there_and_of_few_others(hooked: Store) -> None:
    with pytest.raises(UnknownSurveyError):
        hooked.webhooks.add(replace(HOOK, id="wh_x", survey="none"), bytes(32), NEW)
    for number in range(1, MOST):
        hooked.webhooks.add(replace(HOOK, id=f"wh_x{number}"), bytes(32), NEW)
    with pytest.raises(ConflictError, match="at most 10 webhooks"):
        hooked.webhooks.add(replace(HOOK, id="wh_x"), bytes(32), NEW)
    assert len(hooked.webhooks.all()) == MOST


def test_what_is_told_is_known_in_the_same_moment_and_told_once(hooked: Store) -> None:
    assert hooked.webhooks.queue("wh_1", NEW, LATER, MESSAGES)
    assert not hooked.webhooks.queue("wh_1", NEW, LATER, [replace(MESSAGES[0], id="msg_3")])
    assert hooked.webhooks.all() == [(HOOK, LATER)]
    assert hooked.webhooks.waiting() == MESSAGES


def test_one_process_sends_a_message_at_a_time_until_it_arrives_or_was_tried_for_the_last_time(hooked: Store) -> None:
    hooked.webhooks.queue("wh_1", NEW, LATER, MESSAGES)
    assert hooked.webhooks.attempt(MESSAGES[0], 300)
    assert not hooked.webhooks.attempt(MESSAGES[0], 300)
    tried = replace(MESSAGES[0], tries=1, due=300)
    assert hooked.webhooks.waiting() == [MESSAGES[1], tried]
    for day in ("2026-01-02", "2026-01-03"):
        hooked.webhooks.settle(tried, arrived=False, last=False, day=day)
    assert hooked.webhooks.of_survey("study") == [replace(HOOK, failing_since="2026-01-02")]
    hooked.webhooks.settle(MESSAGES[1], arrived=True, last=False, day="2026-01-04")
    assert hooked.webhooks.of_survey("study") == [HOOK]
    hooked.webhooks.settle(tried, arrived=False, last=True, day="2026-01-05")
    assert hooked.webhooks.waiting() == []
    assert hooked.webhooks.of_survey("study") == [replace(HOOK, failing_since="2026-01-05")]


def test_a_webhook_that_is_removed_takes_along_what_waits_for_it(hooked: Store) -> None:
    hooked.webhooks.queue("wh_1", NEW, LATER, MESSAGES)
    assert not hooked.webhooks.remove("other", "wh_1")
    assert hooked.webhooks.remove("study", "wh_1")
    assert not hooked.webhooks.remove("study", "wh_1")
    assert (hooked.webhooks.all(), hooked.webhooks.waiting(), hooked.webhooks.secret("wh_1")) == ([], [], None)
    assert not hooked.webhooks.queue("wh_1", LATER, NEW, [])
    assert [entry.did.act for entry in hooked.audit.entries(most=2)] == ["webhook.remove", "webhook.make"]
    assert not any("kanary" in entry.text for entry in hooked.audit.entries())


def test_what_waits_outlives_what_is_written_anew(hooked: Store) -> None:
    hooked.webhooks.queue("wh_1", NEW, LATER, MESSAGES)
    hooked.rewrite()
    assert hooked.webhooks.waiting() == MESSAGES
    assert hooked.webhooks.all() == [(HOOK, LATER)]
