"""Studies, sources and tags of surveys, on every database."""

from __future__ import annotations

import pytest

from deniable.survey import Survey
from deniable_server.store.errors import ConflictError, UnknownDraftError, UnknownSurveyError
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role
from deniable_server.store.studies import MOST_NAME, study_name
from deniable_server.store.tags import MOST_TAGS, read_tags

TEXT = """\
# Ask the works council first.
deniable: 1
id: {}
title: Smoking
about: A.
epsilon: 1
questions: [{{id: q, text: Q, type: yes_no}}]
"""


@pytest.fixture
def owners(store: Store) -> None:
    for name in ("ada", "ben"):
        store.accounts.set_password(name, "hash")


def publish(store: Store, name: str, owner: str | None = "ada", draft: str = "") -> None:
    text = TEXT.format(name)
    assert store.surveys.publish(Survey.from_text(text), owner, source=text, draft=draft)


def publish_wave(store: Store, name: str, of: str, owner: str = "ada") -> None:
    draft = store.drafts.begin(owner, TEXT.format(name))
    store.studies.begin_wave(draft.id, of)
    publish(store, name, owner, draft.id)
    store.drafts.remove(draft.id)


def test_a_published_survey_keeps_its_file_with_comments(store: Store, owners: None) -> None:
    publish(store, "smoking")
    assert store.surveys.source("smoking") == TEXT.format("smoking")
    assert store.surveys.source("study") is None, "it was published without one"
    with pytest.raises(UnknownSurveyError):
        store.surveys.source("nothing")
    store.rewrite()
    assert store.surveys.source("smoking") == TEXT.format("smoking")
    assert not store.surveys.publish(Survey.from_text(TEXT.format("smoking")), "ada", source="another")
    assert store.surveys.source("smoking") == TEXT.format("smoking")


def test_waves_get_the_next_number_and_are_found_from_each_of_them(store: Store, owners: None) -> None:
    publish(store, "smoking")
    publish_wave(store, "smoking-2", "smoking")
    publish_wave(store, "smoking-3", "smoking")
    store.rewrite()
    waves = store.studies.waves_of(["smoking", "smoking-2", "smoking-3", "study", "nothing"])
    assert {name: wave.number for name, wave in waves.items()} == {"smoking": 1, "smoking-2": 2, "smoking-3": 3}
    (study,) = {wave.study for wave in waves.values()}
    assert store.studies.waves(study) == [waves[name] for name in ("smoking", "smoking-2", "smoking-3")]
    assert store.studies.wave("smoking-2") == waves["smoking-2"]
    assert (waves["smoking"].name, store.studies.wave("study"), store.studies.waves("x")) == ("Smoking", None, [])
    assert [act.did.detail.partition("owner ada")[2] for act in store.audit.entries() if act.did.on == "smoking-3"] == [
        ", wave 3 of Smoking"
    ]


def test_a_wave_of_another_persons_survey_stays_alone(store: Store, owners: None) -> None:
    publish(store, "smoking")
    for number, role in enumerate((None, Role.VIEWER, Role.ANALYST, Role.EDITOR)):
        if role:
            store.roles.grant("smoking", "ben", role)
        publish_wave(store, f"bens-{number}", "smoking", "ben")
    assert list(store.studies.waves_of([f"bens-{n}" for n in range(4)])) == ["bens-3"]


def test_a_survey_joins_and_leaves_a_study_and_a_study_of_one_survey_is_gone(store: Store, owners: None) -> None:
    for name in ("smoking", "drinking", "eating"):
        publish(store, name)
    assert store.studies.join("drinking", "smoking").number == 2
    for name in ("drinking", "smoking"):
        with pytest.raises(ConflictError, match="must be in no study yet"):
            store.studies.join(name, "eating")
    with pytest.raises(ConflictError):
        store.studies.join("eating", "eating")
    with pytest.raises(UnknownSurveyError):
        store.studies.join("nothing", "smoking")
    assert store.studies.join("eating", "drinking").number == 3
    wave = store.studies.wave("smoking")
    assert wave
    assert store.studies.rename(wave.study, "Habits")
    assert not store.studies.rename("x", "Habits")
    assert [store.studies.leave("drinking"), store.studies.leave("drinking")] == [True, False]
    assert [(one.survey, one.number, one.name) for one in store.studies.waves(wave.study)] == [
        ("smoking", 1, "Habits"),
        ("eating", 3, "Habits"),
    ]
    assert store.studies.leave("smoking")
    assert (store.studies.wave("eating"), store.studies.waves(wave.study)) == (None, [])
    acts = [entry.did.act for entry in store.audit.entries() if entry.did.act.startswith("study.")]
    assert acts == ["study.leave", "study.leave", "study.rename", "study.join", "study.join"]


