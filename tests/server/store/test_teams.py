"""Teams, shared drafts and bindings to a login provider are stored alike by both databases."""

from __future__ import annotations

import pytest

from deniable.survey import Survey
from deniable_server.store.errors import (
    ConflictError,
    LastError,
    UnknownAccountError,
    UnknownDraftError,
    UnknownSurveyError,
    UnknownTeamError,
)
from deniable_server.store.identities import NO_PASSWORD, Identity
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

LAB = "Lab"
DRAFT = "deniable: 1\nid: new\n"
ISSUER = "https://login.example.org"


@pytest.fixture
def teamed(store: Store) -> Store:
    """A store with four accounts, and a team with two of them."""
    for user in ("ada", "bob", "eve", "zed"):
        store.accounts.set_password(user, "hash")
    store.teams.create(LAB)
    store.teams.join(LAB, "bob", manager=True)
    store.teams.join(LAB, "eve", manager=False)
    return store


def acts(store: Store) -> list[str]:
    return [entry.did.act for entry in store.audit.entries()]


def test_a_role_of_a_team_is_its_members_role_until_they_leave(teamed: Store, survey: Survey) -> None:
    teamed.teams.grant(survey.id, LAB, Role.ANALYST)
    assert {user: teamed.roles.role(user, survey.id) for user in ("bob", "eve")} == {"bob": Role.ANALYST, "eve": Role.ANALYST}
    assert teamed.roles.seen_by("eve") == {survey.id: Role.ANALYST}
    with pytest.raises(UnknownSurveyError):
        teamed.roles.role("zed", survey.id)
    assert teamed.teams.leave(LAB, "eve")
    with pytest.raises(UnknownSurveyError):
        teamed.roles.role("eve", survey.id)
    assert teamed.roles.seen_by("eve") == {}
    assert not teamed.teams.leave(LAB, "eve")


def test_the_higher_role_counts(teamed: Store, survey: Survey) -> None:
    teamed.roles.grant(survey.id, "bob", Role.OWNER)
    teamed.roles.grant(survey.id, "eve", Role.VIEWER)
    teamed.teams.grant(survey.id, LAB, Role.EDITOR)
    assert teamed.roles.role("bob", survey.id) == Role.OWNER
    assert teamed.roles.role("eve", survey.id) == Role.EDITOR
    assert teamed.roles.seen_by("eve") == {survey.id: Role.EDITOR}
    assert teamed.roles.members(survey.id) == {"bob": Role.OWNER, "eve": Role.VIEWER}
    assert teamed.teams.roles(survey.id) == {LAB: Role.EDITOR}
    assert teamed.teams.revoke(survey.id, LAB)
    assert teamed.roles.role("eve", survey.id) == Role.VIEWER


def test_a_team_that_owns_a_survey_does_not_replace_its_owner(teamed: Store, survey: Survey) -> None:
    teamed.roles.grant(survey.id, "ada", Role.OWNER)
    teamed.teams.grant(survey.id, LAB, Role.OWNER)
    assert teamed.roles.role("eve", survey.id) == Role.OWNER
    with pytest.raises(LastError):
        teamed.roles.revoke(survey.id, "ada")  # a team can lose its last member


def test_a_team_that_is_removed_leaves_nothing_to_one_of_the_same_name(teamed: Store, survey: Survey) -> None:
    draft = teamed.drafts.begin("ada", DRAFT)
    teamed.teams.grant(survey.id, LAB, Role.ANALYST)
    teamed.draft_roles.grant_team(draft.id, LAB, Role.EDITOR)
    assert teamed.teams.remove(LAB)
    assert not teamed.teams.remove(LAB)
    teamed.teams.create(LAB)
    teamed.teams.join(LAB, "zed", manager=False)
    assert teamed.roles.seen_by("zed") == {}
    assert teamed.draft_roles.role("zed", draft.id) is None
    assert teamed.teams.team(LAB).members == {"zed": False}


def test_an_account_that_is_removed_leaves_nothing_to_one_of_the_same_name(teamed: Store, survey: Survey) -> None:
    draft = teamed.drafts.begin("ada", DRAFT)
    teamed.teams.grant(survey.id, LAB, Role.ANALYST)
    teamed.draft_roles.grant(draft.id, "eve", Role.EDITOR)
    teamed.identities.bind("eve", Identity(ISSUER, "s-1"))
    assert teamed.accounts.remove_user("eve")
    teamed.accounts.set_password("eve", "hash")
    assert (teamed.teams.of("eve"), teamed.roles.seen_by("eve"), teamed.identities.of("eve")) == ([], {}, [])
    assert teamed.draft_roles.role("eve", draft.id) is None


def test_names_that_are_not_there_are_refused(teamed: Store, survey: Survey) -> None:
    draft = teamed.drafts.begin("ada", DRAFT)
    with pytest.raises(ConflictError):
        teamed.teams.create(LAB)
    with pytest.raises(UnknownAccountError):
        teamed.teams.join(LAB, "nobody", manager=False)
    with pytest.raises(UnknownAccountError):
        teamed.draft_roles.grant(draft.id, "nobody", Role.VIEWER)
    with pytest.raises(UnknownDraftError):
        teamed.draft_roles.grant("none", "eve", Role.VIEWER)
    with pytest.raises(UnknownSurveyError):
        teamed.teams.grant("none", LAB, Role.VIEWER)
    for call in (
        lambda: teamed.teams.team("none"),
        lambda: teamed.teams.join("none", "eve", manager=False),
        lambda: teamed.teams.grant(survey.id, "none", Role.VIEWER),
        lambda: teamed.draft_roles.grant_team(draft.id, "none", Role.VIEWER),
    ):
        with pytest.raises(UnknownTeamError):
            call()


