"""Accounts, sessions, keys and invitations, on every database."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from tests.kit.servers.release import release_people

from deniable.survey import Survey
from deniable.wire.access_codes import invitation_hash
from deniable.wire.submission import Submission
from deniable_server.store.accounts import ApiKey
from deniable_server.store.errors import ConflictError, InvitationError, UnknownAccountError, UnknownSurveyError
from deniable_server.store.protocol import Store

Make = Callable[..., Submission]
TOKENS = [bytes([number]) * 32 for number in range(6)]


def test_an_account_has_the_password_that_it_was_given_last(store: Store) -> None:
    for user, password in (("eve", "one"), ("ada", "two"), ("Äda", "three"), ("eve", "four")):
        store.accounts.set_password(user, password)
    assert store.accounts.users() == ["ada", "eve", "Äda"]
    assert [store.accounts.password_hash(user) for user in ("eve", "ada", "Äda", "bob")] == ["four", "two", "three", None]


def test_a_session_ends_by_itself_by_logout_with_the_password_and_with_the_account(store: Store) -> None:
    accounts = store.accounts
    for user in ("ada", "eve"):
        accounts.set_password(user, "hash")
    owners = ["ada", "ada", "eve", "eve", "eve"]
    assert all(accounts.open_session(user, token, 100, 1000) for user, token in zip(owners, TOKENS, strict=False))
    assert not accounts.open_session("bob", TOKENS[5], 100, 1000)

    def whose(now: int = 999) -> list[str | None]:
        return [accounts.session_user(token, now) for token in TOKENS]

    assert whose() == [*owners, None]
    assert whose(1000) == [None] * 6
    accounts.end_session(TOKENS[2])
    accounts.end_session(TOKENS[2])
    assert whose() == ["ada", "ada", None, "eve", "eve", None]
    accounts.set_password("ada", "another")
    assert whose() == [None, None, None, "eve", "eve", None]
    accounts.end_sessions("eve")
    assert whose() == [None] * 6
    assert accounts.open_session("eve", TOKENS[0], 100, 1000)
    assert accounts.remove_user("eve")
    assert not accounts.remove_user("eve")
    assert whose() == [None] * 6


def test_sessions_that_are_over_are_forgotten_when_another_begins(store: Store) -> None:
    store.accounts.set_password("ada", "hash")
    store.accounts.open_session("ada", TOKENS[0], 100, 200)
    store.accounts.open_session("ada", TOKENS[1], 200, 300)
    assert [store.accounts.session_user(token, 150) for token in TOKENS[:2]] == [None, "ada"]


def test_a_key_is_kept_as_it_was_made_until_it_is_revoked(store: Store) -> None:
    lab, clinic = ApiKey("lab", ("submit", "results"), None, "2026-01-01"), ApiKey("clinic", ("submit",), "study", "2026-01-02")
    store.accounts.add_key(lab, TOKENS[0])
    store.accounts.add_key(clinic, TOKENS[1])
    with pytest.raises(ConflictError):
        store.accounts.add_key(lab, TOKENS[2])
    with pytest.raises(UnknownSurveyError):
        store.accounts.add_key(ApiKey("none", ("submit",), "nope", "2026-01-01"), TOKENS[2])
    assert [store.accounts.key(token) for token in TOKENS[:3]] == [lab, clinic, None]
    assert store.accounts.all_keys() == [clinic, lab]
    assert store.accounts.remove_key("lab")
    assert not store.accounts.remove_key("lab")
    assert store.accounts.all_keys() == [clinic]


def test_a_code_admits_one_submission_and_is_marked_at_a_release(store: Store, survey: Survey, submissions: Make) -> None:
    staff = Survey.from_dict(
        {**survey.to_dict(), "id": "staff", "access": "invited", "release": "daily", "batch": 2, "accept_small_batches": True}
    )
    store.surveys.publish(staff)
    codes = [os.urandom(15) for _ in range(6)]
    hashes = [invitation_hash("staff", code) for code in codes]
    store.invitations.add("staff", hashes[:3])
    store.invitations.add("staff", hashes[:5])  # some again: each counts once
    assert store.invitations.count("staff") == (5, 0)
    assert [store.invitations.has("staff", one) for one in hashes] == [True] * 5 + [False]
    sent = [submissions(to=staff, invitation=code) for code in codes]
    assert all(store.submissions.add("staff", one) for one in sent[:4])
    assert store.invitations.count("staff") == (5, 0)
    assert store.invitations.used() == sorted(("staff", one) for one in hashes[:4])
    assert release_people(store) == ["staff"]
    assert store.invitations.count("staff") == (5, 2)  # two are marked, two stay behind
    assert store.invitations.used() == sorted(("staff", one) for one in hashes[:4])
    assert [store.invitations.has("staff", one) for one in hashes] == [True] * 5 + [False]
    for code in (*codes[:4], codes[5]):  # spent, waiting or of no survey: the same reply
        with pytest.raises(InvitationError):
            store.submissions.add("staff", submissions(to=staff, invitation=code))
    store.surveys.set_open("staff", False)
    assert store.invitations.count("staff") == (5, 4)
    assert store.invitations.used() == sorted(("staff", one) for one in hashes[:4])
    for ask in (
        lambda: store.invitations.add("nope", []),
        lambda: store.invitations.count("nope"),
        lambda: store.invitations.has("nope", b""),
    ):
        with pytest.raises(UnknownSurveyError):
            ask()


def test_an_account_remembers_what_it_has_removed_from_its_pages_until_it_is_removed_itself(store: Store) -> None:
    for user in ("eve", "zed"):
        store.accounts.set_password(user, "hash")
    for _ in range(2):
        store.accounts.dismiss("eve", "sample")
    store.rewrite()
    assert (store.accounts.dismissed("eve"), store.accounts.dismissed("zed")) == ({"sample"}, frozenset())
    with pytest.raises(UnknownAccountError):
        store.accounts.dismiss("nobody", "sample")
    store.accounts.remove_user("eve")
    store.accounts.set_password("eve", "hash")
    assert store.accounts.dismissed("eve") == frozenset()