def test_a_draft_that_is_deleted_leaves_nothing_of_its_wave_and_tags(store: Store, owners: None) -> None:
    draft = store.drafts.begin("ada", "a")
    store.studies.begin_wave(draft.id, "study")
    store.tags.set_draft(draft.id, ["x"])
    assert (store.studies.begun([draft.id, "y"]), store.tags.of_drafts([draft.id])) == ({draft.id: "study"}, {draft.id: ("x",)})
    store.drafts.remove(draft.id)
    assert (store.studies.begun([draft.id]), store.tags.of_drafts([draft.id])) == ({}, {})
    with pytest.raises(UnknownDraftError):
        store.studies.begin_wave(draft.id, "study")
    with pytest.raises(UnknownDraftError):
        store.tags.set_draft(draft.id, ["x"])
    with pytest.raises(UnknownSurveyError):
        store.studies.begin_wave(store.drafts.begin("ada", "a").id, "nothing")


def test_tags_go_with_a_draft_into_its_survey_and_are_replaced_together(store: Store, owners: None) -> None:
    draft = store.drafts.begin("ada", TEXT.format("smoking"))
    store.tags.set_draft(draft.id, ["ward 7", "Gesundheit"])
    publish(store, "smoking", draft=draft.id)
    assert store.tags.of_surveys(["smoking", "study"]) == {"smoking": ("Gesundheit", "ward 7")}
    for tags in (["ward 8"], ["ward 8"]):
        store.tags.set_survey("smoking", tags)
    assert (store.tags.surveys_with("ward 7"), store.tags.surveys_with("ward 8")) == (frozenset(), {"smoking"})
    assert [entry.did.detail for entry in store.audit.entries() if entry.did.act == "survey.tags"] == ["ward 8"], "once"
    with pytest.raises(UnknownSurveyError):
        store.tags.set_survey("nothing", [])


def test_a_tag_is_renamed_or_removed_where_it_is_asked_only(store: Store, owners: None) -> None:
    for name in ("a", "b", "c"):
        publish(store, name)
        store.tags.set_survey(name, ["old", "kept"])
    draft = store.drafts.begin("ada", "a")
    store.tags.set_draft(draft.id, ["old"])
    store.tags.set_survey("b", ["old", "new"])
    assert store.tags.replace("old", "new", ["a", "b"], [draft.id]) == 3
    assert store.tags.of_surveys(["a", "b", "c"]) == {"a": ("kept", "new"), "b": ("new",), "c": ("kept", "old")}
    assert store.tags.of_drafts([draft.id]) == {draft.id: ("new",)}
    assert store.tags.replace("new", "", ["a", "b", "c"], []) == 2
    assert store.tags.of_surveys(["a", "b", "c"]) == {"a": ("kept",), "c": ("kept", "old")}
    assert store.tags.replace("new", "other", ["a"], ["y"]) == 0


def test_many_surveys_are_asked_about_in_steps(store: Store) -> None:
    ids = [f"x{number}" for number in range(1200)]
    assert (store.tags.of_surveys([*ids, "study"]), store.studies.waves_of(ids)) == ({}, {})
    assert [one.id for one in store.surveys.headings([*ids, "study"])] == ["study"]
    assert store.surveys.headings([]) == []


@pytest.mark.parametrize(
    ("text", "tags"),
    [("", ()), (" b ,a,, a b ", ("a", "a b", "b")), ("a,a", ("a",)), ("مدرسة, ü", ("ü", "مدرسة")), ("x" * 40, ("x" * 40,))],
)
def test_tags_are_separated_by_commas(text: str, tags: tuple[str, ...]) -> None:
    assert read_tags(text) == tags


@pytest.mark.parametrize("text", ["x" * 41, "a\u200bb", "a\0b", ",".join(map(str, range(MOST_TAGS + 1))), "a\u202eb"])
def test_tags_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="tags must"):
        read_tags(text)


def test_a_study_is_named_in_one_printable_line() -> None:
    assert study_name(" Smoking\n at\0 work ") == "Smoking at work"
    assert len(study_name("x" * 1000)) == MOST_NAME
