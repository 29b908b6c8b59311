"""Surveys that are being written, on every database."""

from __future__ import annotations

import secrets

import pytest

from deniable.survey import Survey
from deniable_server.store import open_store
from deniable_server.store.draft_history import MOST_BYTES, MOST_STEPS, History, unpack
from deniable_server.store.drafts import BEGINNING, MOST, Steps
from deniable_server.store.errors import ConflictError, TooManyDraftsError, UnknownDraftError
from deniable_server.store.protocol import Store

TEXTS = ["deniable: 1\nid: one\n", "", "no survey at all: [", "größer \u0645\u062f\u064a\u0646\u0629 😀\r\n\0\t", "x" * 262_144]


def test_a_draft_is_kept_as_it_is_written_whatever_stands_in_it(store: Store, url: str) -> None:
    begun = [store.drafts.begin("ada", text) for text in TEXTS]
    assert len({draft.id for draft in begun}) == len(TEXTS)
    again = open_store(url)
    try:
        assert [again.drafts.draft(draft.id) for draft in begun] == begun
        assert [(draft.text, draft.author) for draft in begun] == [(text, "ada") for text in TEXTS]
        assert again.drafts.listed("ada") == [draft.head for draft in sorted(begun, key=lambda draft: draft.id)]
    finally:
        again.close()


def test_who_saves_what_was_changed_meanwhile_is_told_and_changes_nothing(store: Store) -> None:
    first = store.drafts.begin("ada", "a")
    second = store.drafts.save(first.id, "b", first.revision)
    with pytest.raises(ConflictError):
        store.drafts.save(first.id, "c", first.revision)
    assert store.drafts.draft(first.id) == second
    assert store.drafts.save(first.id, "c", second.revision).text == "c"
    assert store.drafts.save(first.id, "c", store.drafts.draft(first.id).revision).author == "ada"


def test_a_draft_that_is_removed_is_gone_for_everybody(store: Store) -> None:
    one, other = (store.drafts.begin("ada", text) for text in "ab")
    assert store.drafts.remove(one.id)
    assert not store.drafts.remove(one.id)
    for gone in (one.id, "", "0" * 16, "' OR 1=1 --"):
        with pytest.raises(UnknownDraftError):
            store.drafts.draft(gone)
        with pytest.raises(UnknownDraftError):
            store.drafts.save(gone, "c", one.revision)
    assert store.drafts.listed("ada") == [other.head]


def test_a_survey_that_is_only_tried_is_never_published(store: Store, survey: Survey) -> None:
    tried = Survey.from_dict({**survey.to_dict(), "id": "preview-study"})
    with pytest.raises(ConflictError, match="previews are never published"):
        store.surveys.publish(tried)
    assert [one.survey.id for one in store.surveys.all()] == ["study"]
    assert store.surveys.publish(Survey.from_dict({**survey.to_dict(), "id": "previews"}))


def test_drafts_outlive_what_is_written_anew(store: Store) -> None:
    draft = store.drafts.begin("ada", "a")
    store.rewrite()
    assert store.drafts.listed("ada") == [draft.head]


def test_a_list_of_drafts_is_one_persons_and_has_the_beginning_of_each_only(store: Store) -> None:
    text = "title: größer\n" + "é" * BEGINNING
    long, short = store.drafts.begin("ada", text), store.drafts.begin("ada", "short")
    store.drafts.begin("ben", text)
    found = {head.id: head for head in store.drafts.listed("ada")}
    assert found == {long.id: long.head, short.id: short.head}
    assert (found[short.id].beginning, found[short.id].author) == ("short", "ada")
    assert text.startswith(found[long.id].beginning)
    assert BEGINNING - 4 < len(found[long.id].beginning.encode()) <= BEGINNING
    assert store.drafts.listed("eve") == []


def test_nobody_keeps_more_drafts_than_the_most_and_another_person_is_not_held_up(store: Store) -> None:
    begun = [store.drafts.begin("ada", "") for _ in range(MOST)]
    with pytest.raises(TooManyDraftsError, match=f"{MOST} drafts"):
        store.drafts.begin("ada", "one more")
    assert len(store.drafts.listed("ada")) == MOST
    assert store.drafts.begin("ben", "")
    store.drafts.remove(begun[0].id)
    assert store.drafts.begin("ada", "in its place")


# --- undo ---------------------------------------------------------------------------------------------------------------------


def test_versions_are_undone_and_redone_in_order_and_outlive_a_rewrite(store: Store, url: str) -> None:
    draft = store.drafts.begin("ada", "a")
    for text in "bcd":
        draft = store.drafts.save(draft.id, text, draft.revision)
    assert store.drafts.steps(draft.id) == Steps(3, 0)
    for text in "cb":
        draft = store.drafts.undo(draft.id, draft.revision)
        assert draft.text == text
    store.rewrite()
    again = open_store(url)
    try:
        assert again.drafts.steps(draft.id) == Steps(1, 2)
        assert again.drafts.redo(draft.id, draft.revision).text == "c"
    finally:
        again.close()
    draft = store.drafts.save(draft.id, "e", store.drafts.draft(draft.id).revision)
    assert store.drafts.steps(draft.id) == Steps(3, 0)
    assert store.drafts.redo(draft.id, draft.revision) == draft  # there is none
    with pytest.raises(ConflictError):
        store.drafts.undo(draft.id, "another revision")
    assert store.drafts.draft(draft.id).text == "e"


def test_the_versions_of_a_draft_go_with_it(store: Store) -> None:
    draft = store.drafts.begin("ada", "a")
    store.drafts.save(draft.id, "b", draft.revision)
    store.drafts.remove(draft.id)
    assert store.drafts.steps(draft.id) == Steps(0, 0)
    with pytest.raises(UnknownDraftError):
        store.drafts.undo(draft.id, draft.revision)


def test_a_history_keeps_the_last_steps_within_its_bytes() -> None:
    history = History()
    for number in range(2 * MOST_STEPS):
        history = history.changed(str(number))
    assert history.earlier == tuple(str(number) for number in range(MOST_STEPS, 2 * MOST_STEPS))
    assert unpack(history.pack()) == history
    noise = [secrets.token_hex(MOST_BYTES // 4) for _ in range(9)]
    packed = History(tuple(noise)).pack()
    assert len(packed) <= MOST_BYTES
    assert unpack(packed).earlier == tuple(noise[-len(unpack(packed).earlier) :]) != ()
    assert unpack(History((), (secrets.token_hex(2 * MOST_BYTES),)).pack()) == History()  # too large to keep
