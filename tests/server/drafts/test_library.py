"""The library of a draft: scales and one's own questions are inserted whole, under new names, and only into one's own draft."""

from __future__ import annotations

import html
import json
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.drafts import EXAMPLE
from tests.kit.forms import filled
from werkzeug.test import TestResponse

from deniable.scales import all_scales
from deniable.survey import Survey
from deniable.survey.document import parse
from deniable_server.drafts.insertion import saved_text, with_questions
from deniable_server.store.protocol import Store

LAST = EXAMPLE + '  - {id: why, text: Why?, type: yes_no, weight: 2, show_if: {question: affair, is: ["yes"]}}\n'


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    return logged_in(app)


class Library:
    def __init__(self, ada: FlaskClient, store: Store, text: str = LAST) -> None:
        self.ada, self.store = ada, store
        self.id = store.drafts.begin("ada", text).id
        self.path = f"/manage/drafts/{self.id}"

    @property
    def survey(self) -> Survey:
        return Survey.from_text(self.store.drafts.draft(self.id).text)

    def press(self, **fields: str) -> TestResponse:
        revision = self.store.drafts.draft(self.id).revision
        return self.ada.post(f"{self.path}/library", data={"revision": revision, **fields})

    def save(self, number: int) -> TestResponse:
        sent = filled(self.ada.get(self.path).text, "editor")
        return self.ada.post(self.path, data={**sent, "do": f"library {number}"})


@pytest.fixture
def library(ada: FlaskClient, store: Store) -> Library:
    return Library(ada, store)


def test_each_scale_is_shown_with_its_licence_and_inserted_at_one_press(library: Library) -> None:
    page = html.unescape(library.ada.get(f"{library.path}/library").text)
    for scale in all_scales():
        assert f'name="scale" value="{scale.key}"' in page
        assert scale.licence in page
        assert scale.source in page
    reply = library.press(scale="phq2", after="1")
    assert (reply.status_code, reply.headers["Location"]) == (302, f"{library.path}#questions-1")
    assert [question.id for question in library.survey.questions] == ["affair", "phq2_1", "phq2_2", "children", "why"]
    assert "PHQ-2 is inserted: 2 questions. Undo removes it." in library.ada.get(library.path).text
    library.press(scale="phq2")
    assert [question.id for question in library.survey.questions][-2:] == ["phq2_1_2", "phq2_2_2"]
    library.store.drafts.undo(library.id, library.store.drafts.draft(library.id).revision)
    assert len(library.survey.questions) == 5


def test_a_question_of_a_draft_is_saved_and_inserted_elsewhere_without_what_belongs_to_its_survey(library: Library) -> None:
    page = library.save(2)
    assert (page.status_code, "“Why?” is saved to your questions." in html.unescape(page.text)) == (200, True)
    (saved,) = library.store.saved_questions.listed("ada")
    assert json.loads(saved.text) == {"id": "why", "text": "Why?", "type": "yes_no"}
    other = Library(library.ada, library.store, EXAMPLE)
    assert ">Why?</span>" in library.ada.get(f"{other.path}/library").text
    assert other.press(saved=saved.id, after="0").status_code == 302
    assert [question.id for question in other.survey.questions] == ["why", "affair", "children"]
    assert other.press(remove=saved.id).status_code == 302
    assert library.store.saved_questions.listed("ada") == []
    assert len(other.survey.questions) == 3


def test_a_question_with_problems_is_not_saved_for_reuse(ada: FlaskClient, store: Store) -> None:
    library = Library(ada, store, EXAMPLE.replace("type: yes_no", "type: choice"))
    page = library.save(0)
    assert "Not saved: fix the problems of the question first." in page.text
    assert store.saved_questions.listed("ada") == []
    assert library.save(9).status_code == 422


def test_nobody_sees_or_inserts_the_questions_of_another_person(library: Library) -> None:
    bens = library.store.saved_questions.add("ben", json.dumps({"id": "secret", "text": "Bens?", "type": "yes_no"}))
    assert "Bens?" not in library.ada.get(f"{library.path}/library").text
    assert library.press(saved=bens.id).status_code == 422
    library.press(remove=bens.id)
    assert library.store.saved_questions.listed("ben") == [bens]


def test_a_page_that_is_out_of_date_inserts_nothing(library: Library) -> None:
    before = library.survey.digest
    reply = library.press(scale="phq2", revision="another")
    assert (reply.status_code, "Nothing was inserted" in reply.text, library.survey.digest) == (409, True, before)
    assert library.press(scale="none").status_code == 422


def test_a_draft_never_gets_more_questions_than_the_form_has(library: Library) -> None:
    questions = "".join(f"  - {{id: q{number}, text: Q?, type: yes_no}}\n" for number in range(98))
    full = Library(library.ada, library.store, EXAMPLE.split("  - ")[0] + questions)
    reply = full.press(scale="hrqol4")
    assert (reply.status_code, "at most 100 questions" in reply.text) == (422, True)
    assert full.press(scale="phq9").status_code == 302


def test_a_survey_without_a_common_epsilon_gives_each_new_question_one() -> None:
    document = parse(
        EXAMPLE.replace("epsilon: ln 9\n", "").replace("type: yes_no}", "type: yes_no, epsilon: 1}").replace("more]}", "more], epsilon: 1}")
    ).value
    changed = with_questions(document, [{"id": "new", "text": "New?", "type": "yes_no"}], 2)
    assert Survey.from_dict(changed).questions[-1].id == "new"
    block = with_questions(document, all_scales()[0].questions, 2)["questions"][-1]
    assert (block["type"], block["epsilon"]) == ("rating", "2"), "as much for each item as a question has"
    assert saved_text(changed["questions"][-1]) == '{"id": "new", "text": "New?", "type": "yes_no"}'


def test_notes_stay_when_questions_are_inserted(ada: FlaskClient, store: Store) -> None:
    library = Library(ada, store, "# mine\n" + EXAMPLE)
    library.press(scale="gad2")
    assert store.drafts.draft(library.id).text.startswith("# mine\n")
