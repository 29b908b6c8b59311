"""Keys that sign tokens: sealed while a survey is open, gone when it closes; what was exchanged is used once, in both databases."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import replace
from typing import Any

import pytest
from tests.kit.issuer import exchanged
from tests.kit.surveys import STUDY, submission

from deniable.delivery.tokens import draw
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.access_codes import invitation_hash
from deniable_server.access import invitations
from deniable_server.store.errors import ClosedError, InvitationError
from deniable_server.store.protocol import Store

KEYS = Survey.from_text(STUDY).to_dict()


@pytest.fixture
def staff(store: Store) -> Survey:
    store.surveys.publish(Survey.from_dict({**KEYS, "id": "staff", "access": "invited", "batch": 10}))
    return store.surveys.published("staff").survey


def new_codes(store: Store, count: int) -> list[bytes]:
    return [access_codes.read(code) for code in invitations.make(store, "staff", count)]


def rows(store: Any, table: str) -> list[Any]:
    with store.database.reading() as connection:
        return list(connection.execute(f"SELECT * FROM {table}").fetchall())


def answer(store: Store, staff: Survey, count: int) -> None:
    for code in new_codes(store, count):
        store.submissions.add("staff", submission(staff, token=exchanged(store.invitations, staff, code)))


def test_a_token_counts_once_and_its_code_is_shown_as_used_with_the_records(store: Store, staff: Survey) -> None:
    answer(store, staff, 12)
    new_codes(store, 3)
    assert store.invitations.count("staff") == (15, 0)
    assert len(rows(store, "spent_tokens")) == 12
    store.surveys.set_open("staff", False)
    assert store.invitations.count("staff") == (15, 12)
    assert sum(store.submissions.counts("staff").values()) == 12


def close(store: Store, staff: Survey) -> None:
    store.surveys.set_open("staff", False)


def fill(store: Store, staff: Survey) -> None:
    answer(store, staff, 20)
    store.life.keep("staff", replace(store.life.settings("staff"), close_at=10))


def erase(store: Store, staff: Survey) -> None:
    store.life.erase("staff", "2026-01-01")


@pytest.mark.parametrize("end", [close, fill, erase])
def test_a_survey_that_closes_loses_its_key_and_its_tokens_for_good(end: Any, store: Store, staff: Survey) -> None:
    (code,) = new_codes(store, 1)
    answer(store, staff, 1)
    assert len(rows(store, "issuers")) == 1
    end(store, staff)
    assert not store.surveys.published("staff").is_open
    assert rows(store, "issuers") == rows(store, "spent_tokens") == []
    with pytest.raises(ClosedError):
        exchanged(store.invitations, staff, code)
    with pytest.raises(ClosedError, match="cannot be opened"):
        store.surveys.set_open("staff", True)


def test_a_survey_with_fewer_records_than_a_batch_is_not_opened_again_either(store: Store, staff: Survey) -> None:
    answer(store, staff, 2)
    store.surveys.set_open("staff", True)  # it is open
    store.surveys.set_open("staff", False)
    with pytest.raises(ClosedError, match="its key for invitation codes was deleted when it closed"):
        store.surveys.set_open("staff", True)


def test_of_many_tokens_for_one_code_exactly_one_is_signed(store: Store, staff: Survey) -> None:
    (code,) = new_codes(store, 1)
    drawn = [draw(staff) for _ in range(20)]
    outcomes: list[bytes | None] = [None] * len(drawn)
    together = threading.Barrier(len(drawn))

    def ask(number: int) -> None:
        together.wait()
        with contextlib.suppress(InvitationError):
            outcomes[number] = store.invitations.exchange("staff", invitation_hash("staff", code), drawn[number].blinded)

    threads = [threading.Thread(target=ask, args=[number]) for number in range(len(drawn))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [number for number, outcome in enumerate(outcomes) if outcome]
    assert drawn[winner].finish(outcomes[winner] or b"")
    assert store.invitations.exchange("staff", invitation_hash("staff", code), drawn[winner].blinded) == outcomes[winner]


def test_of_many_records_with_one_token_exactly_one_is_let_in(store: Store, staff: Survey) -> None:
    token = exchanged(store.invitations, staff, *new_codes(store, 1))
    sent = [submission(staff, token=token) for _ in range(20)]
    outcomes = []

    def send(number: int) -> None:
        try:
            outcomes.append(store.submissions.add("staff", sent[number]))
        except InvitationError:
            outcomes.append(False)

    threads = [threading.Thread(target=send, args=[number]) for number in range(len(sent))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(outcomes) == 1


def test_without_the_servers_key_nothing_of_a_code_or_a_token_shows(store: Any, staff: Survey) -> None:
    (code,) = new_codes(store, 1)
    token = exchanged(store.invitations, staff, code)
    store.submissions.add("staff", submission(staff, token=token))
    ((tag, _, blinded),) = rows(store, "used_codes")
    ((spent, _),) = rows(store, "spent_tokens")
    assert {len(bytes(each)) for each in (tag, blinded, spent)} == {16}
    assert len(bytes(rows(store, "issuers")[0][1])) > 256, "sealed"
