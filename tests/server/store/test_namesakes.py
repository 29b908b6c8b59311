"""Two surveys of one server are told apart by eye: by ids that differ, and by titles that their owners have compared."""

from __future__ import annotations

import pytest

from deniable.survey import Survey, lookalikes
from deniable_server.store import namesakes as module
from deniable_server.store.errors import ConflictError
from deniable_server.store.namesakes import id_like, namesakes
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

BASE = {
    "deniable": 1,
    "about": "Ada asks.",
    "epsilon": "ln 3",
    "questions": [{"id": "q", "text": "?", "type": "yes_no"}],
}
GERMAN = {"de": {"title": "Die Studie"}}


def survey(id_: str, title: str = "Another", **more: object) -> Survey:
    return Survey.from_dict({**BASE, "id": id_, "title": title, **more})


@pytest.fixture
def people(store: Store) -> Store:
    for name in ("ada", "eve"):
        store.accounts.set_password(name, "x")
    return store


def seen(store: Store, new: Survey, owner: str | None) -> tuple[list[str], int]:
    found = namesakes(store, new, owner)
    return [one.id for one in found.own], found.others


@pytest.mark.parametrize("twin", ["modem-1", "modern-l", "rnodern-1", "modern-1"])
def test_an_id_that_looks_like_another_one_is_refused(people: Store, twin: str) -> None:
    people.surveys.publish(survey("modern-1"), "ada")
    before = [one.id for one in people.surveys.headings()]
    for owner in ("ada", "eve", None):
        with pytest.raises(ConflictError, match="already published" if twin == "modern-1" else "must not look like another survey's"):
            people.surveys.publish(survey(twin, "Other"), owner)
    assert [one.id for one in people.surveys.headings()] == before
    assert people.surveys.looks_like(twin) == (None if twin == "modern-1" else "modern-1")


def test_ids_that_differ_and_a_survey_published_again_are_taken(people: Store) -> None:
    ids = [f"wave-{number}" for number in range(1, 30)]
    assert all(people.surveys.publish(survey(id_), "ada") for id_ in ids)
    assert not any(people.surveys.publish(survey(id_), "ada") for id_ in ids)


@pytest.mark.parametrize("title", ["A new study", "a new  STUDY", "\u0410 new study", "A n\u0435w study", "\uff21 new study"])
@pytest.mark.parametrize(
    ("owner", "of", "expected"),
    [
        ("ada", "ada", (["first"], 0)),
        ("ada", "eve", ([], 1)),
        ("ada", None, ([], 1)),
        (None, "eve", ([], 1)),
        (None, None, (["first"], 0)),
    ],
)
def test_a_title_that_looks_the_same_is_found_with_its_owner(
    people: Store, title: str, owner: str | None, of: str | None, expected: object
) -> None:
    people.surveys.publish(survey("first", "A new study"), of)
    assert seen(people, survey("second", title), owner) == expected


def test_a_role_below_owner_makes_a_survey_nobodys_own(people: Store) -> None:
    people.surveys.publish(survey("first"), "eve")
    for role, expected in ((Role.EDITOR, ([], 1)), (Role.OWNER, (["first"], 0))):
        people.roles.grant("first", "ada", role)
        assert seen(people, survey("second"), "ada") == expected


def test_an_operator_owns_what_nobody_else_owns(people: Store) -> None:
    people.surveys.publish(survey("first"))
    people.people.set_operator("ada", True)
    assert seen(people, survey("second"), "ada") == (["first"], 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (survey("first", "Die Studie"), survey("second", translations=GERMAN)),
        (survey("first", "One", translations=GERMAN), survey("second", "die  studie")),
        (survey("first", "One", translations=GERMAN), survey("second", "Two", translations=GERMAN)),
    ],
)
def test_titles_are_compared_in_every_language(people: Store, old: Survey, new: Survey) -> None:
    people.surveys.publish(old, "eve")
    assert seen(people, new, "ada") == ([], 1)


def test_a_survey_is_no_namesake_of_itself(people: Store) -> None:
    people.surveys.publish(survey("first"), "ada")
    assert seen(people, survey("first"), "eve") == ([], 0)


def test_a_skeleton_is_computed_once_for_each_text(people: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        people.surveys.publish(survey(f"one-{number}", f"Title {number}"), "ada")
    module._looks.cache_clear()
    for _ in range(5):
        namesakes(people, survey("new", "Title 7"), "ada")
        id_like("new", [f"one-{number}" for number in range(30)])
    assert module._looks.cache_info().misses <= 30 + 30 + len({"A study", "new", "Title 7", "study"})
    assert module._looks.__wrapped__ is lookalikes.skeletons
