"""Roles per survey, operators and accounts that are disabled, on every database."""

from __future__ import annotations

import pytest

from deniable.survey import Survey
from deniable_server.store.errors import LastError, UnknownAccountError, UnknownSurveyError
from deniable_server.store.people import Person
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role


@pytest.fixture
def owned(store: Store, survey: Survey) -> str:
    """A survey of ada's, beside one that nobody owns; eve and bob have accounts, and bob is an operator."""
    for user in ("ada", "bob", "eve"):
        store.accounts.set_password(user, "hash")
    store.people.set_operator("bob", True)
    store.surveys.publish(Survey.from_dict({**survey.to_dict(), "id": "owned"}), "ada")
    return "owned"


def roles(store: Store, survey_id: str) -> dict[str, Role | None]:
    found: dict[str, Role | None] = {}
    refusals = set()
    for user in ("ada", "bob", "eve", "nobody"):
        try:
            found[user] = store.roles.role(user, survey_id)
        except UnknownSurveyError as error:
            found[user] = None
            refusals.add(str(error))
    assert refusals == {"no survey with this id is published here"}  # the words for one that is not there
    return found


def test_who_publishes_owns_and_what_nobody_owns_is_the_operators(store: Store, owned: str) -> None:
    assert roles(store, owned) == {"ada": Role.OWNER, "bob": None, "eve": None, "nobody": None}
    assert roles(store, "study") == {"ada": None, "bob": Role.OWNER, "eve": None, "nobody": None}
    assert roles(store, "nothing") == dict.fromkeys(("ada", "bob", "eve", "nobody"))
    seen = {user: store.roles.seen_by(user) for user in ("ada", "bob", "eve", "nobody")}
    assert seen == {"ada": {"owned": Role.OWNER}, "bob": {"study": Role.OWNER}, "eve": {}, "nobody": {}}
    assert store.roles.members(owned) == {"ada": Role.OWNER}
    assert store.roles.members("study") == {}


def test_a_survey_published_again_keeps_its_owner(store: Store, owned: str) -> None:
    assert not store.surveys.publish(store.surveys.published(owned).survey, "eve")
    assert store.roles.members(owned) == {"ada": Role.OWNER}


def test_a_survey_for_an_owner_without_an_account_is_not_published(store: Store, survey: Survey) -> None:
    with pytest.raises(UnknownAccountError):
        store.surveys.publish(Survey.from_dict({**survey.to_dict(), "id": "owned"}), "nobody")
    assert [published.survey.id for published in store.surveys.all()] == ["study"]


@pytest.mark.parametrize("role", Role)
def test_a_role_is_given_changed_and_taken_away(store: Store, owned: str, role: Role) -> None:
    store.roles.grant(owned, "eve", Role.VIEWER)
    store.roles.grant(owned, "eve", role)
    assert store.roles.role("eve", owned) == role
    assert store.roles.members(owned) == {"ada": Role.OWNER, "eve": role}
    assert store.roles.revoke(owned, "eve")
    assert not store.roles.revoke(owned, "eve")
    assert roles(store, owned)["eve"] is None


def test_a_role_is_for_an_account_and_a_survey_that_are_there(store: Store, owned: str) -> None:
    with pytest.raises(UnknownAccountError):
        store.roles.grant(owned, "nobody", Role.VIEWER)
    for ask in (
        lambda: store.roles.grant("nothing", "eve", Role.VIEWER),
        lambda: store.roles.revoke("nothing", "eve"),
        lambda: store.roles.members("nothing"),
    ):
        with pytest.raises(UnknownSurveyError):
            ask()


def test_the_last_owner_stays_until_there_is_another(store: Store, owned: str) -> None:
    store.roles.grant(owned, "eve", Role.EDITOR)
    lose = (
        lambda: store.roles.revoke(owned, "ada"),
        lambda: store.roles.grant(owned, "ada", Role.EDITOR),
        lambda: store.accounts.remove_user("ada"),
    )
    for attempt in lose:
        with pytest.raises(LastError):
            attempt()
    assert store.roles.members(owned) == {"ada": Role.OWNER, "eve": Role.EDITOR}
    store.roles.grant(owned, "ada", Role.OWNER)  # the same again is no loss
    store.roles.grant(owned, "eve", Role.OWNER)
    store.accounts.remove_user("ada")
    assert store.roles.members(owned) == {"eve": Role.OWNER}


def test_an_operator_has_no_role_in_what_somebody_owns_and_may_have_a_lower_one(store: Store, owned: str) -> None:
    store.roles.grant(owned, "bob", Role.VIEWER)
    assert store.roles.role("bob", owned) == Role.VIEWER
    assert store.roles.seen_by("bob") == {"owned": Role.VIEWER, "study": Role.OWNER}
    store.roles.grant("study", "bob", Role.VIEWER)
    assert store.roles.role("bob", "study") == Role.OWNER  # while nobody owns it
    store.roles.grant("study", "eve", Role.OWNER)
    assert store.roles.role("bob", "study") == Role.VIEWER


def test_there_is_always_an_operator_who_is_not_disabled(store: Store, owned: str) -> None:
    for attempt in (
        lambda: store.people.set_operator("bob", False),
        lambda: store.people.set_disabled("bob", True),
        lambda: store.accounts.remove_user("bob"),
    ):
        with pytest.raises(LastError):
            attempt()
    store.people.set_operator("eve", True)
    store.people.set_disabled("eve", True)
    with pytest.raises(LastError):
        store.people.set_operator("bob", False)
    store.people.set_disabled("eve", False)
    store.people.set_operator("bob", False)
    assert store.people.all() == [Person("ada", False, False), Person("bob", False, False), Person("eve", True, False)]
    assert store.people.person("eve") == Person("eve", True, False)
    assert store.people.person("nobody") is None


def test_a_disabled_account_opens_nothing_and_keeps_its_roles(store: Store, owned: str) -> None:
    token = b"t" * 32
    assert store.accounts.open_session("ada", token, 100, 200)
    store.people.set_disabled("ada", True)
    assert store.accounts.session_user(token, 150) is None
    assert not store.accounts.open_session("ada", token, 100, 200)
    assert store.accounts.password_hash("ada") is None
    assert store.roles.members(owned) == {"ada": Role.OWNER}
    store.people.set_disabled("ada", False)
    assert store.accounts.open_session("ada", token, 100, 200)
    assert store.accounts.password_hash("ada") == "hash"
    for change in (store.people.set_disabled, store.people.set_operator):
        with pytest.raises(UnknownAccountError):
            change("nobody", True)


def test_a_word_that_is_no_role_is_told_with_those_that_are() -> None:
    assert [Role.of(role.word) for role in Role] == list(Role)
    with pytest.raises(ValueError, match="owner, editor, analyst, viewer"):
        Role.of("boss")
