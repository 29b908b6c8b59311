"""Roles per survey, operators, links that make accounts and second factors, on every database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from deniable.survey import Survey
from deniable_server.store.errors import AccountLinkError, ConflictError, LastError, UnknownAccountError, UnknownSurveyError
from deniable_server.store.factors import Passkey
from deniable_server.store.people import AccountLink, Person
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
    same = store.surveys.published(owned).survey
    assert not store.surveys.publish(same, "ada")
    assert not store.surveys.publish(same)
    with pytest.raises(ConflictError):
        store.surveys.publish(same, "eve")
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


# Links that make accounts, and second factors.


def test_an_invitation_makes_one_account(store: Store) -> None:
    people, made = store.people, AccountLink(b"h" * 32, True, 200, "ada")
    for invitation in (AccountLink(b"o" * 32, False, 100, None), made, AccountLink(b"x" * 32, False, 150, None)):
        people.add_link(invitation, 50)
    assert [invitation.hash[:1] for invitation in people.links(60)] == [b"o", b"x", b"h"]
    assert people.links(150) == [made]
    assert [people.link(b"h" * 32, now) for now in (199, 200)] == [made, None]
    assert people.revoke(b"x" * 32)
    assert not people.revoke(b"x" * 32)
    store.accounts.set_password("ada", "hash")
    with pytest.raises(ConflictError):
        people.accept(b"h" * 32, "ada", "another", 100)
    for token, now in ((b"x" * 32, 100), (b"o" * 32, 100), (b"h" * 32, 200)):
        with pytest.raises(AccountLinkError):
            people.accept(token, "eve", "hash", now)
    people.accept(b"h" * 32, "eve", "hash", 199)
    assert people.person("eve") == Person("eve", True, False)
    with pytest.raises(AccountLinkError):
        people.accept(b"h" * 32, "bob", "hash", 199)
    people.add_link(AccountLink(b"n" * 32, False, 999, None), 500)  # those that are over are forgotten
    assert [invitation.hash[:1] for invitation in people.links(0)] == [b"n"]


def test_of_two_who_accept_at_once_one_gets_the_account(store: Store) -> None:
    store.people.add_link(AccountLink(b"h" * 32, False, 200, None), 50)

    def accept(name: str) -> bool:
        try:
            store.people.accept(b"h" * 32, name, "hash", 100)
        except AccountLinkError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(accept, [f"user{number}" for number in range(8)])) == 1
    assert len(store.people.all()) == 1


def test_a_code_of_a_step_is_spent_with_all_before_it(store: Store) -> None:
    factors = store.factors
    with pytest.raises(UnknownAccountError):
        factors.set_secret("ada", b"secret", 5, [])
    store.accounts.set_password("ada", "hash")
    assert factors.secret("ada") is None
    assert not factors.take_step("ada", 9)
    factors.set_secret("ada", b"secret", 5, [b"one", b"two"])
    assert factors.secret("ada") == b"secret"
    assert [factors.take_step("ada", step) for step in (4, 5, 6, 6, 5, 8, 7)] == [False, False, True, False, False, True, False]
    assert [factors.take_recovery("ada", one) for one in (b"one", b"one", b"three")] == [True, False, False]
    assert factors.recovery_left("ada") == 1
    factors.set_secret("ada", b"another", 0, [b"new"])
    assert (factors.secret("ada"), factors.take_step("ada", 1), factors.take_recovery("ada", b"two")) == (b"another", True, False)
    assert factors.remove("ada")
    assert not factors.remove("ada")
    assert (factors.secret("ada"), factors.recovery_left("ada")) == (None, 0)


def test_a_code_that_is_sent_by_many_at_once_lets_one_in(store: Store) -> None:
    store.accounts.set_password("ada", "hash")
    store.factors.set_secret("ada", b"secret", 5, [b"one"])
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: store.factors.take_step("ada", 6), range(8))) == 1
        assert sum(pool.map(lambda _: store.factors.take_recovery("ada", b"one"), range(8))) == 1


def test_all_of_an_account_goes_with_it(store: Store, owned: str) -> None:
    store.roles.grant(owned, "eve", Role.EDITOR)
    store.factors.set_secret("eve", b"secret", 5, [b"one"])
    draft = store.drafts.begin("eve", "id: hers")
    assert store.accounts.remove_user("eve")
    store.accounts.set_password("eve", "hash")  # somebody else of the same name
    assert roles(store, owned)["eve"] is None
    assert (store.factors.secret("eve"), store.factors.recovery_left("eve")) == (None, 0)
    assert store.drafts.draft(draft.id).author == ""


def test_a_passkey_takes_each_challenge_once_and_none_before_the_last(store: Store) -> None:
    factors = store.factors
    phone, key = Passkey(b"p", "phone", b"public", 0, "2026-01-01"), Passkey(b"k", "key", b"other", 7, "2026-01-02")
    with pytest.raises(UnknownAccountError):
        factors.add_passkey("ada", phone, [])
    for user in ("ada", "eve"):
        store.accounts.set_password(user, "hash")
    assert not factors.any("ada")
    factors.add_passkey("ada", phone, [b"one"])
    factors.add_passkey("ada", key, [b"two", b"three"])
    with pytest.raises(ConflictError):
        factors.add_passkey("eve", phone, [])
    assert factors.passkeys("ada") == [key, phone]
    assert (factors.any("ada"), factors.any("eve"), factors.secret("ada"), factors.recovery_left("ada")) == (True, False, None, 2)
    moments = (5, 5, 4, 1795337901190000000)
    assert [factors.use_passkey("ada", replace(phone, count=3), moment) for moment in moments] == [True, False, False, True]
    assert not factors.use_passkey("eve", phone, 1795337901190000001)
    assert not factors.use_passkey("ada", replace(phone, id=b"x"), 1795337901190000001)
    assert factors.passkeys("ada") == [key, replace(phone, count=3)]
    factors.set_secret("ada", b"secret", 1, [b"new"])
    assert (len(factors.passkeys("ada")), factors.recovery_left("ada")) == (2, 1)
    assert factors.remove("ada")
    assert (factors.any("ada"), factors.passkeys("ada"), factors.recovery_left("ada")) == (False, [], 0)