def test_joining_again_changes_only_who_manages(teamed: Store) -> None:
    before = acts(teamed).count("team.join")
    teamed.teams.join(LAB, "eve", manager=False)
    assert acts(teamed).count("team.join") == before
    teamed.teams.join(LAB, "eve", manager=True)
    assert teamed.teams.team(LAB).managers == ["bob", "eve"]
    assert [team.name for team in teamed.teams.of("eve")] == [team.name for team in teamed.teams.all()] == [LAB]


def test_a_draft_is_seen_by_those_it_is_shared_with(teamed: Store) -> None:
    draft = teamed.drafts.begin("ada", DRAFT)
    assert teamed.draft_roles.role("ada", draft.id) == Role.OWNER
    assert teamed.draft_roles.listed("eve") == []
    teamed.draft_roles.grant_team(draft.id, LAB, Role.VIEWER)
    teamed.draft_roles.grant(draft.id, "eve", Role.EDITOR)
    assert [teamed.draft_roles.role(user, draft.id) for user in ("bob", "eve", "zed")] == [Role.VIEWER, Role.EDITOR, None]
    assert [head.id for head in teamed.draft_roles.listed("eve")] == [draft.id]  # once
    assert teamed.draft_roles.listed("ada") == []  # it is among her own
    assert teamed.draft_roles.editors(draft.id) == ["eve"]
    assert teamed.draft_roles.revoke(draft.id, "eve")
    assert teamed.draft_roles.role("eve", draft.id) == Role.VIEWER
    assert teamed.draft_roles.revoke_team(draft.id, LAB)
    assert teamed.draft_roles.role("eve", draft.id) is None
    assert acts(teamed)[:2] == ["draft-role.take"] * 2


def test_publishing_gives_the_roles_of_the_draft(teamed: Store, survey: Survey) -> None:
    draft = teamed.drafts.begin("ada", DRAFT)
    teamed.draft_roles.grant_team(draft.id, LAB, Role.VIEWER)
    teamed.draft_roles.grant(draft.id, "eve", Role.EDITOR)
    teamed.draft_roles.grant(draft.id, "zed", Role.OWNER)
    question = {"id": "q", "text": "?", "type": "yes_no"}
    new = Survey.from_dict({"deniable": 1, "id": "other", "title": "T", "about": "A", "epsilon": 1, "questions": [question]})
    assert teamed.surveys.publish(new, "zed", draft=draft.id)
    assert teamed.roles.members("other") == {"ada": Role.OWNER, "eve": Role.EDITOR, "zed": Role.OWNER}
    assert teamed.teams.roles("other") == {LAB: Role.VIEWER}


def test_a_draft_of_a_survey_that_is_published_already_gives_no_roles(teamed: Store, survey: Survey) -> None:
    teamed.roles.grant(survey.id, "ada", Role.OWNER)
    draft = teamed.drafts.begin("zed", DRAFT)
    teamed.draft_roles.grant(draft.id, "eve", Role.OWNER)
    assert not teamed.surveys.publish(survey, "ada", draft=draft.id)
    with pytest.raises(ConflictError):
        teamed.surveys.publish(survey, "zed", draft=draft.id)
    assert teamed.roles.members(survey.id) == {"ada": Role.OWNER}


def test_a_draft_that_is_removed_leaves_no_roles(teamed: Store) -> None:
    draft = teamed.drafts.begin("ada", DRAFT)
    teamed.draft_roles.grant(draft.id, "eve", Role.EDITOR)
    teamed.draft_roles.grant_team(draft.id, LAB, Role.EDITOR)
    teamed.drafts.remove(draft.id)
    assert (teamed.draft_roles.members(draft.id), teamed.draft_roles.teams(draft.id)) == ({}, {})


def test_an_identity_belongs_to_one_account(teamed: Store) -> None:
    one, other = Identity(ISSUER, "s-1"), Identity("https://elsewhere.example.org", "s-1")
    teamed.identities.bind("ada", one)
    teamed.identities.bind("ada", one)
    assert (teamed.identities.user(one), teamed.identities.user(other)) == ("ada", None)
    assert acts(teamed).count("account.bind") == 1
    with pytest.raises(ConflictError):
        teamed.identities.bind("bob", one)
    with pytest.raises(ConflictError):
        teamed.identities.create("new", one)
    with pytest.raises(ConflictError):
        teamed.identities.create("bob", other)
    with pytest.raises(UnknownAccountError):
        teamed.identities.bind("nobody", other)
    teamed.identities.create("new", other)
    assert teamed.accounts.password_hash("new") == NO_PASSWORD
    with pytest.raises(LastError):
        teamed.identities.unbind("new", other.mark)
    assert teamed.identities.unbind("ada", one.mark)
    assert not teamed.identities.unbind("ada", one.mark)
    assert [binding.user for binding in teamed.identities.all()] == ["new"]
    assert "s-1" not in "".join(entry.text for entry in teamed.audit.entries())


def test_all_of_it_survives_a_rewrite_of_the_database(teamed: Store, survey: Survey) -> None:
    draft = teamed.drafts.begin("ada", DRAFT)
    teamed.draft_roles.grant_team(draft.id, LAB, Role.EDITOR)
    teamed.draft_roles.grant(draft.id, "zed", Role.VIEWER)
    teamed.teams.grant(survey.id, LAB, Role.ANALYST)
    teamed.identities.bind("ada", Identity(ISSUER, "s-1"))
    teamed.rewrite()
    assert teamed.roles.role("eve", survey.id) == Role.ANALYST
    assert teamed.draft_roles.role("eve", draft.id) == Role.EDITOR
    assert teamed.draft_roles.role("zed", draft.id) == Role.VIEWER
    assert teamed.identities.user(Identity(ISSUER, "s-1")) == "ada"
