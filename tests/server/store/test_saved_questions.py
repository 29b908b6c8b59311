"""A researcher's own questions, on every database."""

from __future__ import annotations

import pytest

from deniable_server.store.errors import TooManyQuestionsError
from deniable_server.store.protocol import Store
from deniable_server.store.saved_questions import MOST


def test_questions_are_kept_for_their_author_alone_and_once(store: Store) -> None:
    first, second = store.saved_questions.add("ada", "größer"), store.saved_questions.add("ada", "b")
    assert store.saved_questions.add("ada", "größer") == first
    store.saved_questions.add("ben", "größer")
    store.rewrite()
    assert store.saved_questions.listed("ada") == sorted([first, second], key=lambda one: one.id)
    assert not store.saved_questions.remove("ben", first.id)
    assert store.saved_questions.remove("ada", first.id)
    assert store.saved_questions.listed("ada") == [second]
    assert len(store.saved_questions.listed("ben")) == 1


def test_nobody_keeps_more_than_the_most(store: Store) -> None:
    for number in range(MOST):
        store.saved_questions.add("ada", str(number))
    with pytest.raises(TooManyQuestionsError, match=f"{MOST} saved questions"):
        store.saved_questions.add("ada", "one more")
    assert store.saved_questions.add("ada", "0").text == "0"  # which is there already


def test_the_questions_of_a_removed_account_are_gone(store: Store) -> None:
    store.accounts.set_password("ada", "x")
    store.accounts.set_password("eve", "x")
    store.people.set_operator("eve", True)
    store.saved_questions.add("ada", "a")
    store.accounts.remove_user("ada")
    store.accounts.set_password("ada", "another person")
    assert store.saved_questions.listed("ada") == []
