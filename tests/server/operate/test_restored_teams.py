"""A restored backup gives nobody back what was taken away later: teams, roles by teams, shared drafts, single sign-on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from deniable_server.config import copy_key, key_file
from deniable_server.operate.restored_access import Later, access_of, apply
from deniable_server.store import open_store
from deniable_server.store.identities import Identity
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

ISSUER = "https://login.example.org"


@pytest.fixture
def shared(store: Store) -> Store:
    for user in ("ada", "eve", "bob"):
        store.accounts.set_password(user, "hash")
    for team in ("Lab", "Office"):
        store.teams.create(team)
        store.teams.join(team, "eve", manager=False)
        store.teams.grant("study", team, Role.ANALYST)
    store.identities.bind("ada", Identity(ISSUER, "s-ada"))
    store.identities.create("zoe", Identity(ISSUER, "s-zoe"))
    return store


def restored(store: Store, folder: Path, later: Callable[[Store], None]) -> tuple[Store, list[str], list[str]]:
    """Makes a backup, does something later, and restores the backup with the log of it."""
    store.backup(folder / "copy.db")
    copy_key(key_file(folder / "deniable.db"), key_file(folder / "copy.db"))
    later(store)
    copy = open_store(folder / "copy.db")
    outcome = apply(copy, Later(store.audit.entries()[::-1]))
    return copy, outcome.applied, outcome.left


def test_what_a_backup_restores_is_listed(shared: Store) -> None:
    lines = list(access_of(shared))
    assert "team\tLab\teve is in it, analyst of study" in lines
    assert f"account\tzoe\tresearcher, logs in at {ISSUER}" in lines


def test_a_member_who_has_left_stays_out(shared: Store, tmp_path: Path) -> None:
    def later(store: Store) -> None:
        store.teams.leave("Lab", "eve")
        store.teams.revoke("study", "Office")

    copy, applied, left = restored(shared, tmp_path, later)
    with closing(copy):
        assert (copy.roles.seen_by("eve"), len(applied), left) == ({}, 2, [])


def test_teams_that_were_made_changed_or_removed_later_are_so_again(shared: Store, tmp_path: Path) -> None:
    def later(store: Store) -> None:
        store.teams.remove("Office")
        store.teams.create("New")
        store.teams.join("New", "bob", manager=True)
        store.teams.grant("study", "New", Role.VIEWER)

    copy, _, left = restored(shared, tmp_path, later)
    with closing(copy):
        assert [team.name for team in copy.teams.all()] == ["Lab", "New"]
        assert copy.teams.team("New").managers == ["bob"]
        assert copy.roles.seen_by("bob") == {"study": Role.VIEWER}
        assert left == []


def test_a_draft_that_is_no_longer_shared_stays_so(shared: Store, tmp_path: Path) -> None:
    draft = shared.drafts.begin("ada", "deniable: 1\n")
    shared.draft_roles.grant(draft.id, "bob", Role.EDITOR)
    shared.draft_roles.grant_team(draft.id, "Lab", Role.EDITOR)

    def later(store: Store) -> None:
        store.draft_roles.revoke(draft.id, "bob")
        store.draft_roles.revoke_team(draft.id, "Lab")

    copy, applied, _ = restored(shared, tmp_path, later)
    with closing(copy):
        assert [copy.draft_roles.role(user, draft.id) for user in ("bob", "eve")] == [None, None]
        assert len(applied) == 2


def test_a_login_that_was_disconnected_stays_so_even_if_it_was_the_only_one(shared: Store, tmp_path: Path) -> None:
    def later(store: Store) -> None:
        store.accounts.set_password("zoe", "hash")
        for binding in store.identities.all():
            store.identities.unbind(binding.user, binding.identity.mark)

    copy, _, _ = restored(shared, tmp_path, later)
    with closing(copy):
        assert copy.identities.user(Identity(ISSUER, "s-ada")) is None
        assert copy.identities.user(Identity(ISSUER, "s-zoe")) is None or copy.accounts.password_hash("zoe") is None
